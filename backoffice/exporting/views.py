"""The export view of each admin list."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ERROR_FLAG
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseRedirect, StreamingHttpResponse
from django.utils import timezone

from api.exporting.files import TYPES, as_file
from backoffice.exporting.rows import rows_of
from fastdb.standbys.reads import reads_from_standby


def export(
    site: AdminSite, request: HttpRequest, app_label: str, model_name: str, kind: str
) -> StreamingHttpResponse | HttpResponseRedirect:
    """Stream the filtered list of a model as `csv` or `xlsx`."""
    try:
        model = apps.get_model(app_label, model_name)
    except LookupError:
        raise Http404 from None
    if kind not in TYPES or not site.is_registered(model):
        raise Http404
    listed = site.get_model_admin(model)
    if not listed.has_view_permission(request):
        raise PermissionDenied
    try:
        return _file(listed, request, kind)
    except IncorrectLookupParameters:
        # Redirect to the list without filters, as Django's own lists do after invalid filters.
        return HttpResponseRedirect(f"/admin/{app_label}/{model_name}/?{ERROR_FLAG}=1")


@reads_from_standby
def _file(listed: ModelAdmin[Any], request: HttpRequest, kind: str) -> StreamingHttpResponse:
    titles, rows = rows_of(listed, request)
    name = f"{listed.model._meta.verbose_name_plural} {timezone.now():%Y-%m-%d}"
    return as_file(name, titles, rows, kind)
