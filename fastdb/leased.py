"""The work queue: rows that a worker holds under a lease. The table is the queue; Celery only wakes workers.

If a worker is killed, its row is free again after LEASE, and the next sweep wakes another worker. With a
sweep every 5 seconds, the new worker starts at most 15 seconds after the old worker was killed. A slow worker
that lost its row can no longer write, because `held()` matches only rows of its own owner name.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from datetime import timedelta
from typing import ClassVar, Self
from uuid import uuid4

from celery import current_app
from django.db import models, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

logger = logging.getLogger(__name__)

FREE = Q(lease_until=None) | Q(lease_until__lt=Now())
AT_ONCE = 20  # the largest number of rows for which one sweep wakes workers

PAUSE = 5.0
"""Seconds without messages after a failed message, so that requests do not wait for a broker that is down."""
EXPIRE_SECONDS = 30
"""Seconds until a message that no worker took is dropped. By then, the sweep has sent newer messages."""
_paused_until = 0.0


class LeaseLost(Exception):
    """The error of a worker that no longer holds its row. The worker's transaction must be rolled back."""


class LeasedWork(models.Model):
    """A row of work that at most one worker holds at a time."""

    LEASE: ClassVar = timedelta(seconds=8)

    owner = models.CharField(max_length=100, blank=True, db_default="", editable=False)
    lease_until = models.DateTimeField(null=True, editable=False)

    class Meta:
        abstract = True

    @classmethod
    def to_do(cls) -> Q:
        """Return the condition that finds the rows that need a worker."""
        raise NotImplementedError

    @classmethod
    def free(cls) -> QuerySet[Self]:
        """Return the rows that need a worker, and that no worker holds under a valid lease."""
        return cls._base_manager.filter(cls.to_do(), FREE)

    @classmethod
    def unfinished(cls) -> list[int]:
        """Return the ids of the oldest free rows. The sweep wakes workers for these rows."""
        return [*cls.free().order_by("pk").values_list("pk", flat=True)[:AT_ONCE]]

    @classmethod
    def claim(cls, pk: int, owner: str) -> Self | None:
        """Lease a row for this owner and return the row; None if the row is not free or may not start now."""
        with transaction.atomic():
            work = cls.free().select_for_update(skip_locked=True, of=("self",)).filter(pk=pk).first()
            if work is None or not work.may_start():
                return None
            work.take(owner)
        return work

    def may_start(self) -> bool:
        """Return whether other rows allow a worker to start this row. The caller has locked this row."""
        return True

    def take(self, owner: str) -> None:
        """Write the lease. The caller has locked the row and checked that no worker holds it."""
        type(self)._base_manager.filter(pk=self.pk).update(owner=owner, lease_until=Now() + self.LEASE)
        self.refresh_from_db()

    def held(self) -> QuerySet[Self]:
        """Return this row if this worker still holds it. Every write of a worker must use this queryset."""
        return type(self)._base_manager.filter(pk=self.pk, owner=self.owner).exclude(owner="")

    def extend(self) -> None:
        """Renew the lease. Raises LeaseLost."""
        if not self.held().update(lease_until=Now() + self.LEASE):
            raise LeaseLost

    def release(self) -> None:
        """Give the lease back, unless another worker already holds the row."""
        self.held().update(owner="", lease_until=None)


def new_owner() -> str:
    """Return a unique name for this worker and one claim."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"


def wake(task: str, *arguments: object) -> None:
    """Send a message that wakes a worker.

    If the broker does not answer at once, the next sweep wakes a worker.
    """
    global _paused_until
    if time.monotonic() < _paused_until:
        return
    try:
        current_app.signature(task).apply_async(arguments, retry=False, expires=EXPIRE_SECONDS)
    except Exception as error:  # noqa: BLE001 - the client may raise anything; the sweep finds the row
        _paused_until = time.monotonic() + PAUSE
        logger.warning("%s%s waits for the sweep: %s", task, arguments, error)
