"""The Celery tasks of orders. Each task reads its work from a table, so a lost call only delays the work."""

from celery import shared_task

from orders import erasing
from orders.backorders import waits
from orders.backorders.allocating import allocate_all
from orders.backorders.announcing import announce_all
from orders.erasing_copies import search
from orders.reconciling import nightly

SECONDS = 10.0
"""The time limit of a run, because other periodic tasks wait for its end. The next run continues the work."""


@shared_task  # type: ignore[untyped-decorator]
def serve_waiting() -> None:
    """Reserve arrived stock for the backorders that wait for it."""
    allocate_all(None, seconds=SECONDS)


@shared_task  # type: ignore[untyped-decorator]
def announce_restock_dates() -> None:
    """Notify the waiting orders of changed restock dates."""
    announce_all(seconds=SECONDS)


@shared_task  # type: ignore[untyped-decorator]
def wake_reconcile() -> None:
    """Start the nightly reconcile if it is due."""
    nightly.wake_if_due()


@shared_task(name=nightly.RUN_TASK)  # type: ignore[untyped-decorator]
def reconcile() -> None:
    """Compare all derived values with their sources, once each night."""
    nightly.run()


@shared_task  # type: ignore[untyped-decorator]
def end_waits() -> None:
    """Cancel units that have waited for stock until their limit."""
    waits.end_waits(seconds=SECONDS)


@shared_task  # type: ignore[untyped-decorator]
def erase_old() -> None:
    """Erase personal data from old finished orders if `ERASE_DAYS` is set. Then continue to erase copies."""
    erasing.erase_old()
    search.erase_copies(SECONDS)
