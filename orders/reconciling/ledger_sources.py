"""SQL that recomputes and repairs stock on hand and reserved stock, from the ledger (contract 13)."""

from __future__ import annotations

from inventory.models import MovementKind
from inventory.movements import insert_movements

ACTOR = "system:reconcile"

# Units reserved for orders, by stock row.
RESERVED = """
    SELECT p.variant_id, f.warehouse_id, sum(p.reserved) AS reserved
    FROM fulfillments_fulfillmentline p JOIN fulfillments_fulfillment f ON f.id = p.fulfillment_id
    WHERE p.reserved > 0 GROUP BY 1, 2
"""

# A stock level is the sum of its movements. A deleted variant has movements, but no stock level.
LEDGER = """
    SELECT m.variant_id, m.warehouse_id, sum(m.on_hand_change) AS on_hand, sum(m.reserved_change) AS reserved
    FROM inventory_stockmovement m JOIN catalog_variant v ON v.id = m.variant_id GROUP BY 1, 2
"""

RESERVED_BY_FULFILLMENT = """
    (SELECT fulfillment_id, variant_id, sum(reserved) AS reserved
     FROM fulfillments_fulfillmentline GROUP BY 1, 2)
"""
# The units that movements reserved for each fulfillment. An opening movement may include units of older
# fulfillments without naming the fulfillments. For these fulfillments, use the reserved units of their lines.
RESERVED_BY_LEDGER = f"""
    SELECT p.fulfillment_id, p.variant_id,
        CASE WHEN o.occurred_at >= f.created_at THEN p.reserved ELSE coalesce(m.reserved, 0) END AS reserved
    FROM {RESERVED_BY_FULFILLMENT} p JOIN fulfillments_fulfillment f ON f.id = p.fulfillment_id
    LEFT JOIN (
        SELECT fulfillment_id, variant_id, sum(reserved_change) AS reserved FROM inventory_stockmovement
        WHERE order_id IS NOT NULL GROUP BY 1, 2
    ) m ON m.fulfillment_id = p.fulfillment_id AND m.variant_id = p.variant_id
    LEFT JOIN (
        SELECT variant_id, warehouse_id, max(occurred_at) AS occurred_at FROM inventory_stockmovement
        WHERE kind = 'opening' AND reserved_change <> 0 GROUP BY 1, 2
    ) o ON o.variant_id = p.variant_id AND o.warehouse_id = f.warehouse_id
"""  # noqa: S608 - built from constants

SUMS = """
    SELECT coalesce(sum(on_hand_change), 0) AS on_hand, coalesce(sum(reserved_change), 0) AS reserved,
        max(id) AS last
    FROM inventory_stockmovement m
    WHERE m.variant_id = w.variant_id AND m.warehouse_id = w.warehouse_id
"""

# Compare three sources of each stock row: the row, the sum of its movements, and its last movement. Store the
# results before the first repair, because repairs change the sources.
#
# `whole` is true if no movement is missing: the sum equals the numbers in the last movement, and the row was
# not written after the last movement.
#
# `units` is the correct number on hand. The first rule that applies decides:
# 1. There are no movements: the row is correct.
# 2. The row equals the last movement: the row is correct.
# 3. The row was written after the last movement: a movement is missing, and the row is correct.
# 4. The sum equals the last movement: the sum is correct. A negative sum counts as 0.
# 5. Otherwise no source is proven, and `units` is NULL.
EVIDENCE = """
    CREATE TEMPORARY TABLE reconcile_evidence ON COMMIT DROP AS
    SELECT variant_id, warehouse_id, stored, whole, CASE
        WHEN last IS NULL THEN stored
        WHEN stored = last OR NOT in_time THEN stored
        WHEN on_hand = last THEN greatest(on_hand, 0) END AS units
    FROM (
        SELECT coalesce(l.variant_id, m.variant_id) AS variant_id,
            coalesce(l.warehouse_id, m.warehouse_id) AS warehouse_id,
            l.on_hand AS stored, m.on_hand, e.on_hand AS last,
            coalesce(l.updated_at <= e.occurred_at, true) AS in_time,
            e.on_hand IS NOT NULL AND (m.on_hand, m.reserved) = (e.on_hand, e.reserved)
                AND coalesce(l.updated_at <= e.occurred_at, true) AS whole
        FROM inventory_stocklevel l FULL JOIN (
            SELECT variant_id, warehouse_id, max(id) AS last, sum(on_hand_change) AS on_hand,
                sum(reserved_change) AS reserved
            FROM inventory_stockmovement GROUP BY 1, 2
        ) m USING (variant_id, warehouse_id)
        LEFT JOIN inventory_stockmovement e ON e.id = m.last
    ) stock
"""

RELEASE_MOVEMENTS = insert_movements(
    MovementKind.ADJUST,
    f"released w CROSS JOIN LATERAL ({SUMS}) m ORDER BY w.fulfillment_id",
    variant_id="w.variant_id",
    warehouse_id="w.warehouse_id",
    reserved_change="w.change",
    on_hand="m.on_hand",
    reserved="m.reserved"
    " + sum(w.change) OVER (PARTITION BY w.variant_id, w.warehouse_id ORDER BY w.fulfillment_id)",
    actor=f"'{ACTOR}'",
    order_id="w.order_id",
    fulfillment_id="w.fulfillment_id",
    reason="CASE WHEN w.whole THEN 'reconcile: more than the open units was reserved'"
    " ELSE 'reconcile: a movement of this fulfillment is missing' END",
)

# If no movement is missing, the fulfillment lines get the ledger's reserved units, up to their open units. A
# new movement releases the other reserved units. If a movement is missing, the lines keep their reserved
# units, up to their open units, and a new movement replaces the missing movements.
MEND_RESERVED = f"""
    , filled AS (
        SELECT p.id, p.fulfillment_id, p.variant_id, coalesce(v.whole, false) AS whole,
            CASE WHEN v.whole THEN greatest(least(p.open, wrong.reserved - p.before), 0)::int
                ELSE least(p.reserved, p.open) END AS reserved
        FROM (
            SELECT id, fulfillment_id, variant_id, reserved, open,
                sum(open) OVER (PARTITION BY fulfillment_id, variant_id ORDER BY id) - open AS before
            FROM (SELECT id, fulfillment_id, variant_id, reserved,
                    quantity - shipped - rejected - canceled AS open
                  FROM fulfillments_fulfillmentline) l
        ) p JOIN wrong USING (fulfillment_id, variant_id)
        JOIN fulfillments_fulfillment f ON f.id = p.fulfillment_id
        LEFT JOIN reconcile_evidence v ON v.variant_id = p.variant_id AND v.warehouse_id = f.warehouse_id
    ), written AS (
        UPDATE fulfillments_fulfillmentline p SET reserved = filled.reserved
        FROM filled WHERE filled.id = p.id
    ), released AS (
        SELECT w.variant_id, f.warehouse_id, f.order_id, w.fulfillment_id, k.whole,
            k.reserved - w.reserved AS change
        FROM wrong w JOIN fulfillments_fulfillment f ON f.id = w.fulfillment_id
        JOIN (SELECT fulfillment_id, variant_id, bool_and(whole) AS whole, sum(reserved) AS reserved
              FROM filled GROUP BY 1, 2) k
            ON k.fulfillment_id = w.fulfillment_id AND k.variant_id = w.variant_id
        WHERE k.reserved <> w.reserved
    )
    {RELEASE_MOVEMENTS}
"""  # noqa: S608 - built from constants

MEND_MOVEMENTS = insert_movements(
    MovementKind.ADJUST,
    "sound ORDER BY variant_id, warehouse_id",
    on_hand_change="units - on_hand",
    reserved_change="promised - reserved",
    on_hand="units",
    reserved="promised",
    actor=f"'{ACTOR}'",
    reason="CASE WHEN stored IS NULL THEN 'reconcile: there was no row' ELSE said END",
)

# Set the reserved units to the sum of the fulfillment lines, and the units on hand to `units` of EVIDENCE. If
# `units` is NULL, the stock row stays unchanged. Insert a movement, so that the sum of the movements is equal
# to the stock row.
MEND_STOCK = f"""
    , sources AS (
        SELECT w.variant_id, w.warehouse_id, e.stored, e.units, m.on_hand, m.reserved,
            format('reconcile: the row said %s on hand, %s reserved', l.on_hand, l.reserved) AS said,
            (SELECT coalesce(sum(p.reserved), 0) FROM fulfillments_fulfillmentline p
             JOIN fulfillments_fulfillment f ON f.id = p.fulfillment_id
             WHERE p.variant_id = w.variant_id AND f.warehouse_id = w.warehouse_id) AS promised
        FROM wrong w JOIN reconcile_evidence e USING (variant_id, warehouse_id)
        LEFT JOIN inventory_stocklevel l
            ON l.variant_id = w.variant_id AND l.warehouse_id = w.warehouse_id
        CROSS JOIN LATERAL ({SUMS}) m
    ), sound AS (
        SELECT * FROM sources WHERE units IS NOT NULL
    ), written AS (
        INSERT INTO inventory_stocklevel (variant_id, warehouse_id, on_hand, reserved)
        SELECT variant_id, warehouse_id, units, promised FROM sound ORDER BY 1, 2
        ON CONFLICT (variant_id, warehouse_id) DO UPDATE
        SET on_hand = excluded.on_hand, reserved = excluded.reserved, updated_at = statement_timestamp()
    )
    {MEND_MOVEMENTS}
"""  # noqa: S608 - built from constants
