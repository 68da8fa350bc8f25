"""What pages offer, to whom."""

from __future__ import annotations

from typing import Any

from django import template

register = template.Library()


@register.filter
def acted_on_by(item: Any, user: Any) -> bool:
    """Whether a user may do what a row of the desk offers: a link to a page that refuses him is none."""
    app, _, model = item.model.partition(".")
    return bool(user.has_perm(f"{app}.change_{model}"))
