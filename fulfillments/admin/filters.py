from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from accounts.operating.admin_filters import FlagFilter
from fulfillments.models import Fulfillment


class OverdueFilter(FlagFilter):
    """Keeps fulfillments whose time limit has passed."""

    title, parameter_name, label = "overdue", "overdue", "Overdue"

    @classmethod
    def narrow(cls, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows & Fulfillment.objects.overdue()
