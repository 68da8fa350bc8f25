"""Reading of an export's rows in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from django.db.models import Model, QuerySet

AT_ONCE = 500
M = TypeVar("M", bound=Model)


def newest_first(queryset: QuerySet[M]) -> Iterator[M]:
    """Return all rows, newest first. Read pages: each page begins below the last id of the previous page.

    A server-side cursor in autocommit would materialize all rows in the database. The first page is read
    immediately: a failure before the first byte of the answer can still become an error answer.
    """
    ordered = queryset.order_by("-pk")
    return _and_older(ordered, list(ordered[:AT_ONCE]))


def _and_older(ordered: QuerySet[M], page: list[M]) -> Iterator[M]:
    while True:
        yield from page
        if len(page) < AT_ONCE:
            return
        page = list(ordered.filter(pk__lt=page[-1].pk)[:AT_ONCE])
