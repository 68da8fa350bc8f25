"""Keyset pages: every page costs the same, and no page skips or repeats a row.

Each list is ordered by one column that is unique within the list (an id, or a retailer's `updated_at`), so a
position is a single value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypedDict, TypeVar

from django.db.models import Model, QuerySet
from rest_framework.request import Request

from api.cursors import read_cursor, write_cursor
from api.errors import Invalid, InvalidCursor
from api.fields import INTEGER, parse_moment
from api.links import same_url
from api.openapi.parameters import DEFAULT_LIMIT, MOST
from api.renderers import iso

M = TypeVar("M", bound=Model)
R = TypeVar("R")
J = TypeVar("J")

Fetch = Callable[[int | datetime | None, bool, int], list[R]]
"""A function that returns rows beyond a position. Its arguments are the position (or None), whether
the order is descending, and the maximum number of rows."""

FOREIGN_CURSOR = "cursor: belongs to another list or sort order. Start again without a cursor."


@dataclass(frozen=True)
class Page(Generic[R]):
    """One page of a list, with the absolute URLs of the next and the previous page."""

    items: list[R]
    next: str | None
    previous: str | None

    @property
    def headers(self) -> dict[str, str]:
        """Return the `Link` header (RFC 8288) for bodies that are plain arrays."""
        links = [f'<{self.next}>; rel="next"'] if self.next else []
        links += [f'<{self.previous}>; rel="prev"'] if self.previous else []
        return {"Link": ", ".join(links)} if links else {}


@dataclass(frozen=True)
class Keyset:
    """The order of a list: one unique column, with `-` before it for descending order."""

    order: str = "id"

    @property
    def column(self) -> str:
        return self.order.removeprefix("-")

    def page(self, queryset: QuerySet[M, R], request: Request, *, default: int = DEFAULT_LIMIT) -> Page[R]:
        """Return the page after the request's `cursor`, with at most `limit` rows.

        Raises Invalid for a limit outside 1 to 500, and InvalidCursor for a cursor of another list.
        """

        def fetch(beyond: int | datetime | None, descending: bool, count: int) -> list[R]:
            rows = queryset
            if beyond is not None:
                rows = rows.filter(**{f"{self.column}__{'lt' if descending else 'gt'}": beyond})
            return list(rows.order_by(f"{'-' if descending else ''}{self.column}")[:count])

        return self.page_by(fetch, request, default=default)

    def page_by(self, fetch: Fetch[R], request: Request, *, default: int = DEFAULT_LIMIT) -> Page[R]:
        """Return the page of rows that `fetch` reads, for a list without a queryset."""
        limit = read_limit(request, default=default)
        cursor = self._read(request.query_params.get("cursor", ""))
        backward = cursor is not None and cursor.backward
        descending = self.order.startswith("-") != backward
        try:
            rows = fetch(None if cursor is None else cursor.value, descending, limit + 1)
        except (TypeError, ValueError) as error:  # the cursor holds a value of another type
            if cursor is None:
                raise
            raise InvalidCursor(FOREIGN_CURSOR) from error
        more, items = len(rows) > limit, rows[:limit]
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
        return same_url(request, cursor=write_cursor(self.order, "<" if backward else ">", text))

    def _read(self, text: str) -> Cursor | None:
        if not text:
            return None
        try:
            order, side, position = read_cursor(text, parts=3)
        except ValueError:
            raise InvalidCursor("cursor: was not issued by this service.") from None
        value = _position(position) if order == self.order and side in ("<", ">") else None
        if value is None:
            raise InvalidCursor(FOREIGN_CURSOR)
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
    """Read the `limit` parameter. Raises Invalid for a value outside 1 to `most`."""
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
    """Return a page as a JSON object with links, as the lists of orders and imports return it.

    `results` are the items as JSON, or a function that turns one item into JSON.
    """
    items = [results(item) for item in page.items] if callable(results) else results
    return {"next": page.next, "previous": page.previous, "results": items}
