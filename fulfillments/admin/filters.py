"""Filters of the operators' list of fulfillments."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from accounts.operating.admin_filters import FlagFilter
from fulfillments.models import Fulfillment


class OverdueFilter(FlagFilter):
    """What suppliers should have done by now, as their partnerships say."""

    title, parameter_name, label = "overdue", "overdue", "Overdue"

    @classmethod
    def narrow(cls, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows & Fulfillment.objects.overdue()
