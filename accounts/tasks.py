"""Periodic work: what nobody will ask for again is removed."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from accounts.models import AccessToken, IdempotencyKey


@shared_task  # type: ignore[untyped-decorator]
def expire() -> None:
    """Remove what nobody will ask for again: kept answers past their time, and ended tokens."""
    now = timezone.now()
    IdempotencyKey.objects.filter(created_at__lte=now - settings.IDEMPOTENCY_RETENTION).delete()
    AccessToken.objects.filter(expires_at__lte=now).delete()
