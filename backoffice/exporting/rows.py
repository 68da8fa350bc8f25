"""The rows of a list as the page shows them, read in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeAlias

from django.contrib.admin import ModelAdmin
from django.contrib.admin.utils import label_for_field, lookup_field
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import strip_tags
from django.utils.safestring import SafeString

from api.renderers import iso

AT_ONCE = 500
CHECKBOX = "action_checkbox"

Cell: TypeAlias = str | int | Decimal


def rows_of(listed: ModelAdmin[Any], request: HttpRequest) -> tuple[list[str], Iterator[list[Cell]]]:
    """Return the column titles and the filtered rows of a list, newest first."""
    changes = listed.get_changelist_instance(request)
    names = [str(name) for name in changes.list_display if name != CHECKBOX]
    titles = [str(label_for_field(name, listed.model, listed)) for name in names]
    return titles, _rows(listed, changes.get_queryset(request), names)


def _rows(listed: ModelAdmin[Any], queryset: QuerySet[Any], names: list[str]) -> Iterator[list[Cell]]:
    """Page by keyset: a server-side cursor in autocommit would materialize all rows."""
    queryset, last = queryset.order_by("-pk"), None
    while True:
        page = list((queryset if last is None else queryset.filter(pk__lt=last))[:AT_ONCE])
        for record in page:
            yield [_cell(name, record, listed) for name in names]
        if len(page) < AT_ONCE:
            return
        last = page[-1].pk


def _cell(name: str, record: Model, listed: ModelAdmin[Any]) -> Cell:
    _, _, value = lookup_field(name, record, listed)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | Decimal):
        return value
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if value is None:
        return ""
    return strip_tags(value) if isinstance(value, SafeString) else str(value)
