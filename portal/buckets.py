"""The numbers of *Today*: how many records wait, their amounts, and the button that leads to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from orders.open_amounts import Amounts

MOST_COUNTED = 1_000


@dataclass(frozen=True)
class WorkBucket:
    """A number of *Today*. A bucket without records has no meaning (color) and no button."""

    name: str
    ids: Sequence[int]
    url: str
    button: str
    amounts: Amounts = field(default_factory=list)
    """The amount of at most `MOST_COUNTED` records, by currency."""
    color: str = ""
    note: str = ""
    """A short text below the number."""

    @property
    def count(self) -> str:
        return f"{MOST_COUNTED}+" if len(self.ids) > MOST_COUNTED else str(len(self.ids))

    @property
    def meaning(self) -> str:
        return self.color if self.ids else ""
