"""Filters of the operators' list of stock."""

from __future__ import annotations

from django.db.models import QuerySet

from accounts.operating.admin_filters import FlagFilter, M


class OverpromisedFilter(FlagFilter):
    """Rows of which more is reserved than is there, from their own small index."""

    title, parameter_name, label, chosen = "promised beyond the stock", "overpromised", "Yes", "yes"

    @classmethod
    def narrow(cls, rows: QuerySet[M]) -> QuerySet[M]:
        return rows.filter(overpromised=True)
