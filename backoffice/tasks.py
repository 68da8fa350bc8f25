"""Celery shells: each looks through its tables, so that a call that was missed is harmless."""

import logging

from celery import shared_task

from backoffice.digests import sending as digests
from backoffice.navigation.counting import count_waiting
from backoffice.retention import prune
from backoffice.suspending import services as suspending

logger = logging.getLogger(__name__)


@shared_task  # type: ignore[untyped-decorator]
def end_suspensions() -> None:
    """Let those trade again whose day has come."""
    suspending.end_expired()


@shared_task  # type: ignore[untyped-decorator]
def send_digests() -> None:
    """Mail what waits to those who want to know, once a day each."""
    digests.send_due()


@shared_task  # type: ignore[untyped-decorator]
def forget() -> None:
    """Remove some of what was kept long enough; the rest comes with the next ticks."""
    gone = prune()
    if gone:
        logger.info("removed %s", ", ".join(f"{count} {name}" for name, count in gone.items()))


@shared_task  # type: ignore[untyped-decorator]
def count() -> None:
    """Count what waits for people, for the navigation of all pages."""
    count_waiting()
