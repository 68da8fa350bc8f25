"""Celery tasks: periodic cleaning, and operators' actions on many records. The tables are the queue."""

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
    """Delete stored answers past their retention time, expired tokens, and old drafts of forms."""
    now = timezone.now()
    IdempotencyKey.objects.filter(created_at__lte=now - settings.IDEMPOTENCY_RETENTION).delete()
    AccessToken.objects.filter(expires_at__lte=now).delete()
    typed_drafts.forget_old()


@shared_task(name=bulk_actions.RUN_TASK)  # type: ignore[untyped-decorator]
def run_operator_action(action_id: int) -> None:
    """Continue an operator's action for a few seconds, then queue it again."""
    chosen = OperatorAction.objects.filter(pk=action_id, finished_at=None).first()
    if chosen is None or bulk_actions.all_at_work():
        return  # the sweep starts it later
    its_admin: Any = admin.site.get_model_admin(apps.get_model(chosen.model))
    doer = acting.acting_of_members(chosen) or its_admin
    if not bulk_actions.advance(chosen, doer, seconds=bulk_actions.SLICE):
        bulk_actions.wake(action_id)


@shared_task  # type: ignore[untyped-decorator]
def sweep_operator_actions() -> None:
    """Wake workers for the actions that no worker has leased."""
    for action_id in bulk_actions.unfinished():
        bulk_actions.wake(action_id)
