"""Waking a worker for a job. Nobody may be woken: the sweep finds the job all the same."""

from __future__ import annotations

import logging
import time
from functools import partial

from celery import current_app
from django.db import transaction

# By its name: the task's module imports what runs the job, which imports this.
RUN_TASK = "imports.tasks.run"
logger = logging.getLogger(__name__)
# For so many seconds after a failure nobody is woken: the sweep comes by, and no request waits in vain.
PAUSE = 5.0
_paused_until = 0.0


def wake_after_commit(job_id: int) -> None:
    transaction.on_commit(partial(wake, job_id))


def wake(job_id: int) -> None:
    """Wake a worker for a job, if that can be done at once."""
    global _paused_until
    if time.monotonic() < _paused_until:
        return
    try:
        current_app.signature(RUN_TASK).apply_async((job_id,), retry=False)
    except Exception as error:  # noqa: BLE001 - whatever the broker's client raises, the job is safe
        _paused_until = time.monotonic() + PAUSE
        logger.warning("import %s waits for the sweep: %s", job_id, error)
