"""Stock that orders set aside, give back, take out and bring back: under locks, in one order, in one
statement, each change with the movement that says why.

Lock order (docs/architecture.md): a change of an order locks all stock rows that it will touch or
choose from in ONE ordered SELECT, after the order and its fulfillments, before the retailer's clock.
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

StockKey = tuple[int, int]
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


class Cause(NamedTuple):
    """What moved stock."""

    order_id: int | None = None
    fulfillment_id: int | None = None
    reason: str = ""


class Movement(NamedTuple):
    """One line of the ledger, as far as it differs from the others of the same change."""

    variant_id: int
    warehouse_id: int
    kind: str
    on_hand_change: int
    reserved_change: int
    on_hand: int
    reserved: int
    moved: int
    order_id: int | None
    fulfillment_id: int | None
    reason: str


@dataclass
class Stock(ABC):
    """Stock rows, changed in memory and written back together, with a movement for each change."""

    levels: dict[StockKey, Level]
    by: Actor
    _movements: list[Movement] = field(default_factory=list)

    def available(self, key: StockKey) -> int:
        level = self.levels.get(key)
        return level.available if level else 0

    def availability(self) -> dict[StockKey, int]:
        """What may be set aside of each row, in pieces."""
        return {key: level.available for key, level in self.levels.items()}

    def reserve(self, key: StockKey, quantity: int, cause: Cause) -> int:
        """Set aside as much as may be, and return how much that was."""
        taken = min(quantity, self.available(key))
        if taken:
            self._move(MovementKind.RESERVE, key, cause, reserved=taken)
        return taken

    @abstractmethod
    def save(self, *, missed: Collection[int] = ()) -> None:
        """Write the changed rows and the movements, in one statement.

        `missed` are the variants of which more would have been taken.
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
        """Change a row. Pieces can also leave a place that has none; their movement then stands alone."""
        level = self.levels.get(key)
        if level is None:
            on_hand, reserved, after = 0, 0, (0, 0)
        else:
            level.on_hand += on_hand
            level.reserved += reserved
            after = (level.on_hand, level.reserved)
        order_id, fulfillment_id, reason = cause
        self._movements.append(
            Movement(*key, kind.value, on_hand, reserved, *after, moved, order_id, fulfillment_id, reason)
        )


@dataclass
class LockedStock(Stock):
    """Rows that nobody else can change meanwhile; what is given back goes to those who wait."""

    _counted: set[StockKey] = field(default_factory=set)

    @classmethod
    def lock(cls, variant_ids: Iterable[int], *, by: Actor, needed: Collection[StockKey] = ()) -> LockedStock:
        """Lock every stock row of these variants, in (variant, warehouse) order.

        Those that are needed are made where there are none: before any is locked, as pushes do.
        """
        if needed:
            with connection.cursor() as cursor:
                cursor.execute(MAKE, [[variant for variant, _ in needed], [place for _, place in needed]])
        return cls(levels_of(_locked_rows(variants=list(variant_ids))), by)

    def release(self, key: StockKey, quantity: int, cause: Cause) -> None:
        """Give back what was set aside."""
        if quantity:
            self._move(MovementKind.RELEASE, key, cause, reserved=-quantity)

    def ship(self, key: StockKey, quantity: int, cause: Cause, *, reserved: int = 0) -> None:
        """Take out what left, and of what was set aside for it so many pieces.

        A count that knew less is not driven below 0.
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
        """There is none, says the supplier: that is a count. Give back so much of what was set aside."""
        on_hand = self.levels[key].on_hand if key in self.levels else 0
        self._move(MovementKind.REFUSE, key, cause, on_hand=-on_hand, reserved=-reserved)
        self._counted.add(key)

    def return_(self, key: StockKey, quantity: int, cause: Cause) -> None:
        """Put back what came back and can be sold again."""
        room = MOST - self.levels[key].on_hand
        self._move(MovementKind.RETURN, key, cause, on_hand=min(quantity, room), moved=quantity)

    def save(self, *, missed: Collection[int] = ()) -> None:
        if not self._movements:
            return
        keys = sorted({each[:2] for each in self._movements} & self.levels.keys())
        levels = [self.levels[key] for key in keys]
        with connection.cursor() as cursor:
            cursor.execute(
                SAVE,
                [
                    [variant for variant, _ in keys],
                    [warehouse for _, warehouse in keys],
                    [level.on_hand for level in levels],
                    [level.reserved for level in levels],
                    [key in self._counted for key in keys],
                    self.by.name,
                    self.by.request_id,
                    *map(list, zip(*self._movements, strict=True)),
                ],
            )
        arrived = {
            each.variant_id
            for each in self._movements
            if each.on_hand_change > each.reserved_change and self.available(each[:2])
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

SAVE = """
    WITH written AS (
        UPDATE inventory_stocklevel s
        SET on_hand = n.on_hand, reserved = n.reserved, updated_at = clock_timestamp(),
            counted_at = CASE WHEN n.counted THEN greatest(s.counted_at, clock_timestamp())
                ELSE s.counted_at END
        FROM unnest(%s::bigint[], %s::bigint[], %s::int[], %s::int[], %s::bool[])
            AS n (variant_id, warehouse_id, on_hand, reserved, counted)
        WHERE s.variant_id = n.variant_id AND s.warehouse_id = n.warehouse_id
    )
    INSERT INTO inventory_stockmovement (actor, request_id, variant_id, warehouse_id, kind, on_hand_change,
        reserved_change, on_hand, reserved, moved, order_id, fulfillment_id, reason)
    SELECT %s, %s, m.variant_id, m.warehouse_id, m.kind, m.on_hand_change, m.reserved_change, m.on_hand,
        m.reserved, m.moved, m.order_id, m.fulfillment_id, m.reason
    FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::int[], %s::int[], %s::int[], %s::int[], %s::int[],
        %s::bigint[], %s::bigint[], %s::text[]) WITH ORDINALITY
        AS m (variant_id, warehouse_id, kind, on_hand_change, reserved_change, on_hand, reserved, moved,
            order_id, fulfillment_id, reason, position)
    ORDER BY m.position
"""


class LevelRow(NamedTuple):
    variant_id: int
    warehouse_id: int
    warehouse__supplier_id: int
    on_hand: int
    reserved: int
    warehouse__supplier__safety_stock: int


@CompiledQuery
def stock_rows() -> QuerySet[StockLevel, LevelRow]:
    """Every stock row of these `variants`, in the order in which they are locked."""
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
