"""Reads the rows of an export in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from django.db.models import Model, QuerySet

AT_ONCE = 500
M = TypeVar("M", bound=Model)


def newest_first(queryset: QuerySet[M]) -> Iterator[M]:
    """Return all rows by keyset: a server-side cursor in autocommit would materialize all rows.

    The first rows are read at once, because a failure before the first byte can still get an error answer.
    """
    ordered = queryset.order_by("-pk")
    return _and_older(ordered, list(ordered[:AT_ONCE]))


def _and_older(ordered: QuerySet[M], page: list[M]) -> Iterator[M]:
    while True:
        yield from page
        if len(page) < AT_ONCE:
            return
        page = list(ordered.filter(pk__lt=page[-1].pk)[:AT_ONCE])
