"""Celery shells: each looks through its table, so that a call that was missed is harmless."""

from celery import shared_task

from orders import erasing
from orders.backorders.allocating import serve_all

SECONDS = 10.0
"""Other ticks wait behind it; what is left then comes with the next one."""


@shared_task  # type: ignore[untyped-decorator]
def serve_waiting() -> None:
    """Give stock that has arrived to those who wait for it."""
    serve_all(None, seconds=SECONDS)


@shared_task  # type: ignore[untyped-decorator]
def erase_old() -> None:
    """Erase personal data from orders that were closed long ago, where that is set."""
    erasing.erase_old()
