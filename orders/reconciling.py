"""Recomputing every stored counter from its sources: in a sound service the difference is nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection, transaction

from orders.settling import bucket_sql, state_sql


@dataclass(frozen=True)
class Check:
    """A counter and its sources: `differs` selects (what, stored, true), `mend` sets it right."""

    name: str
    differs: str
    mend: str = ""


@dataclass(frozen=True)
class Difference:
    """One counter that does not agree with its sources."""

    check: str
    what: str
    stored: str
    true: str

    def __str__(self) -> str:
        return f"{self.check}: {self.what} says {self.stored}, its sources say {self.true}"


RESERVED = """
    SELECT p.variant_id, f.warehouse_id, sum(p.reserved) AS reserved
    FROM fulfillments_fulfillmentline p JOIN fulfillments_fulfillment f ON f.id = p.fulfillment_id
    WHERE p.reserved > 0 GROUP BY 1, 2
"""
LINES = """
    SELECT l.id, coalesce(sum(p.quantity - p.shipped - p.rejected - p.canceled), 0) AS open,
           coalesce(sum(p.reserved), 0) AS reserved, coalesce(sum(p.shipped), 0) AS shipped,
           coalesce(sum(p.canceled), 0) + l.dropped AS canceled
    FROM orders_orderline l LEFT JOIN fulfillments_fulfillmentline p ON p.order_line_id = l.id
    GROUP BY l.id
"""
COUNTS = f"""
    SELECT retailer_id, count(*) FILTER (WHERE bucket = 'completed') AS completed,
           count(*) FILTER (WHERE bucket = 'canceled') AS canceled,
           count(*) FILTER (WHERE bucket = 'pending') AS pending
    FROM (SELECT retailer_id, {bucket_sql("processing_state")} AS bucket FROM orders_order) o
    GROUP BY retailer_id
"""
STATES = f"""
    SELECT o.id, {state_sql("t.open", "t.shipped", "t.rejected", "s.states")} AS state
    FROM orders_order o
    JOIN (SELECT order_id, sum(open) AS open, sum(shipped) AS shipped, sum(rejected) AS rejected
          FROM orders_orderline GROUP BY order_id) t ON t.order_id = o.id
    LEFT JOIN (SELECT order_id, array_agg(DISTINCT state::text) AS states
               FROM fulfillments_fulfillment GROUP BY order_id) s ON s.order_id = o.id
"""


def _kept(table: str, column: str) -> Check:
    """A fulfillment line's count against the parcels, refusals or returns that it is the sum of."""
    return Check(
        f"pieces {column}",
        f"""
        SELECT 'fulfillment line ' || p.id, p.{column}::text, coalesce(k.pieces, 0)::text
        FROM fulfillments_fulfillmentline p LEFT JOIN (
            SELECT (item->>'line')::bigint AS line, sum((item->>'quantity')::bigint) AS pieces
            FROM {table}, jsonb_array_elements(items) item GROUP BY 1
        ) k ON k.line = p.id
        WHERE p.{column} <> coalesce(k.pieces, 0)
        """,
    )


CHECKS = (
    Check(
        "stock reserved",
        f"""
        SELECT 'variant ' || coalesce(s.variant_id, r.variant_id) || ' in warehouse '
                   || coalesce(s.warehouse_id, r.warehouse_id),
               coalesce(s.reserved, 0)::text, coalesce(r.reserved, 0)::text
        FROM inventory_stocklevel s FULL JOIN ({RESERVED}) r
            ON r.variant_id = s.variant_id AND r.warehouse_id = s.warehouse_id
        WHERE coalesce(s.reserved, 0) <> coalesce(r.reserved, 0)
        """,
        f"""
        UPDATE inventory_stocklevel s
        SET reserved = coalesce((SELECT r.reserved FROM ({RESERVED}) r
                                 WHERE r.variant_id = s.variant_id AND r.warehouse_id = s.warehouse_id), 0)
        """,
    ),
    _kept("fulfillments_shipment", "shipped"),
    _kept("fulfillments_rejection", "rejected"),
    _kept("fulfillments_return", "returned"),
    Check(
        "order line",
        f"""
        SELECT 'order line ' || l.id, concat_ws('/', l.open, l.reserved, l.shipped, l.canceled),
               concat_ws('/', c.open, c.reserved, c.shipped, c.canceled)
        FROM orders_orderline l JOIN ({LINES}) c ON c.id = l.id
        WHERE (l.open, l.reserved, l.shipped, l.canceled)
            IS DISTINCT FROM (c.open, c.reserved, c.shipped, c.canceled)
        """,
        f"""
        UPDATE orders_orderline l
        SET open = c.open, reserved = c.reserved, shipped = c.shipped, canceled = c.canceled,
            rejected = l.quantity - c.open - c.shipped - c.canceled
        FROM ({LINES}) c WHERE c.id = l.id
        """,
    ),
    Check(
        "order state",
        f"""
        SELECT 'order ' || o.id, o.processing_state, t.state
        FROM orders_order o JOIN ({STATES}) t ON t.id = o.id WHERE o.processing_state <> t.state
        """,
        f"""
        UPDATE orders_order o SET processing_state = t.state
        FROM ({STATES}) t WHERE t.id = o.id AND o.processing_state <> t.state
        """,
    ),
    Check(
        "order counts",
        f"""
        SELECT 'retailer ' || coalesce(c.retailer_id, n.retailer_id),
               concat_ws('/', c.completed, c.canceled, c.pending),
               concat_ws('/', n.completed, n.canceled, n.pending)
        FROM orders_retailerclock c FULL JOIN ({COUNTS}) n ON n.retailer_id = c.retailer_id
        WHERE (coalesce(c.completed, 0), coalesce(c.canceled, 0), coalesce(c.pending, 0))
            <> (coalesce(n.completed, 0), coalesce(n.canceled, 0), coalesce(n.pending, 0))
        """,
        f"""
        UPDATE orders_retailerclock c
        SET completed = coalesce(n.completed, 0), canceled = coalesce(n.canceled, 0),
            pending = coalesce(n.pending, 0)
        FROM (SELECT r.id, n.* FROM accounts_retailer r LEFT JOIN ({COUNTS}) n ON n.retailer_id = r.id) n
        WHERE n.id = c.retailer_id
        """,
    ),
)


def differences() -> Iterator[Difference]:
    """Every counter that differs from its sources, in one snapshot."""
    outermost = not connection.in_atomic_block
    with transaction.atomic(), connection.cursor() as cursor:
        if outermost:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        for check in CHECKS:
            cursor.execute(check.differs)
            for what, stored, true in cursor.fetchall():
                yield Difference(check.name, what, stored, true)


def mend() -> None:
    """Set every counter right from its sources; nobody writes meanwhile."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "LOCK TABLE orders_order, orders_orderline, fulfillments_fulfillment,"
            " fulfillments_fulfillmentline, inventory_stocklevel, orders_retailerclock"
            " IN SHARE ROW EXCLUSIVE MODE"
        )
        for check in CHECKS:
            if check.mend:
                cursor.execute(check.mend)
