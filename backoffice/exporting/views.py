"""The export view of each admin list."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from django.apps import apps
from django.contrib.admin import AdminSite
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ERROR_FLAG
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseRedirect, StreamingHttpResponse
from django.utils import timezone

from backoffice.exporting.rows import Cell, rows_of
from backoffice.exporting.workbook import workbook
from imports.report_format import harmless

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


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
        titles, rows = rows_of(listed, request)
    except IncorrectLookupParameters:
        # The list itself shows what is wrong with the filters.
        return HttpResponseRedirect(f"/admin/{app_label}/{model_name}/?{ERROR_FLAG}=1")
    head: list[list[Cell]] = [[*titles]]
    sheet = chain(head, rows)
    name = f"{model._meta.verbose_name_plural} {timezone.now():%Y-%m-%d}.{kind}".replace(" ", "-")
    return StreamingHttpResponse(
        workbook(sheet) if kind == "xlsx" else _csv(sheet),
        content_type=TYPES[kind],
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _csv(rows: Iterable[Sequence[Cell]]) -> Iterator[bytes]:
    """Yield CSV with a byte order mark, because spreadsheets would not recognize UTF-8 without it."""
    yield codecs.BOM_UTF8
    for row in rows:
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\r\n").writerow(
            [harmless(cell) if isinstance(cell, str) else cell for cell in row]
        )
        yield buffer.getvalue().encode()
