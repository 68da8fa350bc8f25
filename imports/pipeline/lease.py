"""Who works on a job: a worker takes it under a lease, and renews that while it lives."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import InterfaceError, OperationalError, connections, transaction
from django.db.models.functions import Now

from imports.models import LEASE, ImportJob, Status

HEARTBEAT_SECONDS = 2.5


def claim(job_id: int, owner: str) -> ImportJob | None:
    """Take the lease of a job, if it is free and no earlier one of its supplier and kind is unfinished."""
    with transaction.atomic():
        free = ImportJob.objects.free().filter(pk=job_id)
        job = free.select_for_update(skip_locked=True).first()
        if job is None or job.earlier().exists():
            return None
        job.start(owner)
    return job


@contextmanager
def heartbeat(job_id: int, owner: str) -> Iterator[None]:
    """Keep the lease while the block runs, from a thread and a connection of its own."""
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(HEARTBEAT_SECONDS):
            try:
                ImportJob.objects.filter(pk=job_id, owner=owner, status=Status.RUNNING).update(
                    lease_until=Now() + LEASE
                )
            except (OperationalError, InterfaceError):
                connections.close_all()
        connections.close_all()

    thread = threading.Thread(target=renew, daemon=True, name=f"lease of import {job_id}")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
