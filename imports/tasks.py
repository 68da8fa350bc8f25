"""Celery tasks: they only wake, the work is in the tables. Tasks are called by name, so names stay."""

from __future__ import annotations

from celery import shared_task

from imports.fetching import fetch_file
from imports.pipeline.job_runner import run_job
from imports.sweeping import sweep_all
from imports.wake import FETCH_TASK, RUN_TASK


@shared_task(name=RUN_TASK)  # Run one job to its end.
def run(job_id: int) -> None:
    """Take one job to its end."""
    run_job(job_id)


@shared_task(name=FETCH_TASK)  # Fetch one job's file.
def fetch(job_id: int) -> None:
    """Fetch one job's file."""
    fetch_file(job_id)


@shared_task(name="imports.tasks.sweep")  # Find work for which no worker was woken.
def sweep() -> None:
    """Find jobs and uploads for which no worker was woken."""
    sweep_all()
