"""Waking a worker for a job. Nobody may be woken: the sweep finds the job all the same."""

from __future__ import annotations

import logging
import time
from functools import partial

from celery import current_app
from django.db import transaction

# By its name: the task's module imports what runs the job, which imports this.
RUN_TASK, FETCH_TASK = "imports.tasks.run", "imports.tasks.fetch"
logger = logging.getLogger(__name__)
# For so many seconds after a failure nobody is woken: the sweep comes by, and no request waits in vain.
PAUSE = 5.0
_paused_until = 0.0
EXPIRE_SECONDS = 30


def wake_after_commit(job_id: int, *, fetch: bool = False) -> None:
    """Wake a worker for a job, or have its file fetched first, once what was written is there."""
    transaction.on_commit(partial(wake_fetcher if fetch else wake, job_id))


def wake(job_id: int) -> None:
    """Wake a worker for a job, if that can be done at once."""
    _send(RUN_TASK, job_id)


def wake_fetcher(job_id: int) -> None:
    """Have the file of a job fetched from its host."""
    _send(FETCH_TASK, job_id)


def _send(task: str, job_id: int) -> None:
    global _paused_until
    if time.monotonic() < _paused_until:
        return
    try:
        # The sweep comes by again and again: what nobody took in time is only in the way.
        current_app.signature(task).apply_async((job_id,), retry=False, expires=EXPIRE_SECONDS)
    except Exception as error:  # noqa: BLE001 - whatever the broker's client raises, the job is safe
        _paused_until = time.monotonic() + PAUSE
        logger.warning("import %s waits for the sweep: %s", job_id, error)
