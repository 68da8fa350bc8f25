"""Pages by keyset: each costs the same, wherever it begins, and none skips or repeats a row.

Every list here is ordered by one column that is unique within the list (an id, or a retailer's
`updated_at`), so the position is a single value.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypedDict, TypeVar

from django.db.models import Model, QuerySet
from rest_framework.request import Request

from api.errors import Invalid, InvalidCursor
from api.fields import INTEGER, parse_moment
from api.links import same_url
from api.openapi.parameters import DEFAULT_LIMIT, MOST
from api.renderers import iso

M = TypeVar("M", bound=Model)
R = TypeVar("R")
J = TypeVar("J")

Fetch = Callable[[int | datetime | None, bool, int], list[R]]
"""Rows beyond a position (or from the end of the list), descending or not, and so many at most."""

FOREIGN_CURSOR = InvalidCursor("cursor: belongs to another list or sort order.")


@dataclass(frozen=True)
class Page(Generic[R]):
    """One page of a list, and the absolute links to its neighbours."""

    items: list[R]
    next: str | None
    previous: str | None

    @property
    def headers(self) -> dict[str, str]:
        """The `Link` header (RFC 8288) for bodies that are plain arrays."""
        links = [f'<{self.next}>; rel="next"'] if self.next else []
        links += [f'<{self.previous}>; rel="prev"'] if self.previous else []
        return {"Link": ", ".join(links)} if links else {}


@dataclass(frozen=True)
class Keyset:
    """A list's order: one unique column, `-` before it for the newest first."""

    order: str = "id"

    @property
    def column(self) -> str:
        return self.order.removeprefix("-")

    def page(self, queryset: QuerySet[M, R], request: Request, *, default: int = DEFAULT_LIMIT) -> Page[R]:
        """The page that the request's `cursor` and `limit` ask for.

        Raises Invalid for a limit outside 1 to 500, InvalidCursor for a cursor that is not of this list.
        """

        def fetch(beyond: int | datetime | None, descending: bool, count: int) -> list[R]:
            rows = queryset
            if beyond is not None:
                rows = rows.filter(**{f"{self.column}__{'lt' if descending else 'gt'}": beyond})
            return list(rows.order_by(f"{'-' if descending else ''}{self.column}")[:count])

        return self.page_by(fetch, request, default=default)

    def page_by(self, fetch: Fetch[R], request: Request, *, default: int = DEFAULT_LIMIT) -> Page[R]:
        """The same, of rows that are not a queryset's."""
        limit = read_limit(request, default=default)
        cursor = self._read(request.query_params.get("cursor", ""))
        backward = cursor is not None and cursor.backward
        descending = self.order.startswith("-") != backward
        try:
            found = fetch(None if cursor is None else cursor.value, descending, limit + 1)
        except (TypeError, ValueError) as error:  # a moment where the column holds numbers
            if cursor is None:
                raise
            raise FOREIGN_CURSOR from error
        more, items = len(found) > limit, found[:limit]
        if backward:
            items.reverse()
        return Page(
            items,
            next=self._link(request, items[-1:], backward=False) if more or backward else None,
            previous=self._link(request, items[:1], backward=True)
            if (more if backward else cursor)
            else None,
        )

    def _link(self, request: Request, edge: list[R], *, backward: bool) -> str | None:
        if not edge:
            return None
        value = getattr(edge[0], self.column)
        text = iso(value) if isinstance(value, datetime) else str(value)
        raw = json.dumps([self.order, "<" if backward else ">", text]).encode()
        return same_url(request, cursor=base64.urlsafe_b64encode(raw).decode().rstrip("="))

    def _read(self, text: str) -> Cursor | None:
        if not text:
            return None
        try:
            order, side, position = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        except (ValueError, TypeError, binascii.Error, RecursionError):
            raise InvalidCursor("cursor: was not issued by this service.") from None
        value = _position(position) if order == self.order and side in ("<", ">") else None
        if value is None:
            raise FOREIGN_CURSOR
        return Cursor(value, backward=side == "<")


@dataclass(frozen=True)
class Cursor:
    value: int | datetime
    backward: bool


def _position(text: object) -> int | datetime | None:
    if not isinstance(text, str):
        return None
    if INTEGER.fullmatch(text) and len(text) <= 18:
        return int(text)
    return parse_moment(text)


def read_limit(request: Request, *, default: int = DEFAULT_LIMIT, most: int = MOST) -> int:
    """The `limit` parameter. Raises Invalid outside 1 to the most."""
    text = request.query_params.get("limit", "")
    if not text:
        return default
    if not INTEGER.fullmatch(text) or len(text) > 9 or not 1 <= int(text) <= most:
        raise Invalid.at("limit", f"Must be a whole number from 1 to {most}.")
    return int(text)


class ListingJson(TypedDict, Generic[J]):
    next: str | None
    previous: str | None
    results: list[J]


def listing(page: Page[R], results: list[J] | Callable[[R], J]) -> ListingJson[J]:
    """A page as the object that lists of orders and imports answer with.

    `results`: the items as JSON, or a function that makes JSON of one.
    """
    answered = [results(item) for item in page.items] if callable(results) else results
    return {"next": page.next, "previous": page.previous, "results": answered}
