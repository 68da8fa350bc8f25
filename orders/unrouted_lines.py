"""Lines that wait for stock with no supplier: those of `wait`, and what all have refused (contract 13)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.db import connection

from fastdb.rows import rows_of
from fulfillments.planning.candidates import WaitingLine

# Cheap, and mostly the answer is no; who it is, and whether they may have it, is asked only then. Arrays, not
# joins: so that the small indexes are asked, whatever the planner believes of them.
ANYBODY = """
    SELECT EXISTS (
        SELECT FROM fulfillments_fulfillmentline p WHERE p.is_short AND p.variant_id = ANY(%(variants)s)
            AND p.fulfillment_id <> ALL(ARRAY(
                SELECT id FROM fulfillments_fulfillment WHERE order_id = %(but)s
            ))
    ) OR EXISTS (
        SELECT FROM orders_orderline l
        WHERE l.waiting_since IS NOT NULL AND l.waiting + l.rejected > 0 AND l.order_id <> %(but)s
            AND l.asked_variant_id = ANY(%(variants)s)
    ) OR EXISTS (
        SELECT FROM orders_orderline l
        WHERE l.waiting_since IS NOT NULL AND l.waiting + l.rejected > 0 AND l.order_id <> %(but)s
            AND l.sku = ANY(ARRAY(SELECT sku FROM catalog_variant WHERE id = ANY(%(variants)s)))
    ) OR EXISTS (
        SELECT FROM orders_orderline l
        WHERE l.waiting_since IS NOT NULL AND l.waiting + l.rejected > 0 AND l.order_id <> %(but)s
            AND l.upc = ANY(ARRAY(SELECT upc FROM catalog_variant WHERE id = ANY(%(variants)s) AND upc <> ''))
    )
"""
COLUMNS = """
    l.id, l.order_id, o.retailer_id, NOT o.has_unknown_country, l.waiting + l.rejected, l.sku, l.upc,
    l.asked_supplier_id, l.asked_variant_id
"""
# In the three ways in which a line can find a variant, each by an index of its own.
FINDS = (
    "l.asked_variant_id = v.id",
    "l.asked_variant_id IS NULL AND l.upc <> '' AND l.upc = v.upc",
    "l.asked_variant_id IS NULL AND l.sku <> '' AND l.sku = v.sku",
)


def lines_sql(where: str) -> str:
    """Lines with pieces that no supplier has, and that a partner's variant may fill, oldest order first.

    A few more than may have it: who refused a line, and what strict partners take, is not asked here. `where`
    narrows orders (`o`), lines (`l`) and variants (`v`).
    """
    found = " UNION ".join(
        f"""
        SELECT {COLUMNS}
        FROM catalog_variant v
        JOIN accounts_partnership a ON a.supplier_id = v.supplier_id AND a.is_trading
        JOIN orders_orderline l ON {way}
        JOIN orders_order o ON o.id = l.order_id AND o.retailer_id = a.retailer_id
        WHERE v.listed AND l.waiting_since IS NOT NULL AND l.waiting + l.rejected > 0
            AND coalesce(l.asked_supplier_id, v.supplier_id) = v.supplier_id AND {where}
        """  # noqa: S608 - of constants
        for way in FINDS
    )
    return f"{found} ORDER BY 2, 1"


WAITING = lines_sql("v.id = ANY(%(variants)s) AND o.id < %(before)s") + " LIMIT %(most)s"
OWN = f"""
    SELECT {COLUMNS} FROM orders_orderline l JOIN orders_order o ON o.id = l.order_id
    WHERE o.id = %s AND l.waiting + l.rejected > 0 ORDER BY l.id
"""  # noqa: S608 - of constants
PLACED = """
    UPDATE orders_orderline l
    SET waiting = l.waiting - least(l.waiting, p.pieces), rejected = l.rejected + least(l.waiting, p.pieces)
    FROM unnest(%s::bigint[], %s::int[]) AS p (id, pieces) WHERE l.id = p.id
"""


def anybody_waits(variant_ids: Collection[int], *, but: int = 0) -> bool:
    """Whether a line of any order but that one may wait for one of these variants."""
    with connection.cursor() as cursor:
        cursor.execute(ANYBODY, {"variants": [*variant_ids], "but": but})
        return bool(cursor.fetchone()[0])


def lines_waiting(variant_ids: Collection[int], *, before: int, most: int | None = None) -> list[WaitingLine]:
    """Lines of orders older than that one which may want one of these variants; so many at most."""
    with connection.cursor() as cursor:
        cursor.execute(WAITING, {"variants": [*variant_ids], "before": before, "most": most})
        return rows_of(cursor, WaitingLine)


def own_lines_waiting(order_id: int) -> list[WaitingLine]:
    """The lines of an order that have pieces which no supplier has."""
    with connection.cursor() as cursor:
        cursor.execute(OWN, [order_id])
        return rows_of(cursor, WaitingLine)


def placed(pieces: Mapping[int, int]) -> None:
    """Take these pieces, by the line's id, from what waits; how many are left over is derived at the end."""
    with connection.cursor() as cursor:
        cursor.execute(PLACED, [list(pieces), list(pieces.values())])
