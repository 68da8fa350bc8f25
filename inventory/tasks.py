"""The periodic task of the stock ledger."""

from __future__ import annotations

from celery import shared_task

from inventory import ledger


@shared_task  # type: ignore[untyped-decorator]
def keep_ledger() -> None:
    """Create the partitions of the next months, and replace old months by opening balances."""
    ledger.make_partitions()
    ledger.fold()
