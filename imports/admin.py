"""Imports in the admin: what runs, what failed and why, and what an operator can do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.actors import Actor
from api.errors import ApiError
from imports import lifecycle
from imports.models import AutoImport, ImportJob, ImportPolicy
from imports.reporting import report
from imports.serializers import progress


def _each(request: HttpRequest, jobs: Iterable[ImportJob], change: Callable[..., None], done: str) -> None:
    """Do it to one job after the other, and tell of each that refused."""
    changed = 0
    for job in jobs:
        try:
            change(job, by=Actor.of_user(request.user))  # type: ignore[arg-type]
            changed += 1
        except ApiError as error:
            messages.warning(request, f"{job}: {error.message}")
    if changed:
        messages.success(request, f"{changed} {done}.")


@admin.register(ImportJob)
class ImportJobAdmin(admin.ModelAdmin[ImportJob]):
    list_display = (
        "id",
        "supplier",
        "kind",
        "status",
        "source",
        "progress",
        "rejected",
        "dry_run",
        "created_at",
    )
    list_filter = ("status", "kind", "dry_run", "supplier")
    list_select_related = ("supplier",)
    search_fields = ("source", "id")
    date_hierarchy = "created_at"
    show_full_result_count = False
    actions = ("cancel", "retry", "approve")
    exclude = ("header", "delimiter", "file")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        hidden = {"header", "delimiter", "file"}
        names = [field.name for field in ImportJob._meta.fields if field.name not in hidden]
        return [*names, "progress", "errors_report"]

    @admin.display(description="progress")
    def progress(self, job: ImportJob) -> str:
        if job.rows_total is None:
            return "–"
        rate, left = progress(job)
        told = f"{job.rows_done:,} of {job.rows_total:,}"
        if rate:
            told += f", {rate:,} rows/s"
        return f"{told}, {left} s left" if left is not None else told

    @admin.display(description="errors")
    def errors_report(self, job: ImportJob) -> SafeString | str:
        if not job.rejected:
            return "none"
        url = reverse("admin:imports_importjob_errors", args=[job.pk])
        return format_html('<a href="{}">{} rows as CSV</a>', url, job.rejected)

    def get_urls(self) -> list[URLPattern]:
        errors = self.admin_site.admin_view(self.errors)
        own = [path("<int:pk>/errors.csv", errors, name="imports_importjob_errors")]
        return [*own, *super().get_urls()]

    def errors(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        job = self.get_object(request, str(pk))
        if job is None or not self.has_view_permission(request, job):
            return self._get_obj_does_not_exist_redirect(request, self.opts, str(pk))  # type: ignore[attr-defined,no-any-return]
        return StreamingHttpResponse(
            report(job),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="import-{pk}-errors.csv"'},
        )

    @admin.action(description="Cancel", permissions=["change"])
    def cancel(self, request: HttpRequest, queryset: Any) -> None:
        _each(request, queryset, lifecycle.cancel, "canceled, or will be at their next range")

    @admin.action(description="Retry", permissions=["change"])
    def retry(self, request: HttpRequest, queryset: Any) -> None:
        _each(request, queryset.order_by("pk"), lifecycle.retry, "queued again")

    @admin.action(description="Approve", permissions=["change"])
    def approve(self, request: HttpRequest, queryset: Any) -> None:
        _each(request, queryset.order_by("pk"), lifecycle.approve, "released")


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
