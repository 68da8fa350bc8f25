"""The share of webhooks whose deliveries this process sends. All running senders divide the webhooks.

A webhook has one sender at a time, so its deliveries keep their order. When the lease of a sender ends, other
senders take its webhooks.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Collection
from datetime import timedelta

from django.db.models import F, Q
from django.db.models.functions import Mod, Now

from events.models import Sender, Webhook

RENEW_SECONDS = 1.0
# Stop sending this many seconds before the lease ends, because other senders may take the webhooks after it.
STOP_BEFORE = 3.0
FORGET_AFTER = timedelta(hours=1)


class SenderShare:
    """The lease of this process, and its share of the webhooks."""

    def __init__(self) -> None:
        self.name = f"{socket.gethostname()}:{os.getpid()}"
        self._sender: Sender | None = None
        self._renewed_at = 0.0
        self._index, self._count = 0, 1

    @property
    def sender_id(self) -> int:
        return self._sender.pk if self._sender else 0

    def is_mine(self, webhook_id: int) -> bool:
        """Return whether the webhook was in the share of this process when the lease was last renewed."""
        return webhook_id % self._count == self._index

    def is_alive(self) -> bool:
        """Return whether this process may send: its lease lasts for more than STOP_BEFORE seconds."""
        return time.monotonic() - self._renewed_at < Sender.LEASE.total_seconds() - STOP_BEFORE

    def renew(self, busy: Collection[int]) -> bool:
        """Renew the lease, take the webhooks of this share, and release all others except `busy` webhooks.

        Return False if the lease had ended. Other senders may then have sent the deliveries in memory.
        """
        now = time.monotonic()
        since = now - self._renewed_at
        if self._sender is not None and since < RENEW_SECONDS:
            return True
        self._show_life()
        alive = list(Sender.objects.alive().order_by("pk").values_list("pk", flat=True))
        if self.sender_id not in alive:  # this call took longer than a lease
            return False
        self._index, self._count = alive.index(self.sender_id), len(alive)
        webhooks = Webhook.objects.annotate(share=Mod(F("id"), self._count))
        mine, others = Q(share=self._index), ~Q(share=self._index)
        webhooks.filter(others, sender=self.sender_id).exclude(pk__in=busy).update(sender=None)
        free = Q(sender=None) | ~Q(sender__in=alive)
        webhooks.filter(mine, free, removed_at=None).update(sender=self.sender_id)
        self._renewed_at = now
        return since < Sender.LEASE.total_seconds()

    def _show_life(self) -> None:
        if self._sender is None or not Sender.objects.filter(pk=self._sender.pk).update(seen_at=Now()):
            Sender.objects.filter(seen_at__lt=Now() - FORGET_AFTER).delete()
            self._sender = Sender(name=self.name)
            self._sender.save(force_insert=True)

    def leave(self) -> None:
        """Release all webhooks immediately when the process stops."""
        if self._sender is not None:
            self._sender.delete()
            self._sender = None
