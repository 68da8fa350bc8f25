"""The work queue: rows that a worker holds under a lease. The table is the queue; Celery only wakes workers.

A killed worker's row is free again after LEASE, and the next sweep wakes another worker: within 15 seconds.
A worker that was only slow is fenced: `held()` matches no row once another owner has it.
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
AT_ONCE = 20  # rows of one sweep

PAUSE = 5.0
"""Seconds without a try to wake after a failure, so that requests do not wait for a broker that is down."""
EXPIRE_SECONDS = 30
"""A message that no worker took in time is dropped: the sweep has sent newer ones."""
_paused_until = 0.0


class LeaseLost(Exception):
    """This worker no longer holds its row, so the rest of its transaction must not be committed."""


class LeasedWork(models.Model):
    """A row of work that one worker at a time holds."""

    LEASE: ClassVar = timedelta(seconds=8)

    owner = models.CharField(max_length=100, blank=True, db_default="", editable=False)
    lease_until = models.DateTimeField(null=True, editable=False)

    class Meta:
        abstract = True

    @classmethod
    def to_do(cls) -> Q:
        """Return the condition of rows that need a worker."""
        raise NotImplementedError

    @classmethod
    def free(cls) -> QuerySet[Self]:
        """Return the rows that need a worker and have none, or whose worker let the lease expire."""
        return cls._base_manager.filter(cls.to_do(), FREE)

    @classmethod
    def unfinished(cls) -> list[int]:
        """Return the oldest free rows, for the sweep that wakes workers for them."""
        return [*cls.free().order_by("pk").values_list("pk", flat=True)[:AT_ONCE]]

    @classmethod
    def claim(cls, pk: int, owner: str) -> Self | None:
        """Lease a row for this owner and return it; None if it is not free or may not start now."""
        with transaction.atomic():
            work = cls.free().select_for_update(skip_locked=True, of=("self",)).filter(pk=pk).first()
            if work is None or not work.may_start():
                return None
            work.take(owner)
        return work

    def may_start(self) -> bool:
        """Return whether other rows allow a worker to start this one. The row is locked."""
        return True

    def take(self, owner: str) -> None:
        """Write the lease. The row is locked and free."""
        type(self)._base_manager.filter(pk=self.pk).update(owner=owner, lease_until=Now() + self.LEASE)
        self.refresh_from_db()

    def held(self) -> QuerySet[Self]:
        """Return this row if this worker still holds it. Every write of a worker goes through this."""
        return type(self)._base_manager.filter(pk=self.pk, owner=self.owner).exclude(owner="")

    def extend(self) -> None:
        """Renew the lease. Raises LeaseLost."""
        if not self.held().update(lease_until=Now() + self.LEASE):
            raise LeaseLost

    def release(self) -> None:
        """Give the row back, unless another worker holds it by now."""
        self.held().update(owner="", lease_until=None)


def new_owner() -> str:
    """Return the name of a worker for one claim."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"


def wake(task: str, *arguments: object) -> None:
    """Wake a worker, if the broker answers at once. Otherwise the sweep does it."""
    global _paused_until
    if time.monotonic() < _paused_until:
        return
    try:
        current_app.signature(task).apply_async(arguments, retry=False, expires=EXPIRE_SECONDS)
    except Exception as error:  # noqa: BLE001 - the broker's client may raise anything; the row is safe
        _paused_until = time.monotonic() + PAUSE
        logger.warning("%s%s waits for the sweep: %s", task, arguments, error)
