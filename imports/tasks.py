"""The Celery tasks of imports. The database lists the work, and a task only starts it.

Task names never change.
"""

from __future__ import annotations

from celery import shared_task

from imports.drafts.first_rows import READ_TASK, read_draft
from imports.pipeline.job_runner import run_job
from imports.sweeping import sweep_all
from imports.wake import FETCH_TASK, RUN_TASK


@shared_task(name=RUN_TASK)  # type: ignore[untyped-decorator]
def run(job_id: int) -> None:
    """Run one job to its end."""
    run_job(job_id)


@shared_task(name=FETCH_TASK)  # type: ignore[untyped-decorator]
def fetch(job_id: int) -> None:
    """Fetch one job's file."""
    # Import here: the SSH client takes 20 MB of each worker that imports it.
    from imports.fetching import fetch_file

    fetch_file(job_id)


@shared_task(name=READ_TASK)  # type: ignore[untyped-decorator]
def read_a_draft(draft_id: int) -> None:
    """Read the first rows of a packed draft."""
    read_draft(draft_id)


@shared_task(name="imports.tasks.sweep")  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Run the sweep, which also finds work for which no worker was woken."""
    sweep_all()
