"""Filters of the admin's list of stock levels."""

from __future__ import annotations

from django.db.models import QuerySet

from accounts.operating.admin_filters import FlagFilter, M


class OverpromisedFilter(FlagFilter):
    """A filter for rows with more units reserved than on hand. A small partial index finds these rows."""

    title, parameter_name, label, chosen = "over-promised", "overpromised", "Over-promised", "yes"

    @classmethod
    def narrow(cls, rows: QuerySet[M]) -> QuerySet[M]:
        return rows.filter(overpromised=True)
