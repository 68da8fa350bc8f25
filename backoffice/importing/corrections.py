"""The page that corrects an import's rejected rows and imports them again."""

from __future__ import annotations

from uuid import uuid4

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from accounts.models import Result
from accounts.operating.admin_actions import LEVELS, sent_form_id
from accounts.operating.admin_base import operator_of
from accounts.operating.bulk_actions import record_single
from imports.admin_actions import CORRECT
from imports.correcting import as_posted, column_names, rejected_rows, why_not
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
        answers = {"corrected": {row.reject.pk: [cell.text for cell in row.cells] for row in rows}}
        form_id = sent_form_id(request.POST.dict())
        by = operator_of(request)
        result, message = record_single(CORRECT, job, by=by, answers=answers, form_id=form_id)
        messages.add_message(request, LEVELS.get(result, messages.ERROR), message)
        if result is not Result.REFUSED:
            return HttpResponseRedirect(_page_of(getattr(job, "started_import_id", job.pk)))
    context = {
        **site.each_context(request),
        "title": f"Correct rows of import {job.pk}",
        "job": job,
        "why_not": why_not(job),
        "columns": column_names(job, rows),
        "rows": rows,
        "form_id": uuid4(),
        "back": _page_of(job.pk),
    }
    return TemplateResponse(request, "admin/imports/correct.html", context)


def _page_of(job_id: int) -> str:
    return reverse("admin:imports_importjob_change", args=[job_id])
