"""Wake a worker for a job. A call may wake no worker: the sweep always finds the job."""

from __future__ import annotations

import logging
import time
from functools import partial

from celery import current_app
from django.db import transaction

# Tasks are called by name: importing their module here would make a circle.
RUN_TASK, FETCH_TASK = "imports.tasks.run", "imports.tasks.fetch"
logger = logging.getLogger(__name__)
# Seconds without wake-ups after a failure, so that no request waits for a broker that does not answer.
PAUSE = 5.0
_paused_until = 0.0
EXPIRE_SECONDS = 30


def wake_after_commit(job_id: int, *, fetch: bool = False) -> None:
    """After the commit, wake a worker for a job, or a fetcher for its file."""
    transaction.on_commit(partial(wake_fetcher if fetch else wake, job_id))


def wake(job_id: int) -> None:
    """Wake a worker for a job, unless the broker is paused."""
    _send(RUN_TASK, job_id)


def wake_fetcher(job_id: int) -> None:
    """Wake a worker that fetches the file of a job from its host."""
    _send(FETCH_TASK, job_id)


def _send(task: str, job_id: int) -> None:
    global _paused_until
    if time.monotonic() < _paused_until:
        return
    try:
        # Let messages expire: the sweep sends new ones for jobs that no worker has taken.
        current_app.signature(task).apply_async((job_id,), retry=False, expires=EXPIRE_SECONDS)
    except Exception as error:  # noqa: BLE001 - the broker's client raises many kinds of errors, and the job is safe
        _paused_until = time.monotonic() + PAUSE
        logger.warning("import %s waits for the sweep: %s", job_id, error)
