"""Filters of the admin's list of webhooks."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from accounts.operating.admin_filters import FlagFilter, M

LATELY = timedelta(minutes=10)


class FailingFilter(FlagFilter):
    """A filter for active webhooks whose receivers have accepted nothing for ten minutes."""

    title, parameter_name, label = "failing for ten minutes", "failing", "Failing for ten minutes"

    @classmethod
    def narrow(cls, rows: QuerySet[M]) -> QuerySet[M]:
        return rows.filter(failing_since__lt=timezone.now() - LATELY, active=True, removed_at=None)
