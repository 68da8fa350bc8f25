"""Filters of the operators' list of imports."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from accounts.operating.admin_filters import FlagFilter, M
from imports.models import Status

RECENT = timedelta(days=7)


class DryRunFilter(FlagFilter):
    """A filter for dry runs. Few imports are dry runs, so a partial index finds them quickly."""

    title, parameter_name, label = "dry runs", "dry_run", "Dry runs"

    @classmethod
    def narrow(cls, rows: QuerySet[M]) -> QuerySet[M]:
        return rows.filter(dry_run=True)


class RecentlyFailedFilter(FlagFilter):
    """A filter for failed imports of the last seven days. Suppliers may still ask about these imports.

    A dry run is left out: its author sees the result at once, and it was to change nothing.
    """

    title, parameter_name, label = "failed this week", "failed_this_week", "Failed this week"

    @classmethod
    def narrow(cls, rows: QuerySet[M]) -> QuerySet[M]:
        recent = timezone.now() - RECENT
        return rows.filter(status=Status.FAILED, dry_run=False, finished_at__gte=recent)
