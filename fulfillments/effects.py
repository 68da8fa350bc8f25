"""The effects of a change's moves on stock, listings and routing.

A change of an order may make several moves. Their effects are collected until the change ends: then one
ordered SELECT locks all stock rows that they need, so deadlocks cannot occur.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import date

from inventory.models import MovementKind
from inventory.reservations import Cause, LockedStock, StockKey


@dataclass(frozen=True)
class StockEffect:
    """The effect of a move on one stock row: `quantity` units move, `reserved` units are released."""

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
    """Stock effects in the order of the moves, variants to delist, and rejected units by order line."""

    stock: list[StockEffect] = field(default_factory=list)
    delisted: set[int] = field(default_factory=set)
    rejected: Counter[int] = field(default_factory=Counter)
    expected: dict[StockKey, date] = field(default_factory=dict)
    """The restock dates of refused stock rows."""
    reassigned_to: dict[int, int | None] = field(default_factory=dict)
    """The new supplier of the order lines that an operator reassigns; None lets routing choose."""

    def __bool__(self) -> bool:
        return any((self.stock, self.delisted, self.rejected))

    def add(self, other: Effects) -> None:
        """Add the effects of another move."""
        self.stock += other.stock
        self.delisted |= other.delisted
        self.rejected.update(other.rejected)
        self.expected |= other.expected
        self.reassigned_to |= other.reassigned_to
