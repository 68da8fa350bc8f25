"""Periodic work: events get their numbers."""

from __future__ import annotations

from celery import shared_task

from events.models import Event


@shared_task  # type: ignore[untyped-decorator]
def publish() -> None:
    """Number what was committed, should no reader have come by and done it."""
    Event.publish()
