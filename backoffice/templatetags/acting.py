"""Template filters for permissions."""

from __future__ import annotations

from typing import Any

from django import template

register = template.Library()


@register.filter
def acted_on_by(item: Any, user: Any) -> bool:
    """Return whether the user may change the record of a desk row. Other rows get no links to actions."""
    app, _, model = item.model.partition(".")
    return bool(user.has_perm(f"{app}.change_{model}"))
