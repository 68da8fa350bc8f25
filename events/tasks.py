"""Periodic tasks: number events, give up expired deliveries, and delete old deliveries."""

from __future__ import annotations

from celery import shared_task

from events.models import Event
from events.webhooks.upkeep import keep_up


@shared_task  # type: ignore[untyped-decorator]
def publish() -> None:
    """Number committed events. A reader of the feed may have numbered some already."""
    Event.publish()


@shared_task  # type: ignore[untyped-decorator]
def keep_up_webhooks() -> None:
    """Give up expired deliveries, and delete old deliveries and webhooks."""
    keep_up()
