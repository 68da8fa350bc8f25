"""Stock changes of orders: reserve, release, ship, refuse and return units.

One statement writes the changed rows and a movement with the cause of each change.

Lock order (docs/architecture.md): a change of an order locks its stock rows after the order and its
fulfillments, and before the retailer's clock row. One ordered SELECT locks all rows that the change may write
or choose from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db import connection
from django.db.models import QuerySet

from accounts.actors import Actor
from fastdb.compiled import CompiledQuery, any_of
from fastdb.rows import as_rows
from inventory.arrivals import stock_arrived
from inventory.elements import MOST
from inventory.models import MovementKind, StockLevel
from inventory.movements import MovementRow, array_params, insert_movements, movement_arrays

StockKey = tuple[int, int]
"""A variant's id and a warehouse's id."""


@dataclass
class Level:
    """The numbers of one stock row in memory, in units."""

    supplier_id: int
    on_hand: int
    reserved: int
    safety: int

    @property
    def available(self) -> int:
        return max(self.on_hand - self.reserved - self.safety, 0)


class Cause(NamedTuple):
    """The order, fulfillment and reason of a stock movement."""

    order_id: int | None = None
    fulfillment_id: int | None = None
    reason: str = ""


@dataclass
class Stock(ABC):
    """Stock rows that are changed in memory and written together, with a movement for each change."""

    levels: dict[StockKey, Level]
    by: Actor
    _movements: list[MovementRow] = field(default_factory=list)

    def available(self, key: StockKey) -> int:
        level = self.levels.get(key)
        return level.available if level else 0

    def availability(self) -> dict[StockKey, int]:
        """Return the units of each row that can still be reserved."""
        return {key: level.available for key, level in self.levels.items()}

    def reserve(self, key: StockKey, quantity: int, cause: Cause) -> int:
        """Reserve up to `quantity` available units, and return how many were reserved."""
        reserved = min(quantity, self.available(key))
        if reserved:
            self._move(MovementKind.RESERVE, key, cause, reserved=reserved)
        return reserved

    @abstractmethod
    def save(self, *, missed: Collection[int] = ()) -> None:
        """Write the changed rows and their movements in one statement.

        `missed` has the ids of the variants that could fill lines that lack reserved stock.
        """

    def _move(
        self,
        kind: MovementKind,
        key: StockKey,
        cause: Cause,
        *,
        on_hand: int = 0,
        reserved: int = 0,
        moved: int = 0,
    ) -> None:
        """Change a row and append its movement.

        Units can also leave a warehouse without a stock row. Then only the movement is written.
        """
        level = self.levels.get(key)
        if level is None:
            on_hand, reserved, after = 0, 0, (0, 0)
        else:
            level.on_hand += on_hand
            level.reserved += reserved
            after = (level.on_hand, level.reserved)
        order_id, fulfillment_id, reason = cause
        self._movements.append(
            MovementRow(*key, kind.value, on_hand, reserved, *after, moved, order_id, fulfillment_id, reason)
        )


@dataclass
class LockedStock(Stock):
    """Locked stock rows. After `save`, backorders get released units before new orders."""

    _counted: set[StockKey] = field(default_factory=set)

    @classmethod
    def lock(cls, variant_ids: Iterable[int], *, by: Actor, needed: Collection[StockKey] = ()) -> LockedStock:
        """Lock every stock row of these variants, in (variant, warehouse) order.

        Rows in `needed` that do not exist are inserted before any row is locked, as in a stock push.
        """
        if needed:
            variants, warehouses = zip(*needed, strict=True)
            with connection.cursor() as cursor:
                cursor.execute(MAKE, [list(variants), list(warehouses)])
        return cls(levels_of(_locked_rows(variants=list(variant_ids))), by)

    def release(self, key: StockKey, quantity: int, cause: Cause) -> None:
        if quantity:
            self._move(MovementKind.RELEASE, key, cause, reserved=-quantity)

    def ship(self, key: StockKey, quantity: int, cause: Cause, *, reserved: int = 0) -> None:
        """Remove the shipped units from `on_hand`, and `reserved` units from the reservation.

        `on_hand` does not fall below 0 if the last count was lower than the shipped quantity.
        """
        on_hand = self.levels[key].on_hand if key in self.levels else 0
        self._move(
            MovementKind.SHIP,
            key,
            cause,
            on_hand=-min(quantity, on_hand),
            reserved=-reserved,
            moved=-quantity,
        )

    def refuse(self, key: StockKey, cause: Cause, *, reserved: int = 0) -> None:
        """Set `on_hand` to 0, because the supplier has no stock for a line. Release `reserved` units."""
        on_hand = self.levels[key].on_hand if key in self.levels else 0
        self._move(MovementKind.REFUSE, key, cause, on_hand=-on_hand, reserved=-reserved)
        self._counted.add(key)

    def return_(self, key: StockKey, quantity: int, cause: Cause) -> None:
        """Add returned units that can be sold again."""
        room = MOST - self.levels[key].on_hand
        self._move(MovementKind.RETURN, key, cause, on_hand=min(quantity, room), moved=quantity)

    def save(self, *, missed: Collection[int] = ()) -> None:
        if not self._movements:
            return
        keys = sorted({movement[:2] for movement in self._movements} & self.levels.keys())
        levels = [self.levels[key] for key in keys]
        with connection.cursor() as cursor:
            cursor.execute(
                SAVE,
                {
                    "variants": [variant for variant, _ in keys],
                    "warehouses": [warehouse for _, warehouse in keys],
                    "levels_on_hand": [level.on_hand for level in levels],
                    "levels_reserved": [level.reserved for level in levels],
                    "counted": [key in self._counted for key in keys],
                    "actor": self.by.name,
                    "request_id": self.by.request_id,
                    **array_params(self._movements, *MovementRow._fields),
                },
            )
        arrived = {
            movement.variant_id
            for movement in self._movements
            if movement.on_hand_change > movement.reserved_change and self.available(movement[:2])
        }
        if arrived:
            stock_arrived(arrived)
        self._counted.clear()
        self._movements.clear()


MAKE = """
    INSERT INTO inventory_stocklevel (variant_id, warehouse_id, on_hand, reserved)
    SELECT DISTINCT variant_id, warehouse_id, 0, 0
    FROM unnest(%s::bigint[], %s::bigint[]) AS needed (variant_id, warehouse_id) ORDER BY 1, 2
    ON CONFLICT (variant_id, warehouse_id) DO NOTHING
"""

SAVE_MOVEMENTS = insert_movements(
    None,
    f"{movement_arrays(*MovementRow._fields)} ORDER BY m.position",
    **{name: name for name in MovementRow._fields},
    actor="%(actor)s",
    request_id="%(request_id)s",
)
SAVE = f"""
    WITH written AS (
        UPDATE inventory_stocklevel s
        SET on_hand = n.on_hand, reserved = n.reserved, updated_at = statement_timestamp(),
            counted_at = CASE WHEN n.counted THEN greatest(s.counted_at, clock_timestamp())
                ELSE s.counted_at END,
            stocked_at = CASE WHEN n.counted THEN NULL ELSE s.stocked_at END
        FROM unnest(%(variants)s::bigint[], %(warehouses)s::bigint[], %(levels_on_hand)s::int[],
                %(levels_reserved)s::int[], %(counted)s::bool[])
            AS n (variant_id, warehouse_id, on_hand, reserved, counted)
        WHERE s.variant_id = n.variant_id AND s.warehouse_id = n.warehouse_id
    )
    {SAVE_MOVEMENTS}
"""  # noqa: S608 - built from constants


class LevelRow(NamedTuple):
    variant_id: int
    warehouse_id: int
    warehouse__supplier_id: int
    on_hand: int
    reserved: int
    warehouse__supplier__safety_stock: int


@CompiledQuery
def stock_rows() -> QuerySet[StockLevel, LevelRow]:
    """Return every stock row of these `variants`, in lock order."""
    rows = StockLevel.objects.filter(any_of("variant_id", "variants"))
    return as_rows(rows.order_by("variant_id", "warehouse_id"), LevelRow)


@CompiledQuery
def _locked_rows() -> QuerySet[StockLevel, LevelRow]:
    return stock_rows.queryset().select_for_update(of=("self",))


def levels_of(rows: Sequence[LevelRow]) -> dict[StockKey, Level]:
    return {
        (row.variant_id, row.warehouse_id): Level(
            supplier_id=row.warehouse__supplier_id,
            on_hand=row.on_hand,
            reserved=row.reserved,
            safety=row.warehouse__supplier__safety_stock,
        )
        for row in rows
    }
