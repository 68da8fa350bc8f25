"""The bookmark of the relay, and the processes that send deliveries."""

from __future__ import annotations

from datetime import timedelta
from typing import Self

from django.db import models
from django.db.models.functions import Now


class RelayBookmark(models.Model):
    """The number of the last relayed event, in a single row. A relay locks the row to change the number."""

    number = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.number)

    @classmethod
    def lock(cls, *, wait: bool = True) -> int | None:
        """Lock the row and return the number. Without `wait`, return None if another process has the lock."""
        rows = cls.objects.select_for_update(skip_locked=not wait).filter(pk=1)
        number = rows.values_list("number", flat=True).first()
        if number is None and not cls.objects.filter(pk=1).exists():
            RelayBookmark.objects.bulk_create([RelayBookmark(pk=1)], ignore_conflicts=True)
            return cls.lock(wait=wait)
        return number


class SenderQuerySet(models.QuerySet["Sender"]):
    def alive(self) -> Self:
        return self.filter(seen_at__gt=Now() - Sender.LEASE)


class Sender(models.Model):
    """A process that sends deliveries. When its lease ends, other senders take its webhooks."""

    LEASE = timedelta(seconds=10)

    name = models.CharField(max_length=200, help_text="The host and the process id.")
    started_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())

    objects = SenderQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name
