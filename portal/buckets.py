"""Counts and amounts of waiting records with links to lists, as the page *Today* shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from orders.open_amounts import Amounts

MOST_COUNTED = 1_000


@dataclass(frozen=True)
class WorkBucket:
    """Waiting records of one kind, for a page such as *Today*. An empty bucket has no color or button."""

    name: str
    ids: Sequence[int]
    url: str
    button: str
    amounts: Amounts = field(default_factory=list)
    """The amounts of at most `MOST_COUNTED` records, by currency."""
    color: str = ""
    note: str = ""
    """A short text below the number."""

    @property
    def count(self) -> str:
        return f"{MOST_COUNTED}+" if len(self.ids) > MOST_COUNTED else str(len(self.ids))

    @property
    def meaning(self) -> str:
        return self.color if self.ids else ""
