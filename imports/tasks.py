"""Celery's bells for this app."""

from __future__ import annotations

from celery import shared_task

from imports.running import run_job
from imports.sweeping import sweep_all


@shared_task  # type: ignore[untyped-decorator]
def run(job_id: int) -> None:
    """Take one job to its end."""
    run_job(job_id)


@shared_task  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Find what nobody woke a worker for."""
    sweep_all()
