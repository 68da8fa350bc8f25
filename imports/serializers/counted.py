"""The moment of a count, in pushes and files (contract 13)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.utils import timezone
from rest_framework.serializers import ValidationError

from api.fields import Moment
from api.renderers import iso

CLOCK_SKEW = timedelta(minutes=5)


class CountedAt(Moment):
    """An ISO 8601 date-time, at most five minutes ahead and not older than the stored movements."""

    def to_internal_value(self, data: object) -> datetime:
        moment = super().to_internal_value(data)
        if moment > timezone.now() + CLOCK_SKEW:
            raise ValidationError("Is in the future. Counts made before that time would be refused.")
        oldest = ledger_begins()
        if moment < oldest:
            message = f"Is too long ago. Movements of stock are only known since {iso(oldest)}."
            raise ValidationError(message)
        return moment


def ledger_begins() -> datetime:
    """Return the time after which all stock movements are still stored one by one."""
    if settings.STOCK_MOVEMENT_DAYS <= 0:
        return datetime.min.replace(tzinfo=UTC)
    return timezone.now() - timedelta(days=settings.STOCK_MOVEMENT_DAYS)
