"""Celery tasks: the deletion of expired rows, and actions on many records.

The table of the actions is also their queue, so a lost Celery message does no harm.
"""

from __future__ import annotations

from typing import Any

from celery import shared_task
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.utils import timezone

from accounts import typed_drafts
from accounts.models import AccessToken, IdempotencyKey, OperatorAction
from accounts.operating import acting, bulk_actions


@shared_task  # type: ignore[untyped-decorator]
def expire() -> None:
    """Delete stored responses after their retention time, expired tokens, and old kept texts of forms."""
    now = timezone.now()
    IdempotencyKey.objects.filter(created_at__lte=now - settings.IDEMPOTENCY_RETENTION).delete()
    AccessToken.objects.filter(expires_at__lte=now).delete()
    typed_drafts.forget_old()


@shared_task(name=bulk_actions.RUN_TASK)  # type: ignore[untyped-decorator]
def run_operator_action(action_id: int) -> None:
    """Continue an operator's action for a few seconds, then wake a worker for the next action."""
    chosen = OperatorAction.objects.filter(pk=action_id, finished_at=None).first()
    if chosen is None or bulk_actions.all_at_work():
        return  # `sweep_operator_actions` starts the action later
    its_admin: Any = admin.site.get_model_admin(apps.get_model(chosen.model))
    doer = acting.acting_of_members(chosen) or its_admin
    bulk_actions.advance(chosen, doer, seconds=bulk_actions.SLICE)
    bulk_actions.wake_next(action_id)


@shared_task  # type: ignore[untyped-decorator]
def sweep_operator_actions() -> None:
    """Wake workers for actions without a lease, and delete actions that were not confirmed in time."""
    for action_id in bulk_actions.unfinished():
        bulk_actions.wake_next(action_id)
