"""The ledger's periodic work."""

from __future__ import annotations

from celery import shared_task

from inventory import ledger


@shared_task  # type: ignore[untyped-decorator]
def keep_ledger() -> None:
    """Make the coming months' partitions, and fold what is long ago."""
    ledger.make_partitions()
    ledger.fold()
