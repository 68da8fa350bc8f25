"""The pages of one import."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.urls import reverse

from accounts.member_roles import Right
from api.errors import ApiError
from imports.correcting import as_posted, column_names, rejected_rows, send, why_not
from imports.error_report import report_for_people
from imports.models import ImportJob
from imports.overview import Progress, counts, reject_groups
from portal.acting import PortalActionPage
from portal.files.actions import ACTIONS
from portal.navigation import ONLY_SUPPLIERS
from portal.pages import PortalRecordPage


class FilePage(PortalRecordPage):
    """One import: progress, counts, rejected rows, and the actions that are possible now."""

    template = "portal/files/file.html"
    section = "Files"
    sides = ONLY_SUPPLIERS
    right = Right.CATALOG
    record: ImportJob

    def of_party(self) -> QuerySet[ImportJob]:
        return ImportJob.objects.for_supplier(self.supplier).select_related("supplier")

    def context(self) -> dict[str, Any]:
        job = self.record
        return {
            "title": f"{'Trial of' if job.dry_run else 'Import of'} {job.source or 'rows'}",
            "job": job,
            "progress": Progress.of(job),
            "counts": counts(job),
            "groups": reject_groups(job) if job.rejected else [],
            "may_correct": not why_not(job),
            "actions": [action for action in ACTIONS if not action.why_not(job)],
        }


class RejectedRowsPage(FilePage):
    """The first rejected rows of an import, to be corrected on the page."""

    template = "portal/files/correct.html"
    title = "Correct rejected rows"

    def context(self) -> dict[str, Any]:
        return self._shown(rejected_rows(self.record))

    def _shown(self, rows: list[Any]) -> dict[str, Any]:
        job = self.record
        return {"job": job, "why_not": why_not(job), "rows": rows, "columns": column_names(job, rows)}

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        rows = [as_posted(row, request.POST.dict()) for row in rejected_rows(self.record)]
        corrected = {row.reject.pk: [cell.text for cell in row.cells] for row in rows}
        try:
            correction = send(self.record, corrected, by=self.actor)
        except ApiError as error:
            messages.error(request, error.message)
            return self.render(self._shown(rows))
        messages.success(request, f"{correction.rows} corrected rows are imported again.")
        return HttpResponseRedirect(reverse("portal:file", args=[correction.job_id]))


class ErrorFilePage(FilePage):
    """The rejected rows of an import as a file for a spreadsheet."""

    def get(self, request: HttpRequest, **kwargs: Any) -> Any:
        name = f"import-{self.record.pk}-errors.csv"
        return StreamingHttpResponse(
            report_for_people(self.record),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )


class FileActionPage(PortalActionPage):
    """An action on an import."""

    section = "Files"
    sides = ONLY_SUPPLIERS
    right = Right.CATALOG
    actions = ACTIONS

    def of_party(self) -> QuerySet[ImportJob]:
        return ImportJob.objects.for_supplier(self.supplier).select_related("supplier")

    def back(self) -> str:
        return reverse("portal:file", args=[self.record.pk])
