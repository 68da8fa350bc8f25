"""The list of a supplier's files, and the upload."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.member_roles import Right
from accounts.models import Result, Supplier
from accounts.operating.admin_actions import sent_form_id
from accounts.operating.bulk_actions import record_single
from imports.models import ImportDraft, ImportJob, Status
from imports.overview import Progress
from portal.files.actions import UPLOAD
from portal.files.forms import FileForm
from portal.listing import ListQuery, Tabs
from portal.navigation import ONLY_SUPPLIERS
from portal.pages import PortalPage
from portal.supplying.feeds import failed_files

PAGE = 50


class FilesPage(PortalPage):
    """The list of a supplier's imports, newest first, and the form that uploads a file."""

    template = "portal/files/files.html"
    section = title = "Files"
    sides = ONLY_SUPPLIERS
    right = Right.CATALOG

    def context(self) -> dict[str, Any]:
        asked = self.request.GET
        jobs = ImportJob.objects.for_supplier(self.supplier)
        page = ListQuery.read({"tab": asked.get("tab", "")}, _tabs(self.supplier)).page(
            jobs, lambda term: Q(), asked.get("before", "")
        )
        drafts = ImportDraft.objects.filter(supplier=self.supplier).not_imported()
        return {
            **page,
            "rows": [(job, Progress.brief(job)) for job in page["rows"]],
            "drafts": drafts.order_by("-pk")[:PAGE],
            "form_id": uuid4(),
            "form": FileForm(initial={"kind": asked.get("kind", "")}),
        }

    def post(self, request: HttpRequest) -> HttpResponse:
        form = FileForm(request.POST, request.FILES)
        if form.is_valid():
            form_id = sent_form_id(request.POST.dict())
            result, message = record_single(
                UPLOAD, self.supplier, by=self.actor, answers=form.cleaned_data, form_id=form_id
            )
            if result is Result.DONE:
                draft = self.supplier.uploaded_draft_id  # type: ignore[attr-defined]
                return HttpResponseRedirect(reverse("portal:file_draft", args=[draft]))
            if result is Result.UNCHANGED:  # the same form was already sent
                messages.warning(request, message)
                return HttpResponseRedirect(reverse("portal:files"))
            form.add_error("file", message)
        return self.render({**self.context(), "form": form})


def _tabs(supplier: Supplier) -> Tabs:
    return {
        "all": ("All", Q()),
        "failed": ("Failed this week", Q(pk__in=failed_files(supplier))),
        "held": ("To approve", Q(status=Status.AWAITING_APPROVAL)),
    }
