"""What the moves of one change want of stock, listings and routing, until the change ends.

A change of an order may make several moves. Their effects are collected, so that all stock rows that
they touch or choose from are locked by one ordered SELECT, and deadlocks cannot arise.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from inventory.models import MovementKind
from inventory.reservations import Cause, LockedStock, StockKey


@dataclass(frozen=True)
class StockEffect:
    """What a move does to one stock row: pieces that it moves, and pieces that are set aside no longer."""

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
    """What moves do to stock, in their order; variants to be delisted; and refused pieces by the id of the
    order's line.
    """

    stock: list[StockEffect] = field(default_factory=list)
    delisted: set[int] = field(default_factory=set)
    refused: Counter[int] = field(default_factory=Counter)
    sent_to: dict[int, int | None] = field(default_factory=dict)
    """Of what is refused, what an operator sends elsewhere, all or nothing: to whom, None for anybody."""

    def __bool__(self) -> bool:
        return any((self.stock, self.delisted, self.refused))

    def add(self, other: Effects) -> None:
        """Take in what another move wants."""
        self.stock += other.stock
        self.delisted |= other.delisted
        self.refused.update(other.refused)
        self.sent_to |= other.sent_to
