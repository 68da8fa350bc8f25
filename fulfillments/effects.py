"""The effects of a change's moves on stock, listings and routing.

A change of an order may make several moves. Their effects are collected until the change ends. Then one
SELECT locks all needed stock rows, in a fixed order, so two changes cannot deadlock.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import date

from inventory.models import MovementKind
from inventory.reservations import Cause, LockedStock, StockKey


@dataclass(frozen=True)
class StockEffect:
    """The effect of a move on one stock row.

    `quantity` is the number of units that are shipped or returned. `reserved` is the number of units whose
    reservation ends.
    """

    kind: MovementKind
    stock_key: StockKey
    quantity: int
    reserved: int
    fulfillment_id: int
    reason: str = ""

    def apply(self, stock: LockedStock, order_id: int) -> None:
        cause = Cause(order_id, self.fulfillment_id, self.reason)
        if self.kind == MovementKind.SHIP:
            stock.ship(self.stock_key, self.quantity, cause, reserved=self.reserved)
        elif self.kind == MovementKind.REFUSE:
            stock.refuse(self.stock_key, cause, reserved=self.reserved)
        elif self.kind == MovementKind.RETURN:
            stock.return_(self.stock_key, self.quantity, cause)
        else:
            stock.release(self.stock_key, self.reserved, cause)


@dataclass
class Effects:
    """The collected effects of a change's moves.

    `stock` has the effects in the order of the moves. `delisted` has the ids of variants to delist, and
    `rejected` the units to route again. The keys of `rejected` and `reassigned_to` are ids of order lines.
    """

    stock: list[StockEffect] = field(default_factory=list)
    delisted: set[int] = field(default_factory=set)
    rejected: Counter[int] = field(default_factory=Counter)
    expected: dict[StockKey, date] = field(default_factory=dict)
    """The restock dates of refused stock rows."""
    reassigned_to: dict[int, int | None] = field(default_factory=dict)
    """The new supplier for each line that an operator reassigns; None lets routing choose."""

    def __bool__(self) -> bool:
        return any((self.stock, self.delisted, self.rejected))

    def add(self, other: Effects) -> None:
        """Add the effects of another move."""
        self.stock += other.stock
        self.delisted |= other.delisted
        self.rejected.update(other.rejected)
        self.expected |= other.expected
        self.reassigned_to |= other.reassigned_to
