"""Celery tasks of the back office. Each scans its tables, so a missed call does no harm."""

import logging

from celery import shared_task

from backoffice.digests import sending as digests
from backoffice.navigation.counting import count_waiting
from backoffice.retention import prune
from backoffice.suspending import services as suspending

logger = logging.getLogger(__name__)


@shared_task  # type: ignore[untyped-decorator]
def end_suspensions() -> None:
    """End suspensions whose last day has passed."""
    suspending.end_expired()


@shared_task  # type: ignore[untyped-decorator]
def send_digests() -> None:
    """Send the digests that are due."""
    digests.send_due()


@shared_task  # type: ignore[untyped-decorator]
def forget() -> None:
    """Delete one window of expired rows per table. Later ticks delete the rest."""
    gone = prune()
    if gone:
        logger.info("removed %s", ", ".join(f"{count} {name}" for name, count in gone.items()))


@shared_task  # type: ignore[untyped-decorator]
def count() -> None:
    """Refresh the counts of the menu."""
    count_waiting()
