"""Finds bulk actions that need a second operator, and those that wait for one.

SECOND_OPERATOR_ACTIONS names actions that always need one. SECOND_OPERATOR_LIMITS has the largest number of
rows that a role may change alone by an action that cannot be undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import AnonymousUser, User
from django.core.checks import CheckMessage, Error

from accounts.models import OperatorAction
from accounts.operating import final_actions
from accounts.operating.operator_actions import AdminAction

SHOWN = 20


def is_needed(chosen: OperatorAction, action: AdminAction[Any], rows: int) -> bool:
    """Return whether a second operator must approve this checked action of some rows."""
    if action.name in settings.SECOND_OPERATOR_ACTIONS and rows >= settings.SECOND_OPERATOR_ROWS:
        return True
    if not final_actions.is_final(action, rows):
        return False
    limit = limit_of(chosen.actor.removeprefix("user:"))
    return limit is not None and rows > limit


def limit_of(username: str) -> int | None:
    """Return the most rows that this user may change alone; None without a limit.

    Of several groups with a limit, the highest limit counts. Superusers have none.
    """
    limits = settings.SECOND_OPERATOR_LIMITS
    user = User.objects.filter(username=username, is_superuser=False).first() if limits else None
    names = user.groups.filter(name__in=limits).values_list("name", flat=True) if user else ()
    return max((limits[name] for name in names), default=None)


def waiting_for(user: User | AnonymousUser) -> list[OperatorAction]:
    """Return actions of others that this user may approve. No query where both settings are empty."""
    if not (settings.SECOND_OPERATOR_ACTIONS or settings.SECOND_OPERATOR_LIMITS):
        return []
    waiting = OperatorAction.objects.filter(finished_at=None, confirmed_at=None, requested_at__isnull=False)
    others = waiting.exclude(actor=f"user:{user.get_username()}").order_by("requested_at")[:SHOWN]
    return [action for action in others if user.has_perm(_change_permission(action.model))]


def _change_permission(model: str) -> str:
    app, _, name = model.partition(".")
    return f"{app}.change_{name}"


def check_names(app_configs: Sequence[object] | None = None, **_: Any) -> list[CheckMessage]:
    """Refuse the setting if it names no bulk action: a misspelt name would protect nothing."""
    admins: list[object] = list(admin.site._registry.values())
    actions = [action for each in admins for action in getattr(each, "all_actions", ()) if action.bulk]
    known = sorted({action.name for action in actions})
    return [
        Error(f"SECOND_OPERATOR_ACTIONS: {name!r} is no bulk action. Use one of: {', '.join(known)}.")
        for name in settings.SECOND_OPERATOR_ACTIONS
        if name not in known
    ]
