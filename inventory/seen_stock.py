"""Stock rows that a new order reads without a lock. The order reserves their units at the end of its push.

Planning an order with many lines takes time, and writing its rows takes time, too. If the push locked the
stock first, every other order for the same goods would wait. Therefore a push plans with the stock it has
read, writes its rows, and reserves the units last. One statement locks the stock rows, checks that the
planned units are still available, and reserves all units or nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from django.db import connection

from accounts.actors import Actor
from inventory.models import MovementKind
from inventory.movements import array_params, insert_movements, movement_arrays
from inventory.reservations import Stock, StockKey, levels_of, stock_rows


class StockMoved(Exception):
    """The error for stock that changed after the read. The caller rolls back, and plans again with locks."""


class SeenStock(Stock):
    """Stock rows that were read without a lock. Another order may reserve the same units before `save`."""

    @classmethod
    def read(cls, variant_ids: Iterable[int], *, by: Actor) -> SeenStock:
        """Read every stock row of these variants without locking it."""
        return cls(levels_of(stock_rows(variants=list(variant_ids))), by)

    def save(self, *, missed: Collection[int] = ()) -> None:
        """Reserve the planned units and append the movements in one statement.

        Some lines may have units without reserved stock. `missed` has the ids of the variants that could fill
        these lines. Raises StockMoved if a row has fewer available units than the plan needs, or if a variant
        in `missed` has more available units than the plan saw. Such new units must be planned now: they
        arrived before the order was stored, so the allocation of arrived stock did not find the order.
        """
        planned = Counter[StockKey]()
        for movement in self._movements:
            planned[movement.variant_id, movement.warehouse_id] += movement.reserved_change
        keys = sorted({*planned, *(key for key in self.levels if key[0] in missed)})
        if not keys and not missed:
            return
        levels = [self.levels[key] for key in keys]
        with connection.cursor() as cursor:
            cursor.execute(
                TAKE,
                {
                    "variants": [variant for variant, _ in keys],
                    "warehouses": [warehouse for _, warehouse in keys],
                    "planned": [planned[key] for key in keys],
                    "left_over": [level.available for level in levels],
                    "seen": [level.reserved for level in levels],
                    "safety": [level.safety for level in levels],
                    "locked": sorted({*missed, *(variant for variant, _ in keys)}),
                    "missed": sorted(missed),
                    "actor": self.by.name,
                    "request_id": self.by.request_id,
                    **array_params(self._movements, *RESERVED_COLUMNS),
                },
            )
            [(unchanged,)] = cursor.fetchall()
        if not unchanged:
            raise StockMoved
        self._movements.clear()


RESERVED_COLUMNS = ("variant_id", "warehouse_id", "reserved_change", "reserved", "order_id", "fulfillment_id")

TAKE_MOVEMENTS = insert_movements(
    MovementKind.RESERVE,
    f"{movement_arrays(*RESERVED_COLUMNS)} JOIN written w USING (variant_id, warehouse_id)"
    " ORDER BY m.position",
    reserved_change="m.reserved_change",
    on_hand="w.on_hand",
    reserved="w.reserved - w.seen + m.reserved",
    order_id="m.order_id",
    fulfillment_id="m.fulfillment_id",
    actor="%(actor)s",
    request_id="%(request_id)s",
)

# Lock the rows in lock order before writing any of them. Compute each movement's `reserved` from the row's
# final value: another order may have reserved units between the read and the lock.
TAKE = f"""
    WITH wanted AS (
        SELECT * FROM unnest(%(variants)s::bigint[], %(warehouses)s::bigint[], %(planned)s::int[],
                %(left_over)s::int[], %(seen)s::int[], %(safety)s::int[])
            AS w (variant_id, warehouse_id, taken, left_over, reserved, safety)
    ), locked AS MATERIALIZED (
        SELECT s.variant_id, s.warehouse_id, coalesce(w.taken, 0) AS taken, w.reserved AS seen,
            coalesce(w.left_over, 0) AS left_over, s.on_hand - s.reserved - coalesce(w.safety, 0) AS available
        FROM inventory_stocklevel s LEFT JOIN wanted w USING (variant_id, warehouse_id)
        WHERE s.variant_id = ANY(%(locked)s)
        ORDER BY s.variant_id, s.warehouse_id FOR UPDATE OF s
    ), moved_on AS (
        SELECT FROM locked WHERE taken > 0 AND available < taken
            OR variant_id = ANY(%(missed)s) AND greatest(available, 0) - taken > left_over
    ), written AS (
        UPDATE inventory_stocklevel s
        SET reserved = s.reserved + l.taken, updated_at = statement_timestamp() FROM locked l
        WHERE s.variant_id = l.variant_id AND s.warehouse_id = l.warehouse_id AND l.taken > 0
        RETURNING s.variant_id, s.warehouse_id, s.on_hand, s.reserved, l.seen
    ), moved AS (
        {TAKE_MOVEMENTS}
    )
    SELECT NOT EXISTS (SELECT FROM moved_on)
"""  # noqa: S608 - built from constants
