"""Periodic work: events get their numbers, and deliveries their end."""

from __future__ import annotations

from celery import shared_task

from events.models import Event
from events.webhooks.upkeep import keep_up


@shared_task  # type: ignore[untyped-decorator]
def publish() -> None:
    """Number what was committed, should no reader have come by and done it."""
    Event.publish()


@shared_task  # type: ignore[untyped-decorator]
def keep_up_webhooks() -> None:
    """Give up deliveries whose time is over, and remove old ones."""
    keep_up()
