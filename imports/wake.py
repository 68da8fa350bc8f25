"""Wake a worker for a job. If a message is lost, the next sweep wakes a worker."""

from __future__ import annotations

from functools import partial

from django.db import transaction

from fastdb import leased

# Tasks are called by name, because importing their module here would be a circular import.
RUN_TASK, FETCH_TASK = "imports.tasks.run", "imports.tasks.fetch"


def wake_after_commit(job_id: int, *, fetch: bool = False) -> None:
    """Wake a worker for a job after the commit, or a fetcher for its file."""
    transaction.on_commit(partial(wake_fetcher if fetch else wake, job_id))


def wake(job_id: int) -> None:
    leased.wake(RUN_TASK, job_id)


def wake_fetcher(job_id: int) -> None:
    """Wake a worker that fetches the file of a job from its host."""
    leased.wake(FETCH_TASK, job_id)
