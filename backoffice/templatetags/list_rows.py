"""Template tags for the table of an admin list: its headers, and its cells with the labels of columns."""

from __future__ import annotations

import re
from typing import Any

from django import template
from django.contrib.admin.templatetags.admin_list import result_headers, results
from django.contrib.admin.views.main import ORDER_VAR, ChangeList
from django.core.exceptions import FieldDoesNotExist
from django.db.models import BooleanField, DecimalField, Field, GeneratedField
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst

from api.markup import text_of

register = template.Library()

MOMENT = re.compile(r"(\d{1,2} \w{3}) (\d{4})(, \d\d:\d\d)")
ZEROS = re.compile(r"(\.\d\d)0+(?=<)")
TRUTH = re.compile(r'<img [^>]*alt="(?:(True)|False|None)"[^>]*>|(?<=>)(?:(True)|False)(?=<)')
"""A truth value in a cell: Django's icon, or the bare word of a generated field."""

CUT_FROM = 28
"""The length from which the page may cut off a text, so that its cell needs a `title` attribute."""


@register.simple_tag
def list_headers(cl: ChangeList) -> list[dict[str, Any]]:
    """Return the headers of a list.

    The header of a column in `sorted_while_open` links to the open rows, sorted by this column. Other rows
    cannot be sorted by the column.
    """
    headers = list(result_headers(cl))
    while_open = getattr(cl.model_admin, "sorted_while_open", {})
    for position, (name, header) in enumerate(zip(cl.list_display, headers, strict=True)):
        first_order = while_open.get(name)
        if first_order is None or header.get("sorted"):
            continue
        open_only = {} if header["sortable"] else cl.model_admin.open_filter.parameters()  # type: ignore[attr-defined]
        sort = {ORDER_VAR: f"{first_order}{position}", **open_only}
        header["sortable"] = True
        header["url_primary"] = cl.get_query_string(sort, ["p"])
        header["title"] = "Shows the open rows, sorted" if open_only else ""
    return headers


@register.simple_tag
def list_rows(cl: ChangeList) -> list[list[SafeString]]:
    """Return the cells of each row with the column's label, which phones show. Long texts get a tooltip."""
    labels = ["" if "checkbox" in str(each["text"]) else str(each["text"]) for each in result_headers(cl)]
    fields = [_field(cl, name) for name in cl.list_display]
    return [
        [
            _labeled(_plain(cell, field), str(capfirst(text_of(label))))
            for label, field, cell in zip(labels, fields, row, strict=True)
        ]
        for row in results(cl)
    ]


def _plain(cell: str, field: Field[Any, Any] | None) -> str:
    """Leave out the current year, and zeros after the cents. Replace truth values with words."""
    if isinstance(field, BooleanField):
        return TRUTH.sub(lambda found: "Yes" if found[1] or found[2] else "No", cell)
    if isinstance(field, DecimalField):
        return ZEROS.sub(r"\1", cell)
    return MOMENT.sub(r"\1\3", cell) if f" {timezone.now().year}, " in cell else cell


def _field(cl: ChangeList, name: object) -> Field[Any, Any] | None:
    try:
        found = cl.lookup_opts.get_field(str(name))
    except FieldDoesNotExist:
        return None
    if isinstance(found, GeneratedField):
        return found.output_field
    return found if isinstance(found, Field) else None


def _labeled(cell: str, label: str) -> SafeString:
    """Add `data-label` and `title` to a cell that Django has rendered as `<td …>` or `<th …>`."""
    text = " ".join(text_of(cell).split())
    added = format_html(' data-label="{}"', label) if label and text not in ("", "-") else ""
    if len(text) >= CUT_FROM:
        added += format_html(' title="{}"', text)
    return mark_safe(f"{cell[:3]}{added}{cell[3:]}")  # noqa: S308 - Django has escaped the cell
