"""Admin pages for imports: their progress, their errors and the operator's actions."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template.defaultfilters import linebreaksbr
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join

from accounts.operating.admin_actions import RecordAdmin
from accounts.operating.day_filter import DaysFilter
from events.admin_base import RecordedAdmin
from events.timeline import HistoryEntry, timeline
from imports import overview
from imports.admin_actions import ACTIONS
from imports.admin_filters import DryRunFilter, RecentlyFailedFilter
from imports.correcting import why_not as why_not_correctable
from imports.error_report import report_for_people
from imports.models import AutoImport, Correction, ImportJob, ImportPolicy, SavedMapping, Status
from imports.saved_mappings import mapping_event
from imports.services import auto_import_event, policy_event
from ui.badges import badge


@admin.register(ImportJob)
class ImportJobAdmin(RecordAdmin[ImportJob]):
    record_actions = ACTIONS
    acts_with = ("supplier", "drafts")
    page_template = "admin/imports/importjob/page.html"
    change_list_template = "admin/imports/importjob/list.html"
    list_display = (
        "id",
        "received",
        "supplier",
        "kind",
        "shown_status",
        "rows",
        "rejected",
        "file_name",
    )
    list_display_links = ("id", "file_name")
    list_filter = (
        "status",
        ("created_at", DaysFilter),
        "kind",
        DryRunFilter,
        RecentlyFailedFilter,
        "supplier",
    )
    more_columns = ("created_by", "as_of", "started_at", "finished_at", "created", "updated")
    list_select_related = ("supplier",)
    search_help_text = "An import's number, or the whole path of its file as it was given"

    def search_condition(self, term: str) -> Q:
        return super().search_condition(term) | Q(source=term)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ImportJob]:
        return super().get_queryset(request).select_related("supplier")

    @admin.display(description="received")
    def received(self, job: ImportJob) -> datetime:
        return job.created_at

    @admin.display(description="file")
    def file_name(self, job: ImportJob) -> str:
        return job.source

    @admin.display(description="state")
    def shown_status(self, job: ImportJob) -> str:
        status = badge(job.status)
        return format_html("{} {}", status, badge("dry run")) if job.dry_run else status

    @admin.display(description="rows")
    def rows(self, job: ImportJob) -> str:
        return overview.Progress.brief(job).partition(", ")[0]

    def page_context(self, request: HttpRequest, job: ImportJob) -> dict[str, object]:
        return {
            "progress": overview.Progress.of(job),
            "counts": overview.counts(job),
            "outlook": overview.with_percents(job.report.get("outlook")),
            "price_changes": overview.with_percents(job.report)["price_changes"]
            if job.report.get("price_changes")
            else [],
            "warnings": overview.warnings_of(job),
            "options": overview.option_texts(job),
            "reject_groups": overview.reject_groups(job) if job.rejected else [],
            "rejects_counted": min(job.rejected, overview.LOOKED_AT),
            "gone": job.status == Status.FAILED and not job.has_file,
            "draft": job.drafts.first(),
            "correctable": bool(job.rejected) and not why_not_correctable(job),
            "corrects": Correction.objects.filter(job=job).first(),
            "corrections": Correction.objects.filter(original=job).order_by("-id")[:5],
            "entries": [
                _briefly(entry) for entry in timeline((self.opts.label_lower, job.pk), import_id=job.pk)
            ],
        }

    def get_urls(self) -> list[URLPattern]:
        errors = self.admin_site.admin_view(self.errors)
        report_url = [path("<int:pk>/errors.csv", errors, name="imports_importjob_errors")]
        return [*report_url, *super().get_urls()]

    def errors(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Download the same error report that the supplier gets."""
        job = self.get_object(request, str(pk))
        if job is None or not self.has_view_permission(request, job):
            return self._get_obj_does_not_exist_redirect(request, self.opts, str(pk))  # type: ignore[attr-defined,no-any-return]
        return StreamingHttpResponse(
            report_for_people(job),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="import-{pk}-errors.csv"'},
        )


# The timeline leaves out details that the page already shows, and counts of zero.
SHOWN_ABOVE, EMPTY = {"kind", "source", "status"}, {"0", "no"}


def _briefly(entry: HistoryEntry) -> HistoryEntry:
    details = [(name, text) for name, text in entry.details if name not in SHOWN_ABOVE and text not in EMPTY]
    return replace(entry, details=details)


@admin.register(ImportPolicy)
class ImportPolicyAdmin(RecordedAdmin[ImportPolicy]):
    event_subject = "import_policy"
    list_display = (
        "supplier",
        "zeroed_share",
        "zeroed_least",
        "zeroed_in_delta",
        "delisted_share",
        "price_factor",
    )
    list_select_related = ("supplier",)

    def event_fields(self, policy: ImportPolicy) -> dict[str, object]:
        return policy_event(policy)


@admin.register(AutoImport)
class AutoImportAdmin(RecordedAdmin[AutoImport]):
    event_subject = "auto_import"
    change_list_template = "admin/imports/autoimport/list.html"
    list_display = ("supplier", "kind", "enabled")
    list_filter = ("kind", "enabled")
    list_select_related = ("supplier",)
    fields = ("supplier", "kind", "enabled", "mapping", "shown_options")
    readonly_fields = ("supplier", "kind", "mapping", "shown_options")

    @admin.display(description="saved mapping", empty_value="–")
    def mapping(self, automatic: AutoImport) -> str:
        """Link to the saved mapping that the automatic import uses."""
        name = automatic.options.get("mapping", "")
        saved = SavedMapping.objects.filter(supplier=automatic.supplier, name=name).first()
        if saved is None:
            return name or "–"
        url = reverse("admin:imports_savedmapping_change", args=[saved.pk])
        return format_html('<a href="{}">{}</a>', url, name)

    @admin.display(description="options")
    def shown_options(self, automatic: AutoImport) -> str:
        return shown_texts(overview.texts_of(automatic.options))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def event_fields(self, automatic: AutoImport) -> dict[str, object]:
        return auto_import_event(automatic)


@admin.register(SavedMapping)
class SavedMappingAdmin(RecordedAdmin[SavedMapping]):
    """The page of suppliers' saved mappings. Suppliers change them with the API; operators only read them."""

    event_subject = "import_mapping"
    list_display = ("name", "supplier", "kind", "updated_at")
    list_filter = ("supplier",)
    list_select_related = ("supplier",)
    fields = ("name", "supplier", "kind", "shown_options", "created_at", "updated_at")
    readonly_fields = fields

    @admin.display(description="content")
    def shown_options(self, saved: SavedMapping) -> str:
        return shown_texts(overview.texts_of(saved.options))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: SavedMapping | None = None) -> bool:
        return False

    def event_fields(self, saved: SavedMapping) -> dict[str, object]:
        return mapping_event(saved)


def shown_texts(texts: list[tuple[str, str]]) -> str:
    """Return HTML with each name in bold and its text on the next line."""
    return format_html_join(
        "",
        "<strong>{}</strong><br>{}<br>",
        ((name, linebreaksbr(text, autoescape=True)) for name, text in texts),
    )
