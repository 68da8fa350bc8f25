"""The lease of a job. A worker takes the lease and renews it while it works on the job."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import InterfaceError, OperationalError, connection, connections
from django.db.models.functions import Now

from imports.models import ImportJob, Status
from imports.pipeline.errors import Canceled
from imports.pipeline.workbook_parts import Check

HEARTBEAT_SECONDS = 2.5
logger = logging.getLogger(__name__)


def claim(job_id: int, owner: str) -> ImportJob | None:
    """Take the lease of a free job and return the job.

    Return None if the job is not free, or if an earlier job of its supplier and kind is unfinished.
    """
    _end_session_of_last_owner(job_id)
    job = ImportJob.claim(job_id, owner)
    if job is None:
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('application_name', %s, false)", [session_name(owner)])
    return job


def session_name(owner: str) -> str:
    """Return the name of a worker's database session during its job, with the last part of `owner`."""
    return f"import {owner.rpartition(':')[2]}"


def _end_session_of_last_owner(job_id: int) -> None:
    """End the database session of a worker that stopped renewing its lease.

    The open transaction of that worker may hold locks, even on the job. Find the session by its name: behind
    a connection pooler, the session's process id may now serve another client.
    """
    lost = ImportJob.objects.filter(pk=job_id, status=Status.RUNNING, lease_until__lt=Now())
    owner = lost.values_list("owner", flat=True).first()
    if not owner:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid, 2000)) FROM pg_stat_activity"
            " WHERE application_name = %s AND usename = current_user AND pid <> pg_backend_pid()",
            [session_name(owner)],
        )
        (ended,) = cursor.fetchone()
    if ended:
        logger.warning("import %s: ended the session of its last worker, which did not respond", job_id)


@contextmanager
def heartbeat(job_id: int, owner: str) -> Iterator[Check]:
    """Renew the lease while the block runs, from a thread with its own connection.

    Yield a function that raises Canceled once a person has asked to cancel the job.
    """
    ended, canceled = threading.Event(), threading.Event()

    def check() -> None:
        if canceled.is_set():
            raise Canceled

    def renew() -> None:
        while not ended.wait(HEARTBEAT_SECONDS):
            try:
                mine = ImportJob.objects.filter(pk=job_id, owner=owner, status=Status.RUNNING)
                mine.update(lease_until=Now() + ImportJob.LEASE)
                if mine.filter(cancel_requested=True).exists():
                    canceled.set()
            except (OperationalError, InterfaceError):
                connections.close_all()
        connections.close_all()

    thread = threading.Thread(target=renew, daemon=True, name=f"lease of import {job_id}")
    thread.start()
    try:
        yield check
    finally:
        ended.set()
        thread.join()
