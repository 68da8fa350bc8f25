"""The rows of an admin list for an export, with the columns and filters of the list page.

Rows are read one after the other, so the use of memory does not depend on the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib.admin import ModelAdmin
from django.contrib.admin.utils import label_for_field, lookup_field
from django.db.models import Model
from django.http import HttpRequest

from api.exporting.cells import Cell, as_cell
from api.exporting.keyset import newest_first

CHECKBOX = "action_checkbox"


def rows_of(listed: ModelAdmin[Any], request: HttpRequest) -> tuple[list[str], Iterator[list[Cell]]]:
    """Return the column titles and the filtered rows of a list, newest first."""
    changes = listed.get_changelist_instance(request)
    names = [str(name) for name in changes.list_display if name != CHECKBOX]
    titles = [str(label_for_field(name, listed.model, listed)) for name in names]
    listed_rows = newest_first(changes.get_queryset(request))
    return titles, ([_cell(name, record, listed) for name in names] for record in listed_rows)


def _cell(name: str, record: Model, listed: ModelAdmin[Any]) -> Cell:
    _, _, value = lookup_field(name, record, listed)
    return as_cell(value)
