"""Celery tasks. Each reads its table for work, so a lost call only delays the work."""

from celery import shared_task

from orders import erasing
from orders.backorders.allocating import allocate_all

SECONDS = 10.0
"""The time limit of one run, because other ticks wait behind it. The next run continues."""


@shared_task  # type: ignore[untyped-decorator]
def serve_waiting() -> None:
    """Reserve arrived stock for the backorders that wait for it."""
    allocate_all(None, seconds=SECONDS)


@shared_task  # type: ignore[untyped-decorator]
def erase_old() -> None:
    """Erase personal data from orders that were closed long ago, if the setting asks for it."""
    erasing.erase_old()
