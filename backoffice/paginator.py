"""Pages of the admin, without counting what nobody reads to the end."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet

CAP = 10_000


class CappedPaginator(Paginator[Any]):
    """Counts up to CAP rows: the last of a million is found by filter or search, not by paging."""

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        if not isinstance(rows, QuerySet):
            return len(rows)
        # An ordering would make the database sort all rows before it counts the first of them.
        return rows.order_by()[: CAP + 1].count()

    @property
    def cap(self) -> int:
        return CAP

    @property
    def capped(self) -> bool:
        """Whether there is more than is counted."""
        return self.count > CAP
