"""The pages of one import."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.urls import reverse

from accounts.member_roles import Right
from accounts.models import Result
from accounts.operating.admin_actions import LEVELS, sent_form_id
from accounts.operating.bulk_actions import record_single
from imports.admin_actions import CORRECT
from imports.correcting import as_posted, column_names, rejected_rows, why_not
from imports.drafts.services import import_after
from imports.error_report import report_for_people
from imports.models import ImportJob, Status
from imports.overview import Progress, counts, reject_groups, warnings_of
from portal.acting import PortalActionPage
from portal.files.actions import ACTIONS
from portal.navigation import ONLY_SUPPLIERS
from portal.pages import PortalRecordPage

IMPORT = "import"
"""The name of the action that imports the file of a trial. The trial's page shows the action's form."""

OUTCOMES = {
    Status.QUEUED: "The file is being imported",
    Status.RUNNING: "The file is being imported",
    Status.AWAITING_APPROVAL: "The import of the file waits for approval",
    Status.SUCCEEDED: "The file was imported",
    Status.SUCCEEDED_WITH_ERRORS: "The file was imported",
    Status.FAILED: "The import of the file failed",
    Status.CANCELED: "The import of the file was canceled",
}
"""The sentence on the page of a trial, by the status of the import that followed."""
REPEATED = (Status.FAILED, Status.CANCELED)
"""The statuses of an import after which the page of its trial offers another import."""


class FilePage(PortalRecordPage):
    """One import: progress, counts, rejected rows, and the actions that are possible now."""

    template = "portal/files/file.html"
    section = "Files"
    sides = ONLY_SUPPLIERS
    right = Right.CATALOG
    record: ImportJob

    def of_party(self) -> QuerySet[ImportJob]:
        return ImportJob.objects.for_supplier(self.supplier).select_related("supplier")

    def context(self) -> dict[str, object]:
        job = self.record
        actions = [action for action in ACTIONS if not action.why_not(job)]
        later = import_after(job) if job.dry_run else None
        import_file = next((action for action in actions if action.name == IMPORT), None)
        if later and later.status not in REPEATED:
            import_file = None
        content = "rows of a request" if job.source == "data" else job.source
        return {
            "title": f"{'Trial of' if job.dry_run else 'Import of'} {content}",
            "job": job,
            "progress": Progress.of(job),
            "later": later,
            "outcome": OUTCOMES[Status(later.status)] if later else "",
            "counts": counts(job),
            "warnings": warnings_of(job),
            "groups": reject_groups(job) if job.rejected else [],
            "may_correct": not why_not(job),
            "import_file": import_file,
            "effect": import_file.effect(job) if import_file else "",
            "form_id": uuid4(),
            "actions": [action for action in actions if action.name != IMPORT],
        }


class RejectedRowsPage(FilePage):
    """The page that corrects the first rejected rows of an import."""

    template = "portal/files/correct.html"
    title = "Correct rejected rows"

    def context(self) -> dict[str, object]:
        return self._shown(rejected_rows(self.record))

    def _shown(self, rows: list[Any]) -> dict[str, object]:
        job = self.record
        return {
            "job": job,
            "why_not": why_not(job),
            "rows": rows,
            "columns": column_names(job, rows),
            "form_id": uuid4(),
        }

    def post(self, request: HttpRequest, **kwargs: object) -> HttpResponse:
        rows = [as_posted(row, request.POST.dict()) for row in rejected_rows(self.record)]
        corrected = {row.reject.pk: [cell.text for cell in row.cells] for row in rows}
        form_id = sent_form_id(request.POST.dict())
        answers = {"corrected": corrected}
        result, message = record_single(CORRECT, self.record, by=self.actor, answers=answers, form_id=form_id)
        messages.add_message(request, LEVELS.get(result, messages.ERROR), message)
        if result is Result.REFUSED:
            return self.render(self._shown(rows))
        shown = self.record.pk
        if result is Result.DONE:
            shown = getattr(self.record, "started_import_id", shown)
        return HttpResponseRedirect(reverse("portal:file", args=[shown]))


class ErrorFilePage(FilePage):
    """The rejected rows of an import as a file for a spreadsheet."""

    def get(self, request: HttpRequest, **kwargs: object) -> Any:
        name = f"import-{self.record.pk}-errors.csv"
        return StreamingHttpResponse(
            report_for_people(self.record),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )


class FileActionPage(PortalActionPage):
    """The page of an action on an import."""

    section = "Files"
    sides = ONLY_SUPPLIERS
    right = Right.CATALOG
    actions = ACTIONS

    def of_party(self) -> QuerySet[ImportJob]:
        return ImportJob.objects.for_supplier(self.supplier).select_related("supplier")

    def back(self) -> str:
        return reverse("portal:file", args=[self.record.pk])

    def after_action(self) -> HttpResponse:
        """Redirect to the import that the action has started, if there is one."""
        started = getattr(self.record, "started_import_id", None)
        return (
            HttpResponseRedirect(reverse("portal:file", args=[started]))
            if started
            else super().after_action()
        )
