"""Stock that a new order takes without holding it while its plan is made.

A plan for many lines takes time, and so do the rows that it is written down in. Under locks, everybody who
wants one of those goods would wait for that. So a push plans on what it has seen, writes all of it down,
and takes the pieces last: by one statement that locks the rows, looks whether what was seen is still
there, and takes all or nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from django.db import connection

from accounts.actors import Actor
from inventory.reservations import Stock, StockKey, levels_of, stock_rows


class StockMoved(Exception):
    """Somebody else was faster: the transaction must be undone, and the plan made again under locks."""


class SeenStock(Stock):
    """Rows as they were seen; whoever wants pieces may have taken them since."""

    @classmethod
    def read(cls, variant_ids: Iterable[int], *, by: Actor) -> SeenStock:
        """Read every stock row of these variants; lock none."""
        return cls(levels_of(stock_rows(variants=list(variant_ids))), by)

    def save(self, *, missed: Collection[int] = ()) -> None:
        """Take what was reserved, and append the movements, in one statement.

        Raises StockMoved where a row has less than what is to be taken of it, or a missed variant has more
        than was seen: who brought it looked for those who wait before we were there.
        """
        taken = Counter[StockKey]()
        for each in self._movements:
            taken[each.variant_id, each.warehouse_id] += each.reserved_change
        keys = sorted({*taken, *(key for key in self.levels if key[0] in missed)})
        if not keys and not missed:
            return
        levels = [self.levels[key] for key in keys]
        with connection.cursor() as cursor:
            cursor.execute(
                TAKE,
                [
                    [variant for variant, _ in keys],
                    [warehouse for _, warehouse in keys],
                    [taken[key] for key in keys],
                    [level.available for level in levels],
                    [level.reserved for level in levels],
                    [level.safety for level in levels],
                    sorted({*missed, *(variant for variant, _ in keys)}),
                    sorted(missed),
                    self.by.name,
                    self.by.request_id,
                    [each.variant_id for each in self._movements],
                    [each.warehouse_id for each in self._movements],
                    [each.reserved_change for each in self._movements],
                    [each.reserved for each in self._movements],
                    [each.order_id for each in self._movements],
                    [each.fulfillment_id for each in self._movements],
                ],
            )
            [(as_seen,)] = cursor.fetchall()
        if not as_seen:
            raise StockMoved
        self._movements.clear()


# The rows are locked in their order before any is written. What a movement leaves behind is reckoned back
# from what the row has afterwards: others may have taken of it between our look and our lock.
TAKE = """
    WITH wanted AS (
        SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::int[], %s::int[], %s::int[], %s::int[])
            AS w (variant_id, warehouse_id, taken, left_over, reserved, safety)
    ), locked AS MATERIALIZED (
        SELECT s.variant_id, s.warehouse_id, coalesce(w.taken, 0) AS taken, w.reserved AS seen,
            coalesce(w.left_over, 0) AS left_over, s.on_hand - s.reserved - coalesce(w.safety, 0) AS available
        FROM inventory_stocklevel s LEFT JOIN wanted w USING (variant_id, warehouse_id)
        WHERE s.variant_id = ANY(%s)
        ORDER BY s.variant_id, s.warehouse_id FOR UPDATE OF s
    ), moved_on AS (
        SELECT FROM locked WHERE available < taken
            OR variant_id = ANY(%s) AND greatest(available, 0) - taken > left_over
    ), written AS (
        UPDATE inventory_stocklevel s
        SET reserved = s.reserved + l.taken, updated_at = clock_timestamp() FROM locked l
        WHERE s.variant_id = l.variant_id AND s.warehouse_id = l.warehouse_id AND l.taken > 0
        RETURNING s.variant_id, s.warehouse_id, s.on_hand, s.reserved, l.seen
    ), moved AS (
        INSERT INTO inventory_stockmovement (actor, request_id, variant_id, warehouse_id, kind,
            on_hand_change, reserved_change, on_hand, reserved, moved, order_id, fulfillment_id, reason)
        SELECT %s, %s, m.variant_id, m.warehouse_id, 'reserve', 0, m.change, w.on_hand,
            w.reserved - w.seen + m.reserved, 0, m.order_id, m.fulfillment_id, ''
        FROM unnest(%s::bigint[], %s::bigint[], %s::int[], %s::int[], %s::bigint[], %s::bigint[])
            WITH ORDINALITY
            AS m (variant_id, warehouse_id, change, reserved, order_id, fulfillment_id, position)
        JOIN written w USING (variant_id, warehouse_id) ORDER BY m.position
    )
    SELECT NOT EXISTS (SELECT FROM moved_on)
"""
