"""Stock that is set aside, given back and taken out: under locks, in one order, in one statement.

Lock order (docs/architecture.md): a change of an order locks all stock rows that it will touch or
choose from in ONE ordered SELECT, after the order and its fulfillments, before the retailer's clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from api.prepared import Prepared, any_of
from inventory.models import StockLevel

Place = tuple[int, int]
"""A variant's id and a warehouse's id."""


@dataclass
class Level:
    """One locked stock row, in pieces."""

    supplier_id: int
    on_hand: int
    reserved: int
    safety: int

    @property
    def available(self) -> int:
        return max(self.on_hand - self.reserved - self.safety, 0)


@dataclass
class Ledger:
    """Locked stock rows, changed in memory and written back together."""

    levels: dict[Place, Level]
    _changed: set[Place] = field(default_factory=set)

    @classmethod
    def lock(cls, variant_ids: Iterable[int]) -> Ledger:
        """Lock every stock row of these variants, in (variant, warehouse) order."""
        rows = _locked(variants=list(set(variant_ids)))
        return cls({(variant, warehouse): Level(*level) for variant, warehouse, *level in rows})

    def available(self, place: Place) -> int:
        level = self.levels.get(place)
        return level.available if level else 0

    def reserve(self, place: Place, quantity: int) -> int:
        """Set aside as much as may be, and return how much that was."""
        taken = min(quantity, self.available(place))
        if taken:
            self._change(place).reserved += taken
        return taken

    def release(self, place: Place, quantity: int) -> None:
        """Give back what was set aside."""
        if quantity:
            self._change(place).reserved -= quantity

    def take_out(self, place: Place, quantity: int) -> None:
        """What left the warehouse is no longer on hand; a count that knew less is not driven below 0."""
        if place in self.levels:
            level = self._change(place)
            level.on_hand = max(level.on_hand - quantity, 0)

    def empty(self, place: Place) -> None:
        """The supplier says that there is none."""
        if place in self.levels:
            self._change(place).on_hand = 0

    def save(self) -> None:
        """Write the changed rows, in one statement."""
        if not self._changed:
            return
        places = sorted(self._changed)
        with connection.cursor() as cursor:
            cursor.execute(
                """
                UPDATE inventory_stocklevel s
                SET on_hand = n.on_hand, reserved = n.reserved, updated_at = clock_timestamp()
                FROM unnest(%s::bigint[], %s::bigint[], %s::int[], %s::int[])
                    AS n (variant_id, warehouse_id, on_hand, reserved)
                WHERE s.variant_id = n.variant_id AND s.warehouse_id = n.warehouse_id
                """,
                [
                    [variant for variant, _ in places],
                    [warehouse for _, warehouse in places],
                    [self.levels[place].on_hand for place in places],
                    [self.levels[place].reserved for place in places],
                ],
            )
        self._changed.clear()

    def _change(self, place: Place) -> Level:
        self._changed.add(place)
        return self.levels[place]


@Prepared
def _locked() -> QuerySet[StockLevel, Any]:
    return (
        StockLevel.objects.filter(any_of("variant_id", "variants"))
        .order_by("variant_id", "warehouse_id")
        .select_for_update(of=("self",))
        .values_list(
            "variant_id",
            "warehouse_id",
            "warehouse__supplier_id",
            "on_hand",
            "reserved",
            "warehouse__supplier__safety_stock",
            named=True,
        )
    )
