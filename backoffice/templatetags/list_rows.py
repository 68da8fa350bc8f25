"""Template tags for the table of a list: its headers, and its rows with the names of their columns."""

from __future__ import annotations

from html import unescape
from typing import Any

from django import template
from django.contrib.admin.templatetags.admin_list import result_headers, results
from django.contrib.admin.views.main import ORDER_VAR, ChangeList
from django.utils.html import format_html, strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst

register = template.Library()

CUT_FROM = 28
"""The number of letters from which a cell may be cut, so that it needs a title."""


@register.simple_tag
def list_headers(cl: ChangeList) -> list[dict[str, Any]]:
    """Return the headers. A column that only open rows can be sorted by leads to the sorted open rows."""
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
        header["title"] = "Shows the open ones, sorted" if open_only else ""
    return headers


@register.simple_tag
def list_rows(cl: ChangeList) -> list[list[SafeString]]:
    """Return the cells of each row. Cards on the phone show the label; a cut text has its title."""
    labels = ["" if "checkbox" in str(each["text"]) else str(each["text"]) for each in result_headers(cl)]
    return [
        [_labeled(cell, str(capfirst(strip_tags(label)))) for label, cell in zip(labels, row, strict=True)]
        for row in results(cl)
    ]


def _labeled(cell: str, label: str) -> SafeString:
    """Add attributes to a cell that Django has rendered as `<td …>` or `<th …>`."""
    text = " ".join(unescape(strip_tags(cell)).split())
    added = format_html(' data-label="{}"', label) if label and text not in ("", "-") else ""
    if len(text) >= CUT_FROM:
        added += format_html(' title="{}"', text)
    return mark_safe(f"{cell[:3]}{added}{cell[3:]}")  # noqa: S308 - Django has escaped the cell
