"""SQL that recomputes stock on hand and reserved stock from the ledger, and repairs both (contract 13)."""

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

# A stock level is the sum of its movements. A deleted variant has no level.
LEDGER = """
    SELECT m.variant_id, m.warehouse_id, sum(m.on_hand_change) AS on_hand, sum(m.reserved_change) AS reserved
    FROM inventory_stockmovement m JOIN catalog_variant v ON v.id = m.variant_id GROUP BY 1, 2
"""

RESERVED_BY_FULFILLMENT = """
    (SELECT fulfillment_id, variant_id, sum(reserved) AS reserved
     FROM fulfillments_fulfillmentline GROUP BY 1, 2)
"""
# The units that movements reserved for each fulfillment. An opening movement may contain reservations of
# older fulfillments without naming them; then only the fulfillment's lines have the number.
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
    reason="'reconcile: more than the open units was reserved'",
)

# Lines get the ledger's number up to their open units; a movement releases the rest.
MEND_RESERVED = f"""
    , filled AS (
        SELECT p.id, p.fulfillment_id, p.variant_id,
            greatest(least(p.open, wrong.reserved - p.before), 0)::int AS reserved
        FROM (
            SELECT id, fulfillment_id, variant_id, open,
                sum(open) OVER (PARTITION BY fulfillment_id, variant_id ORDER BY id) - open AS before
            FROM (SELECT id, fulfillment_id, variant_id, quantity - shipped - rejected - canceled AS open
                  FROM fulfillments_fulfillmentline) l
        ) p JOIN wrong USING (fulfillment_id, variant_id)
    ), written AS (
        UPDATE fulfillments_fulfillmentline p SET reserved = filled.reserved
        FROM filled WHERE filled.id = p.id
    ), released AS (
        SELECT w.variant_id, f.warehouse_id, f.order_id, w.fulfillment_id, k.reserved - w.reserved AS change
        FROM wrong w JOIN fulfillments_fulfillment f ON f.id = w.fulfillment_id
        JOIN (SELECT fulfillment_id, variant_id, sum(reserved) AS reserved FROM filled GROUP BY 1, 2) k
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

# On hand is the sum of the movements, unless the last movement already recorded the row's number: then an
# earlier movement is missing. Reserved is the sum of the lines. A new movement closes the gap in both cases.
MEND_STOCK = f"""
    , sources AS (
        SELECT w.variant_id, w.warehouse_id, l.on_hand AS stored, m.on_hand, m.reserved,
            format('reconcile: the row said %s on hand, %s reserved', l.on_hand, l.reserved) AS said,
            (SELECT last.on_hand FROM inventory_stockmovement last WHERE last.id = m.last) AS last,
            (SELECT coalesce(sum(p.reserved), 0) FROM fulfillments_fulfillmentline p
             JOIN fulfillments_fulfillment f ON f.id = p.fulfillment_id
             WHERE p.variant_id = w.variant_id AND f.warehouse_id = w.warehouse_id) AS promised
        FROM wrong w LEFT JOIN inventory_stocklevel l
            ON l.variant_id = w.variant_id AND l.warehouse_id = w.warehouse_id
        CROSS JOIN LATERAL ({SUMS}) m
    ), sound AS (
        SELECT *,
            CASE WHEN stored = coalesce(last, stored) THEN stored ELSE greatest(on_hand, 0) END AS units
        FROM sources
    ), written AS (
        INSERT INTO inventory_stocklevel (variant_id, warehouse_id, on_hand, reserved)
        SELECT variant_id, warehouse_id, units, promised FROM sound ORDER BY 1, 2
        ON CONFLICT (variant_id, warehouse_id) DO UPDATE
        SET on_hand = excluded.on_hand, reserved = excluded.reserved, updated_at = now()
    )
    {MEND_MOVEMENTS}
"""  # noqa: S608 - built from constants
