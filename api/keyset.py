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
from typing import Any, Generic, TypeVar

from django.db.models import Model, QuerySet
from rest_framework.request import Request

from api.errors import Invalid, InvalidCursor
from api.fields import INTEGER, parse_moment
from api.links import here
from api.renderers import iso

M = TypeVar("M", bound=Model)
R = TypeVar("R")

DEFAULT_LIMIT, MOST = 100, 500
FOREIGN_CURSOR = InvalidCursor("cursor: belongs to another list or another order of it.")


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
        limit = read_limit(request, default=default)
        cursor = self._read(request.query_params.get("cursor", ""))
        backward = cursor is not None and cursor.backward
        descending = self.order.startswith("-") != backward
        if cursor is not None:
            side = "lt" if descending else "gt"
            try:
                queryset = queryset.filter(**{f"{self.column}__{side}": cursor.value})
            except (TypeError, ValueError) as error:  # a moment where the column holds numbers
                raise FOREIGN_CURSOR from error
        found = list(queryset.order_by(f"{'-' if descending else ''}{self.column}")[: limit + 1])
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
        return here(request, cursor=base64.urlsafe_b64encode(raw).decode().rstrip("="))

    def _read(self, text: str) -> Cursor | None:
        if not text:
            return None
        try:
            order, side, position = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        except (ValueError, TypeError, binascii.Error, RecursionError):
            raise InvalidCursor("cursor: is not one that this service gave out.") from None
        value = _position(position) if order == self.order and side in ("<", ">") else None
        if value is None:
            raise FOREIGN_CURSOR
        return Cursor(value, backward=side == "<")


@dataclass(frozen=True)
class Cursor:
    value: int | datetime
    backward: bool


def _position(text: Any) -> int | datetime | None:
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


def listing(page: Page[Any], results: list[Any] | Callable[[Any], Any]) -> dict[str, Any]:
    """A page as the object that lists of orders and imports answer with.

    `results`: what its items are answered as, all together or by a function of one.
    """
    answered = [results(item) for item in page.items] if callable(results) else results
    return {"next": page.next, "previous": page.previous, "results": answered}
