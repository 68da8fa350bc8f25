"""A job's file comes from a supplier's own host before any worker of imports has to do with it (ADR 60).

The job stays `queued` meanwhile, so that it can be canceled at once. Nothing is written down in the database:
whoever fetches holds the supplier's slot in Redis, and where that is lost two may fetch, and one file stays.
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
from imports import wake
from imports.models import WORKER, ImportJob, Status
from sftp_ingest.remote.connection import RemoteFailed
from sftp_ingest.remote.fetching import fetch

logger = logging.getLogger(__name__)

# Whoever fetches renews the slot each second or so; what is not renewed for so long has died.
SLOT_SECONDS = 60
LOOK_SECONDS = 1.0


class Unwanted(Exception):
    """The job does not wait for its file any more."""


def fetch_file(job_id: int) -> bool:
    """Fetch the file of a job that waits for it, one at a time for each supplier; whether it is there now."""
    job = ImportJob.objects.select_related("supplier").get(pk=job_id)
    slot = Lock(_client(), f"imports:fetching:{job.supplier_id}", timeout=SLOT_SECONDS)
    if not job.lacks_file or not slot.acquire(blocking=False):
        return False
    try:
        with job.request_carried_on():
            return _fetch(job, slot)
    finally:
        with suppress(RedisError):  # it is another's by now, or ends by itself
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
    if not waiting.update(blob=blob):
        return False
    wake.wake(job.pk)
    return True


def _still_wanted(job_id: int, slot: Lock) -> Callable[[], None]:
    """A check for each piece of the file: it looks now and then. Raises Unwanted."""
    looked_at = time.monotonic()

    def check() -> None:
        nonlocal looked_at
        if time.monotonic() - looked_at < LOOK_SECONDS:
            return
        looked_at = time.monotonic()
        with suppress(RedisError):  # another has it: two fetch, and one file stays
            slot.reacquire()
        if not ImportJob.objects.filter(pk=job_id, status=Status.QUEUED).exists():
            raise Unwanted

    return check


def _wake_next(job: ImportJob) -> None:
    """The supplier's slot is free: another file of his may be fetched."""
    waiting = ImportJob.objects.filter(supplier_id=job.supplier_id, status=Status.QUEUED)
    for other in waiting.exclude(pk=job.pk).order_by("pk")[:10]:
        if other.lacks_file:
            wake.wake_fetcher(other.pk)
            return
