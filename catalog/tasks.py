"""Periodic tasks: take and thin out the snapshots for the pull's `updated_since`."""

from __future__ import annotations

from celery import shared_task

from catalog import snapshot


@shared_task(name="catalog.tasks.take_pulse")  # type: ignore[untyped-decorator]
def take_snapshot() -> None:
    snapshot.take_snapshot()


@shared_task(name="catalog.tasks.thin_pulses")  # type: ignore[untyped-decorator]
def thin_snapshots() -> None:
    snapshot.thin_out()
