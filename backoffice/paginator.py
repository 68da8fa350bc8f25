"""A paginator that stops counting at a cap."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet

CAP = 10_000


class CappedPaginator(Paginator[Any]):
    """A paginator that counts up to CAP rows. Operators reach later rows by filter or search."""

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        if not isinstance(rows, QuerySet):
            return len(rows)
        # Drop the ordering: it would make the database sort all rows before counting.
        return rows.order_by()[: CAP + 1].count()

    @property
    def cap(self) -> int:
        return CAP

    @property
    def capped(self) -> bool:
        """Whether the list has more than CAP rows."""
        return self.count > CAP
