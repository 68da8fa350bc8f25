"""The moment of a count, in pushes and for files (contract 13)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework.serializers import ValidationError

from api.fields import Moment
from api.renderers import iso

CLOCK_SKEW = timedelta(minutes=5)


class CountedAt(Moment):
    """An ISO 8601 date-time, at most five minutes ahead, and within the time of which movements are kept."""

    def to_internal_value(self, data: Any) -> datetime:
        moment = super().to_internal_value(data)
        if moment > timezone.now() + CLOCK_SKEW:
            raise ValidationError("Is in the future: no later count would be taken until then.")
        oldest = ledger_begins()
        if moment < oldest:
            message = f"Is too long ago: what left since {iso(oldest)} is known, and nothing before."
            raise ValidationError(message)
        return moment


def ledger_begins() -> datetime:
    """From when on it is known what left and came back."""
    return timezone.now() - timedelta(days=settings.STOCK_MOVEMENT_DAYS)
