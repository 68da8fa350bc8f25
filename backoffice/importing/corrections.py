"""The page that corrects an import's rejected rows and imports them again."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from accounts.operating.admin_base import operator_of
from api.errors import ApiError
from imports.correcting import as_posted, column_names, rejected_rows, send, why_not
from imports.models import ImportJob

MAY = "imports.change_importjob"


def corrections_page(site: AdminSite, request: HttpRequest, job_id: int) -> HttpResponse:
    """Show the first rejected rows with their cells, and import the changed rows."""
    if not request.user.has_perm(MAY):
        raise PermissionDenied
    job = ImportJob.objects.select_related("supplier").filter(pk=job_id).first()
    if job is None:
        raise Http404
    rows = rejected_rows(job)
    if request.method == "POST":
        rows = [as_posted(row, request.POST) for row in rows]
        try:
            corrected = {row.reject.pk: [cell.text for cell in row.cells] for row in rows}
            correction = send(job, corrected, by=operator_of(request))
        except ApiError as error:
            messages.error(request, error.message)
        else:
            sent = correction.rows
            messages.success(
                request, f"{sent} corrected row{'s' * (sent != 1)} of import {job.pk} imported again."
            )
            return HttpResponseRedirect(_page_of(correction.job))
    context = {
        **site.each_context(request),
        "title": f"Correct rows of import {job.pk}",
        "job": job,
        "why_not": why_not(job),
        "columns": column_names(job, rows),
        "rows": rows,
        "back": _page_of(job),
    }
    return TemplateResponse(request, "admin/imports/correct.html", context)


def _page_of(job: ImportJob) -> str:
    return reverse("admin:imports_importjob_change", args=[job.pk])
