"""Imports in the admin: what runs, what failed and why, and what an operator can do about it."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.utils.html import format_html

from accounts.deeds import DeedAdmin, badge
from events.timeline import timeline
from imports import lifecycle, overview
from imports.deeds import DEEDS
from imports.models import AutoImport, ImportJob, ImportPolicy, Status
from imports.reporting import report_for_people


class DryRunFilter(admin.SimpleListFilter):
    """The few that only ask what they would do; an index knows them."""

    title, parameter_name = "dry run", "dry_run"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("1", "Dry runs")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ImportJob]) -> QuerySet[ImportJob]:
        return queryset.filter(dry_run=True) if self.value() == "1" else queryset


@admin.register(ImportJob)
class ImportJobAdmin(DeedAdmin[ImportJob]):
    """One file's way into the catalogue or the stock."""

    deeds = DEEDS
    page_template = "admin/imports/importjob/page.html"
    list_display = (
        "id",
        "supplier",
        "kind",
        "shown_status",
        "source",
        "rows",
        "created_at",
    )
    list_display_links = ("id", "source")
    list_filter = ("status", "kind", DryRunFilter, "supplier")
    list_select_related = ("supplier",)
    search_help_text = "An import's number, or its file's path as it was given, in full"

    def found(self, term: str) -> Q:
        return super().found(term) | Q(source=term)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ImportJob]:
        return super().get_queryset(request).select_related("supplier")

    @admin.display(description="status")
    def shown_status(self, job: ImportJob) -> str:
        status = badge(job.status)
        return format_html("{} {}", status, badge("dry run")) if job.dry_run else status

    @admin.display(description="rows")
    def rows(self, job: ImportJob) -> str:
        return overview.Progress.brief(job)

    def page_context(self, job: ImportJob) -> dict[str, Any]:
        return {
            "progress": overview.Progress.of(job),
            "counts": overview.counts(job),
            "options": overview.told_options(job),
            "faults": overview.faults(job) if job.rejected else [],
            "faults_of": min(job.rejected, overview.LOOKED_AT),
            "gone": job.status == Status.FAILED and not lifecycle.kept(job),
            "timeline": timeline(import_id=job.pk),
        }

    def get_urls(self) -> list[URLPattern]:
        errors = self.admin_site.admin_view(self.errors)
        own = [path("<int:pk>/errors.csv", errors, name="imports_importjob_errors")]
        return [*own, *super().get_urls()]

    def errors(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """The same error report that the supplier gets."""
        job = self.get_object(request, str(pk))
        if job is None or not self.has_view_permission(request, job):
            return self._get_obj_does_not_exist_redirect(request, self.opts, str(pk))  # type: ignore[attr-defined,no-any-return]
        return StreamingHttpResponse(
            report_for_people(job),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="import-{pk}-errors.csv"'},
        )


@admin.register(ImportPolicy)
class ImportPolicyAdmin(admin.ModelAdmin[ImportPolicy]):
    list_display = (
        "supplier",
        "zeroed_share",
        "zeroed_least",
        "zeroed_in_delta",
        "delisted_share",
        "price_factor",
    )
    list_select_related = ("supplier",)


@admin.register(AutoImport)
class AutoImportAdmin(admin.ModelAdmin[AutoImport]):
    list_display = ("supplier", "kind", "enabled")
    list_filter = ("kind", "enabled")
    list_select_related = ("supplier",)
    readonly_fields = ("supplier", "kind", "options")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False
