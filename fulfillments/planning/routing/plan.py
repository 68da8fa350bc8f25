"""What routing is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from fulfillments.planning.partners import PartnerRow
from inventory.reservations import StockKey

Place = tuple[int, int]
"""A supplier's id and a warehouse's id: where one fulfillment comes from."""


class Agreed(NamedTuple):
    """What a fulfillment's line keeps of its variant as it is when the line is placed (contract 13).

    The price is None where the supplier gives none.
    """

    sku: str
    upc: str
    title: str
    wholesale_price: Decimal | None


@dataclass(frozen=True)
class Candidate:
    """A supplier's variant that could fill a line; `cost` is what a piece costs, in the currency's unit."""

    variant_id: int
    supplier_id: int
    partnership: PartnerRow
    cost: Decimal
    priority: int
    default_warehouse_id: int | None
    agreed: Agreed = field(compare=False)  # the variant says which it is
    takes_short: bool = True
    waits: bool = False  # what is short stays with the order until stock arrives
    refused: bool = False  # this supplier does not have this line's goods at all: it is not asked again

    @property
    def rank(self) -> tuple[Decimal, int, int]:
        """The cheaper first, then the supplier's priority, then the older supplier."""
        return self.cost, self.priority, self.supplier_id

    @property
    def default_place(self) -> Place | None:
        """Where its supplier ships from what it does not have in stock."""
        return None if self.default_warehouse_id is None else (self.supplier_id, self.default_warehouse_id)


@dataclass(frozen=True)
class Want:
    """So many pieces for a line, from any of its candidates, but from no place that refused it before."""

    line: int
    quantity: int
    candidates: tuple[Candidate, ...]
    refused_places: frozenset[Place] = frozenset()

    def may_come_from(self, candidate: Candidate, warehouse_id: int) -> bool:
        """Whether this place can still be asked."""
        return not candidate.refused and (candidate.supplier_id, warehouse_id) not in self.refused_places


@dataclass(frozen=True)
class Allocation:
    """What one place ships for one line; `reserved` of it is to be set aside, the rest is short."""

    line: int
    candidate: Candidate
    warehouse_id: int
    quantity: int
    reserved: int

    @property
    def stock_key(self) -> StockKey:
        return self.candidate.variant_id, self.warehouse_id

    @property
    def place(self) -> Place:
        return self.candidate.supplier_id, self.warehouse_id


@dataclass
class Plan:
    """Where each line goes, and what nobody could take (pieces by line)."""

    allocations: list[Allocation] = field(default_factory=list)
    unfilled: dict[int, int] = field(default_factory=dict)

    @property
    def places(self) -> set[Place]:
        return {allocation.place for allocation in self.allocations}
