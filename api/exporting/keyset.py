"""Reads the rows of an export in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from django.db.models import Model, QuerySet

AT_ONCE = 500
M = TypeVar("M", bound=Model)


def newest_first(queryset: QuerySet[M]) -> Iterator[M]:
    """Yield all rows by keyset: a server-side cursor in autocommit would materialize all rows."""
    queryset, last = queryset.order_by("-pk"), None
    while True:
        page = list((queryset if last is None else queryset.filter(pk__lt=last))[:AT_ONCE])
        yield from page
        if len(page) < AT_ONCE:
            return
        last = page[-1].pk
