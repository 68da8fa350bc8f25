"""The input and the output of routing."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from fulfillments.planning.partners import PartnerRow
from inventory.reservations import StockKey

WarehouseKey = tuple[int, int]
"""A supplier's id and a warehouse's id: the source of one fulfillment."""


class Agreed(NamedTuple):
    """The values of a variant at the moment of routing, which a fulfillment's line keeps (contract 13).

    The price is None if the supplier gives no wholesale price.
    """

    sku: str
    upc: str
    title: str
    wholesale_price: Decimal | None


@dataclass(frozen=True)
class Candidate:
    """A supplier's variant that could fill a line; `cost` is the price per unit of goods.

    With `waits`, short units stay unrouted until stock arrives. With `refused`, routing does not ask this
    supplier again for the line. `comparable` is False if the candidates of the order have costs in several
    currencies.
    """

    variant_id: int
    supplier_id: int
    partnership: PartnerRow
    cost: Decimal
    priority: int
    default_warehouse_id: int | None
    agreed: Agreed = field(compare=False)  # not compared, because variant_id identifies the candidate
    takes_short: bool = True
    waits: bool = False
    refused: bool = False
    comparable: bool = True

    @property
    def compared_cost(self) -> Decimal:
        """The cost for comparisons: 0 if the candidates have several currencies (docs/adr/0108)."""
        return self.cost if self.comparable else Decimal()

    @property
    def rank(self) -> tuple[Decimal, int, int]:
        """The sort key: the lower cost, then the supplier's lower `priority`, then the older supplier."""
        return self.compared_cost, self.priority, self.supplier_id

    @property
    def default_warehouse(self) -> WarehouseKey | None:
        """The warehouse for units that the supplier does not have in stock yet."""
        return None if self.default_warehouse_id is None else (self.supplier_id, self.default_warehouse_id)


@dataclass(frozen=True)
class Want:
    """The units that a line needs, its candidates, and the warehouses that refused the line before."""

    line: int
    quantity: int
    candidates: tuple[Candidate, ...]
    refused_warehouses: frozenset[WarehouseKey] = frozenset()

    def may_come_from(self, candidate: Candidate, warehouse_id: int) -> bool:
        """Return whether the candidate's supplier and this warehouse have not refused the line."""
        return not candidate.refused and (candidate.supplier_id, warehouse_id) not in self.refused_warehouses


@dataclass(frozen=True)
class Allocation:
    """The units that one warehouse ships for one line. Units above the number `reserved` are short."""

    line: int
    candidate: Candidate
    warehouse_id: int
    quantity: int
    reserved: int

    @property
    def stock_key(self) -> StockKey:
        return self.candidate.variant_id, self.warehouse_id

    @property
    def warehouse(self) -> WarehouseKey:
        return self.candidate.supplier_id, self.warehouse_id


@dataclass
class Plan:
    """The allocations of each line, and the unfilled units by line."""

    allocations: list[Allocation] = field(default_factory=list)
    unfilled: dict[int, int] = field(default_factory=dict)

    @property
    def warehouses(self) -> set[WarehouseKey]:
        return {allocation.warehouse for allocation in self.allocations}
