"""The page of an uploaded file before its import."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.member_roles import Right
from accounts.models import Result
from accounts.operating.admin_actions import sent_form_id
from accounts.operating.bulk_actions import record_single
from imports.drafts.mapped import FAULTS, first_body, in_words, sample_of
from imports.drafts.sample import FileSample
from imports.drafts.services import discard
from imports.kinds import kind_of
from imports.models import ImportDraft
from imports.pipeline.errors import Unreadable
from portal.files.actions import TRY
from portal.files.forms import MappingForm
from portal.navigation import ONLY_SUPPLIERS
from portal.pages import PortalRecordPage

SAMPLE_ROWS = 5


class DraftPage(PortalRecordPage):
    """The page of an uploaded file: its first rows, its mapping, and buttons to try or discard the file."""

    template = "portal/files/draft.html"
    section = "Files"
    title = "Uploaded file"
    sides = ONLY_SUPPLIERS
    right = Right.CATALOG
    record: ImportDraft

    def of_party(self) -> QuerySet[ImportDraft]:
        return ImportDraft.objects.filter(supplier=self.supplier).select_related("supplier", "blob")

    def context(self) -> dict[str, object]:
        draft = self.record
        if draft.is_being_read:
            return {"draft": draft}
        try:
            sample = sample_of(draft)
        except (Unreadable, OSError) as error:
            return {"draft": draft, "problem": in_words(error)}
        if not sample.rows:
            return {"draft": draft, "problem": _no_rows(draft)}
        if not draft.is_suggested:
            draft.body = first_body(draft, sample)
        rows = [record.cells[sample.own :] for record in sample.rows[:SAMPLE_ROWS]]
        return {
            "form_id": uuid4(),
            "draft": draft,
            "columns": sample.columns,
            "rows": rows,
            "form": self._form(sample),
        }

    def _form(self, sample: FileSample, sent: object = None) -> Any:
        body, form = self.record.body, kind_of(self.record.kind).form
        if form is None:
            return MappingForm(self.supplier, sample.columns, sent, initial=body)
        return form(self.supplier, sample.columns, sent, initial=form.initial_of(body))

    def post(self, request: HttpRequest, **kwargs: object) -> HttpResponse:
        draft = self.record
        if request.POST.get("do") == "discard":
            discard(draft.pk, draft.blob_id)
            messages.success(request, f"{draft.name} is discarded.")
            return HttpResponseRedirect(reverse("portal:files"))
        form_id = sent_form_id(request.POST.dict())
        try:
            body = self._form(sample_of(draft), request.POST).body()
        except FAULTS as error:
            messages.error(request, in_words(error))
            return self.render(self.context())
        result, message = record_single(TRY, draft, by=self.actor, answers={"body": body}, form_id=form_id)
        started = getattr(draft, "started_import_id", None) if result is Result.DONE else None
        if result is Result.REFUSED:
            messages.error(request, message)
            return self.render(self.context())
        if started is None:  # the same form was already sent
            messages.warning(request, message)
            started = draft.jobs.order_by("-pk").values_list("pk", flat=True).first()
        return HttpResponseRedirect(reverse("portal:file", args=[started]))


def _no_rows(draft: ImportDraft) -> str:
    """Return the message about a file without rows. Such a file is often a text file named `.xlsx`."""
    if draft.name.lower().endswith(".xlsx") and not draft.is_packed:
        return (
            f"{draft.name} is not a workbook, although its name ends with .xlsx."
            " Save it as a workbook or as CSV, and upload it again."
        )
    return f"{draft.name} has no rows below its header. Add the rows, and upload it again."
