"""A job's way from a file to rows: stage, check, merge in ranges, report. See docs/adr/0020.

Each range is one transaction that moves the job's bookmark and counters as its last act, and only while
this worker still holds the lease. So a worker may be killed or paused at any instant: another goes on
behind the last range that was committed.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import uuid4

from django.db import InterfaceError, OperationalError, connection, connections, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from psycopg.sql import SQL

from imports import batches, lifecycle
from imports.importer import Importer, Run, importer_of
from imports.lifecycle import Canceled, Lost
from imports.models import LEASE, ImportJob, ImportPolicy, Status
from imports.preparing import prepare
from imports.reading import Unreadable
from imports.staging import refresh_statistics
from imports.staging import run as execute

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 2.5
# So many workers may die over one range before the file is taken for the cause.
MOST_ATTEMPTS = 5


def run_job(job_id: int) -> bool:
    """Take a job that waits, or whose worker went away, to its end; return whether it was there to take."""
    owner = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
    job = claim(job_id, owner)
    if job is None:
        return False
    try:
        with heartbeat(job.pk, owner):
            _to_the_end(job)
    except Lost:
        logger.warning("import %s: another worker has it now", job_id)
    except (OperationalError, InterfaceError):
        # Its lease runs out, and the sweep gives it to a worker that has a database.
        logger.exception("import %s: the database went away", job_id)
        if not connection.in_atomic_block:
            connection.close()
    return True


def claim(job_id: int, owner: str) -> ImportJob | None:
    """Take the lease of a job, if it is free and no earlier one of its supplier and kind is unfinished."""
    free = Q(status=Status.QUEUED) | Q(status=Status.RUNNING, lease_until__lt=Now())
    with transaction.atomic():
        job = ImportJob.objects.filter(free, pk=job_id).select_for_update(skip_locked=True).first()
        if job is None or lifecycle.earlier(job).exists():
            return None
        first = job.started_at is None
        ImportJob.objects.filter(pk=job.pk).update(
            status=Status.RUNNING,
            owner=owner,
            lease_until=Now() + LEASE,
            attempts=F("attempts") + 1,
            **({"started_at": Now()} if first else {}),
        )
        job.refresh_from_db()
        if first:
            lifecycle.record_event(job, "import.started")
    return job


@contextmanager
def heartbeat(job_id: int, owner: str) -> Iterator[None]:
    """Keep the lease while the block runs, from a thread and a connection of its own."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(HEARTBEAT_SECONDS):
            try:
                ImportJob.objects.filter(pk=job_id, owner=owner, status=Status.RUNNING).update(
                    lease_until=Now() + LEASE
                )
            except (OperationalError, InterfaceError):
                connections.close_all()
        connections.close_all()

    thread = threading.Thread(target=beat, daemon=True, name=f"lease of import {job_id}")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _to_the_end(job: ImportJob) -> None:
    if job.attempts > MOST_ATTEMPTS:
        at = f"after line {job.bookmark}" if job.bookmark else "before its first row landed"
        lifecycle.fail(job, "gave_up", f"{MOST_ATTEMPTS} workers ended {at}. An operator must look at it.")
        return
    try:
        importer = importer_of(job.kind)
        current = prepare(job, importer)
        if _brakes(current, importer):
            return
        _merge(current, importer)
        _finish(current, importer)
    except Canceled:
        lifecycle.end(job, Status.CANCELED, "import.canceled")
    except Unreadable as error:
        lifecycle.fail(job, error.code, error.message)
    except (OperationalError, InterfaceError, Lost):
        raise
    except Exception:
        logger.exception("import %s failed", job.pk)
        lifecycle.fail(
            job, "internal_error", "A fault of the service; it was logged. Retry, or quote the job's id."
        )


def _brakes(current: Run, importer: Importer) -> bool:
    """Whether the job now waits for approval; a dry run only tells that it would."""
    job = current.job
    if job.approved_at or job.bookmark:
        return False
    with transaction.atomic():
        reasons = importer.brake(current, ImportPolicy.of(job.supplier_id))
        if reasons and job.dry_run:
            lifecycle.hold(job, report={**job.report, "would_wait": reasons})
        elif reasons:
            lifecycle.await_approval(job, reasons)
    return bool(reasons) and not job.dry_run


def _merge(current: Run, importer: Importer) -> None:
    job = current.job
    while job.bookmark < job.last_line:
        job.refresh_from_db(fields=["cancel_requested"])
        if job.cancel_requested:
            raise Canceled
        refresh_statistics(importer.tables)
        with transaction.atomic():
            counts = batches.take(current, importer, job.bookmark, job.bookmark + batches.STEP)
            lifecycle.hold(job, attempts=0, bookmark=job.bookmark + batches.STEP, **counts)
        if counts["created"] or counts["updated"]:
            importer.landed()


def _finish(current: Run, importer: Importer) -> None:
    job = current.job
    with transaction.atomic():
        execute(SQL("SET LOCAL jit = off; SET LOCAL work_mem = '64MB'"))
        found: dict[str, Any] = importer.foresee(current) if job.dry_run else importer.finish(current)
        lifecycle.hold(job, report=batches.merged(job.report, found))
        bad = job.rejected > 0
        lifecycle.end(job, Status.SUCCEEDED_WITH_ERRORS if bad else Status.SUCCEEDED, "import.succeeded")
        if not job.dry_run:
            lifecycle.supersede(job)
            transaction.on_commit(partial(_landed, importer))


def _landed(importer: Importer) -> None:
    importer.landed()
