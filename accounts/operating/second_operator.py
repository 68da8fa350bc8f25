"""Bulk actions that need the approval of a second operator.

SECOND_OPERATOR_ACTIONS names actions that need an approval for SECOND_OPERATOR_ROWS or more rows.
SECOND_OPERATOR_LIMITS has a maximum number of rows for groups of operators. If an operator of a group does a
final action on more rows, the action needs an approval.
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
    """Return whether a second operator must approve this action on this number of rows."""
    if action.name in settings.SECOND_OPERATOR_ACTIONS and rows >= settings.SECOND_OPERATOR_ROWS:
        return True
    if not final_actions.is_final(action, rows):
        return False
    limit = limit_of(chosen.actor.removeprefix("user:"))
    return limit is not None and rows > limit


def limit_of(username: str) -> int | None:
    """Return the largest number of rows that this user may change alone, or None without a limit.

    If several groups of the user have a limit, the highest limit applies. Superusers have no limit.
    """
    limits = settings.SECOND_OPERATOR_LIMITS
    user = User.objects.filter(username=username, is_superuser=False).first() if limits else None
    names = user.groups.filter(name__in=limits).values_list("name", flat=True) if user else ()
    return max((limits[name] for name in names), default=None)


def waiting_for(user: User | AnonymousUser) -> list[OperatorAction]:
    """Return other operators' actions that this user may approve. Run no query if approvals are off."""
    if not (settings.SECOND_OPERATOR_ACTIONS or settings.SECOND_OPERATOR_LIMITS):
        return []
    waiting = OperatorAction.objects.filter(finished_at=None, confirmed_at=None, requested_at__isnull=False)
    models = (model._meta for model in admin.site._registry)
    allowed = [
        opts.label_lower for opts in models if user.has_perm(f"{opts.app_label}.change_{opts.model_name}")
    ]
    others = waiting.filter(model__in=allowed).exclude(actor=f"user:{user.get_username()}")
    return list(others.order_by("requested_at")[:SHOWN])


def check_names(app_configs: Sequence[object] | None = None, **_: object) -> list[CheckMessage]:
    """Return an error for each name in SECOND_OPERATOR_ACTIONS that is no bulk action.

    Such a name would have no effect, so an action would need no approval.
    """
    admins: list[object] = list(admin.site._registry.values())
    actions = [action for each in admins for action in getattr(each, "all_actions", ()) if action.bulk]
    known = sorted({action.name for action in actions})
    return [
        Error(f"SECOND_OPERATOR_ACTIONS: {name!r} is no bulk action. Use one of: {', '.join(known)}.")
        for name in settings.SECOND_OPERATOR_ACTIONS
        if name not in known
    ]
