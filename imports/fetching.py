"""Fetch a job's file from the supplier's own host before an import worker takes the job (ADR 60).

The job stays `queued` during the fetch, so that it can be canceled at once. The fetcher holds the supplier's
slot, a lock in Redis. If the slot is lost, two workers may fetch the file, and the job keeps one copy.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable
from contextlib import suppress

import redis
from django.conf import settings
from redis.exceptions import RedisError
from redis.lock import Lock

from api.redis_clients import redis_client
from imports import job_files, wake
from imports.models import WORKER, ImportJob, Status
from sftp_ingest.remote.connection import RemoteFailed
from sftp_ingest.remote.fetching import fetch

logger = logging.getLogger(__name__)

# The fetcher renews its slot every second. A slot that was not renewed for this long belongs to a dead
# worker.
SLOT_SECONDS = 60
LOOK_SECONDS = 1.0


class Unwanted(Exception):
    """The job no longer waits for its file."""


def fetch_file(job_id: int) -> bool:
    """Fetch the file of a waiting job and return whether it was stored.

    Return False at once if another worker is fetching a file of the same supplier.
    """
    job = ImportJob.objects.select_related("supplier").get(pk=job_id)
    slot = Lock(_client(), f"imports:fetching:{job.supplier_id}", timeout=SLOT_SECONDS)
    if not job.lacks_file or not slot.acquire(blocking=False):
        return False
    try:
        with job.request_carried_on():
            return _fetch(job, slot)
    finally:
        with suppress(RedisError):  # another worker has the slot, or Redis fails and the slot expires
            slot.release()
        _wake_next(job)


@functools.cache
def _client() -> redis.Redis:
    return redis_client(settings.REDIS_URL, seconds=1.0)


def _fetch(job: ImportJob, slot: Lock) -> bool:
    try:
        blob = fetch(job.supplier, job.source, check=_still_wanted(job.pk, slot))
    except Unwanted:
        logger.info("import %s was canceled while its file was fetched", job.pk)
        return False
    except RemoteFailed as error:
        job.refuse(error.code, error.message, by=WORKER)
        return False
    waiting = ImportJob.objects.filter(pk=job.pk, status=Status.QUEUED, blob=None)
    try:
        with job_files.room_for(job.supplier, blob.size):
            stored = waiting.update(blob=blob)
    except job_files.QuotaExceeded as error:
        job.refuse(error.code, error.message, by=WORKER)
        return False
    if not stored:
        return False
    wake.wake(job.pk)
    return True


def _still_wanted(job_id: int, slot: Lock) -> Callable[[], None]:
    """Return a function to call after each chunk. It raises Unwanted if the job is no longer queued.

    Once a second, the function renews the slot and reads the job's status from the database.
    """
    looked_at = time.monotonic()

    def check() -> None:
        nonlocal looked_at
        if time.monotonic() - looked_at < LOOK_SECONDS:
            return
        looked_at = time.monotonic()
        with suppress(RedisError):  # if another worker has the slot, continue: only the first file is stored
            slot.reacquire()
        if not ImportJob.objects.filter(pk=job_id, status=Status.QUEUED).exists():
            raise Unwanted

    return check


def _wake_next(job: ImportJob) -> None:
    """Wake a fetcher for another job of the supplier, because the supplier's slot is free."""
    waiting = ImportJob.objects.filter(supplier_id=job.supplier_id, status=Status.QUEUED)
    for other in waiting.exclude(pk=job.pk).order_by("pk")[:10]:
        if other.lacks_file:
            wake.wake_fetcher(other.pk)
            return
