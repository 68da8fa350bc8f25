"""Template filters for operators' actions: permissions, and results of bulk actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template

register = template.Library()


@register.filter
def acted_on_by(item: Any, user: Any) -> bool:
    """Return whether the user may change the record of a desk row. If not, the row has no action links."""
    app, _, model = item.model.partition(".")
    return bool(user.has_perm(f"{app}.change_{model}"))


@register.filter
def bulk_result(counts: Mapping[str, int]) -> str:
    """Return the result of a bulk action in words, from the counts of its rows."""
    parts = (
        ("unchanged", "already done"),
        ("refused", "could not be done"),
        ("left_out", "left out"),
        ("left", "not done because the action was stopped"),
    )
    named = [f"{counts[name]} {words}" for name, words in parts if counts[name]]
    result = "; ".join([f"{counts['done']} done", *named])
    return f"{result}." if counts["done"] else f"{result}. Nothing was changed."
