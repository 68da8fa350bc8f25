"""The result of the last nightly reconcile."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

ONLY = 1
"""The id of the only row."""
ABANDONED = timedelta(hours=2)
"""The time after which another worker may repeat a run that has not ended."""


class Reconciliation(models.Model):
    """The start, the end and the number of differences of the last nightly run. The table has one row."""

    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    differences = models.PositiveIntegerField(default=0)

    class Meta:
        app_label = "orders"

    def __str__(self) -> str:
        return f"{self.differences} differences at {self.finished_at}"

    @classmethod
    def is_due(cls) -> bool:
        return cls._due().exists() or not cls.objects.exists()

    @classmethod
    def claim(cls) -> Reconciliation | None:
        """Begin tonight's run. Return None if no run is due, or if another worker has begun tonight's run."""
        cls.objects.get_or_create(pk=ONLY)
        begun = cls._due().update(started_at=timezone.now())
        return Reconciliation.objects.get(pk=ONLY) if begun else None

    @classmethod
    def _due(cls) -> models.QuerySet[Reconciliation]:
        now = timezone.now()
        rows = Reconciliation.objects.filter(Q(finished_at=None) | Q(finished_at__lt=_night(now)))
        return rows.filter(Q(started_at=None) | Q(started_at__lt=now - ABANDONED))

    def finish(self, differences: int) -> None:
        self.differences, self.finished_at = differences, timezone.now()
        self.save(update_fields=["differences", "finished_at"])


def _night(now: datetime) -> datetime:
    """Return the last time (UTC) at which a nightly run was due."""
    tonight = now.replace(hour=settings.RECONCILE_HOUR, minute=0, second=0, microsecond=0)
    return tonight if tonight <= now else tonight - timedelta(days=1)
