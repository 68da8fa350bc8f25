"""Order lines with unrouted units: waiting for stock, or refused by all suppliers (contract 13)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.db import connection

from fastdb import arrays
from fastdb.rows import rows_of
from fulfillments.planning.candidates import WaitingLine
from fulfillments.planning.partners import FILLS_OPEN_ORDERS
from fulfillments.stock_queue import OLDER_UNROUTED, UNROUTED_ORDER

# A cheap query, which usually finds no line. The exact query (`WAITING`) runs only if the cheap query finds a
# line. The cheap query uses arrays instead of joins, so that the planner always chooses the small partial
# indexes. The arrays come from subqueries, because the planner would compare each value of a constant array
# with its statistics.
ANY_WAITING = """
    WITH asked AS MATERIALIZED (SELECT unnest(%(variants)s::bigint[]) AS id)
    SELECT EXISTS (
        SELECT FROM fulfillments_fulfillmentline p
        WHERE p.is_short AND p.variant_id = ANY(ARRAY(SELECT id FROM asked))
            AND p.fulfillment_id <> ALL(ARRAY(
                SELECT id FROM fulfillments_fulfillment WHERE order_id = %(but)s
            ))
    ) OR EXISTS (
        SELECT FROM orders_orderline l
        WHERE l.waiting_since IS NOT NULL AND l.waiting + l.rejected > 0 AND l.order_id <> %(but)s
            AND l.asked_variant_id = ANY(ARRAY(SELECT id FROM asked))
    ) OR EXISTS (
        SELECT FROM orders_orderline l
        WHERE l.waiting_since IS NOT NULL AND l.waiting + l.rejected > 0 AND l.order_id <> %(but)s
            AND l.sku = ANY(ARRAY(SELECT v.sku FROM catalog_variant v
                WHERE v.id = ANY(ARRAY(SELECT id FROM asked))))
    ) OR EXISTS (
        SELECT FROM orders_orderline l
        WHERE l.waiting_since IS NOT NULL AND l.waiting + l.rejected > 0 AND l.order_id <> %(but)s
            AND l.upc = ANY(ARRAY(SELECT v.upc FROM catalog_variant v
                WHERE v.id = ANY(ARRAY(SELECT id FROM asked)) AND v.upc <> ''))
    )
"""
COLUMNS = """
    l.id, l.order_id, o.retailer_id, NOT o.has_unknown_country, l.waiting + l.rejected, l.rejected,
    l.sku, l.upc,    l.asked_supplier_id, l.asked_variant_id
"""
# The three ways in which a line can name a variant, each with its own index.
MATCHES = (
    "l.asked_variant_id = v.id",
    "l.asked_variant_id IS NULL AND l.upc <> '' AND l.upc = v.upc",
    "l.asked_variant_id IS NULL AND l.sku <> '' AND l.sku = v.sku",
)


def lines_sql(where: str, more: str = "") -> str:
    """Return SQL for the unrouted lines that a partner's variant may fill, oldest order first.

    The result includes lines that the supplier has refused, or that a strict partner does not accept. A
    caller that allocates stock must leave out these lines. `where` is a condition on orders (`o`), lines
    (`l`) and variants (`v`). `more` adds columns.
    """
    lines = " UNION ".join(
        f"""
        SELECT {COLUMNS}{more}
        FROM catalog_variant v
        JOIN accounts_partnership a ON a.supplier_id = v.supplier_id AND {FILLS_OPEN_ORDERS}
        JOIN orders_orderline l ON {match}
        JOIN orders_order o ON o.id = l.order_id AND o.retailer_id = a.retailer_id
        WHERE v.listed AND l.waiting_since IS NOT NULL AND l.waiting + l.rejected > 0
            AND coalesce(l.asked_supplier_id, v.supplier_id) = v.supplier_id AND {where}
        """  # noqa: S608 - built from constants
        for match in MATCHES
    )
    return f"{lines} ORDER BY {UNROUTED_ORDER}"


WAITING = lines_sql(f"v.id = ANY(%(variants)s) AND {OLDER_UNROUTED}") + " LIMIT %(most)s"
OF_ORDER = f"""
    SELECT {COLUMNS} FROM orders_orderline l JOIN orders_order o ON o.id = l.order_id
    WHERE o.id = %s AND l.waiting + l.rejected > 0 ORDER BY l.id
"""  # noqa: S608 - built from constants
SUBTRACT_ROUTED = """
    UPDATE orders_orderline l
    SET waiting = l.waiting - least(l.waiting, p.units), rejected = l.rejected + least(l.waiting, p.units)
    FROM unnest(%s::bigint[], %s::int[]) AS p (id, units) WHERE l.id = p.id
"""


def has_waiting_lines(variant_ids: Collection[int], *, but: int = 0) -> bool:
    """Return whether a line of any order except `but` may wait for one of these variants."""
    with connection.cursor() as cursor:
        cursor.execute(ANY_WAITING, {"variants": arrays.numbers(variant_ids), "but": but})
        return bool(cursor.fetchone()[0])


def waiting_lines(variant_ids: Collection[int], *, before: int, most: int | None = None) -> list[WaitingLine]:
    """Return the lines of orders with an id below `before` that may need one of these variants.

    `most` is the largest number of lines.
    """
    with connection.cursor() as cursor:
        cursor.execute(WAITING, {"variants": [*variant_ids], "before": before, "most": most})
        return rows_of(cursor, WaitingLine)


def own_waiting_lines(order_id: int) -> list[WaitingLine]:
    """Return the order's lines with unrouted units."""
    with connection.cursor() as cursor:
        cursor.execute(OF_ORDER, [order_id])
        return rows_of(cursor, WaitingLine)


def subtract_routed(units: Mapping[int, int]) -> None:
    """Subtract the routed units of each line from its waiting units.

    Add the routed units to `rejected` for now, because a line's units must add up to its quantity. At the end
    of the change, `open` and `rejected` are derived from the new fulfillments.
    """
    with connection.cursor() as cursor:
        cursor.execute(SUBTRACT_ROUTED, [list(units), list(units.values())])
