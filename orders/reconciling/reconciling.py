"""Recompute every counter and state from its sources, and repair the ones that differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from api.renderers import iso
from catalog.snapshot import take_snapshot_after_commit
from fulfillments.states import APPROVE_CANCELATION, CANCELING, REQUEST_CANCELATION, sql
from orders.canceling import CANCEL_REQUESTED
from orders.processing_state import ProcessingState, bucket_sql, stamp, state_sql
from orders.reconciling.history_sources import CLOCKS, HISTORIES, MEND_CLOCKS, MEND_STATES, MISFITS, UNSTAMPED
from orders.reconciling.ledger_sources import (
    LEDGER,
    MEND_RESERVED,
    MEND_STOCK,
    RESERVED,
    RESERVED_BY_FULFILLMENT,
    RESERVED_BY_LEDGER,
)


@dataclass(frozen=True)
class Difference:
    """A counter that differs from its sources."""

    check: str
    row: str
    stored: str
    true: str

    def __str__(self) -> str:
        return f"{self.check}: {self.row} has {self.stored}, its sources have {self.true}"


@dataclass(frozen=True)
class Check:
    """Counters of a table (`s`), and the query that recomputes them (`t`), joined by `key`.

    `row_name` is SQL that names a row. `mend` writes the columns of `wrong`, the rows that differ, and may
    return the ids of their orders.
    """

    name: str
    table: str
    true: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    row_name: str
    mend: str

    def differences(self) -> str:
        """Return SQL that selects the name, the stored counts and the true counts of each differing row."""
        return f"SELECT {self.row_name}, {self._count_list('s')}, {self._count_list('t')} {self._differing()}"

    def mending(self) -> str:
        keys = ", ".join(self.key)
        counts = ", ".join(f"coalesce(t.{each}, 0) AS {each}" for each in self.columns)
        return f"WITH wrong AS (SELECT {keys}, {counts} {self._differing()}) {self.mend}"

    def _differing(self) -> str:
        differ = " OR ".join(f"coalesce(s.{each}, 0) <> coalesce(t.{each}, 0)" for each in self.columns)
        return f"FROM {self.table} s FULL JOIN ({self.true}) t USING ({', '.join(self.key)}) WHERE {differ}"

    def _count_list(self, row: str) -> str:
        """Return SQL for the names and values of the counters that differ."""
        differences = (
            f"CASE WHEN coalesce(s.{each}, 0) <> coalesce(t.{each}, 0)"
            f" THEN '{each} ' || coalesce({row}.{each}, 0) END"
            for each in self.columns
        )
        return f"concat_ws(', ', {', '.join(differences)})"


def _set(columns: Iterable[str], source: str = "wrong") -> str:
    return ", ".join(f"{each} = {source}.{each}" for each in columns)


def _units(items: str, table: str, where: str = "true") -> str:
    """Return SQL for the units in the items of parcels, refusals, returns or events, by line."""
    return f"""
        SELECT (item->>'line')::bigint AS line, sum((item->>'quantity')::bigint) AS units
        FROM {table} k, jsonb_array_elements({items}) item WHERE {where} GROUP BY 1
    """


# Units whose release is requested: those of the last request that the supplier has not answered.
REQUESTED = f"""
    SELECT (item->>'line')::bigint AS line, (item->>'quantity')::bigint AS units
    FROM fulfillments_fulfillment f, LATERAL (
        SELECT e.data->'items' AS items FROM events_event e
        WHERE e.order_id = f.order_id AND e.fulfillment_id = f.id AND e.type = '{REQUEST_CANCELATION.event}'
        ORDER BY e.id DESC LIMIT 1
    ) k, jsonb_array_elements(k.items) item WHERE f.state = '{CANCELING}'
"""
UNIT_SOURCES = {
    "shipped": _units("k.items", "fulfillments_shipment"),
    "rejected": _units("k.items", "fulfillments_rejection"),
    "canceled": _units("k.data->'items'", "events_event", f"k.type = '{APPROVE_CANCELATION.event}'"),
    "returned": _units("k.items", "fulfillments_return"),
    "cancel_requested": REQUESTED,
}
FULFILLMENT_LINES = f"""
    SELECT p.id, {", ".join(f"coalesce({name}.units, 0) AS {name}" for name in UNIT_SOURCES)}
    FROM fulfillments_fulfillmentline p
    {" ".join(f"LEFT JOIN ({source}) {name} ON {name}.line = p.id" for name, source in UNIT_SOURCES.items())}
"""
# Old requests, whose events have no `dropped`. For their orders only the line has the number.
OLD_REQUESTS = f"""
    SELECT FROM events_event e WHERE e.order_id = l.order_id AND e.type = '{CANCEL_REQUESTED}'
        AND e.data->'dropped' IS NULL
"""
# `waiting` has no source of its own, but never exceeds the unrouted units.
LINE_COUNTS = ("open", "reserved", "waiting", "shipped", "rejected", "canceled", "returned", "dropped")
LINES = f"""
    SELECT id, open, reserved, shipped, unrouted - least(waiting, greatest(unrouted, 0)) AS rejected,
           released + dropped AS canceled, returned, dropped, least(waiting, greatest(unrouted, 0)) AS waiting
    FROM (SELECT *, quantity - open - shipped - released - dropped AS unrouted FROM (
        SELECT l.id, l.quantity, l.waiting,
               coalesce(sum(p.quantity - p.shipped - p.rejected - p.canceled), 0) AS open,
               coalesce(sum(p.reserved), 0) AS reserved, coalesce(sum(p.shipped), 0) AS shipped,
               coalesce(sum(p.canceled), 0) AS released, coalesce(sum(p.returned), 0) AS returned,
               CASE WHEN EXISTS ({OLD_REQUESTS}) THEN l.dropped ELSE coalesce(max(d.units), 0) END AS dropped
        FROM orders_orderline l LEFT JOIN fulfillments_fulfillmentline p ON p.order_line_id = l.id
        LEFT JOIN ({_units("k.data->'dropped'", "events_event", f"k.type = '{CANCEL_REQUESTED}'")}) d
            ON d.line = l.id
        GROUP BY l.id
    ) counted) line
"""
COUNTS = f"""
    SELECT retailer_id, count(*) FILTER (WHERE bucket = {sql(ProcessingState.COMPLETED)}) AS completed,
           count(*) FILTER (WHERE bucket = {sql(ProcessingState.CANCELED)}) AS canceled,
           count(*) FILTER (WHERE bucket = 'pending') AS pending
    FROM (SELECT retailer_id, {bucket_sql("processing_state")} AS bucket FROM orders_order) o
    GROUP BY retailer_id
"""
STATES = f"""
    SELECT o.id, o.retailer_id, o.processing_state AS stored,
           {state_sql("t.open", "t.shipped", "t.rejected", "s.states")} AS state
    FROM orders_order o
    JOIN (SELECT order_id, sum(open + waiting) AS open, sum(shipped) AS shipped, sum(rejected) AS rejected
          FROM orders_orderline GROUP BY order_id) t ON t.order_id = o.id
    LEFT JOIN (SELECT order_id, array_agg(DISTINCT state::text) AS states
               FROM fulfillments_fulfillment GROUP BY order_id) s ON s.order_id = o.id
"""
STOCK, STOCK_KEY = "inventory_stocklevel", ("variant_id", "warehouse_id")
STOCK_NAME = "'variant ' || variant_id || ' in warehouse ' || warehouse_id"

CHECKS = (
    Check(
        "units",
        "fulfillments_fulfillmentline",
        FULFILLMENT_LINES,
        ("id",),
        tuple(UNIT_SOURCES),
        "'fulfillment line ' || id",
        # `reserved` never exceeds the open units; the next check repairs the rest.
        f"""
        UPDATE fulfillments_fulfillmentline p SET {_set(UNIT_SOURCES)}, reserved = least(
            p.reserved, greatest(p.quantity - wrong.shipped - wrong.rejected - wrong.canceled, 0))
        FROM wrong WHERE wrong.id = p.id
        """,
    ),
    Check(
        "reserved",
        RESERVED_BY_FULFILLMENT,
        RESERVED_BY_LEDGER,
        ("fulfillment_id", "variant_id"),
        ("reserved",),
        "'variant ' || variant_id || ' of fulfillment ' || fulfillment_id",
        MEND_RESERVED,
    ),
    Check("stock reserved", STOCK, RESERVED, STOCK_KEY, ("reserved",), STOCK_NAME, MEND_STOCK),
    Check("stock ledger", STOCK, LEDGER, STOCK_KEY, ("on_hand", "reserved"), STOCK_NAME, MEND_STOCK),
    Check(
        "order line",
        "orders_orderline",
        LINES,
        ("id",),
        LINE_COUNTS,
        "'order line ' || id",
        f"""
        UPDATE orders_orderline l
        SET {_set(LINE_COUNTS)}
        FROM wrong WHERE wrong.id = l.id RETURNING l.order_id
        """,
    ),
    Check(
        "order counts",
        "orders_retailerclock",
        COUNTS,
        ("retailer_id",),
        ("completed", "canceled", "pending"),
        "'retailer ' || retailer_id",
        f"""
        INSERT INTO orders_retailerclock (retailer_id, completed, canceled, pending, last)
        SELECT retailer_id, completed, canceled, pending, coalesce(
            (SELECT max(updated_at) FROM orders_order o WHERE o.retailer_id = wrong.retailer_id),
            date_trunc('milliseconds', clock_timestamp()))
        FROM wrong
        ON CONFLICT (retailer_id) DO UPDATE
        SET {_set(("completed", "canceled", "pending"), "excluded")}
        """,
    ),
)


def differences() -> Iterator[Difference]:
    """Yield every counter that differs from its sources, in one snapshot."""
    outermost = not connection.in_atomic_block
    with transaction.atomic(), connection.cursor() as cursor:
        if outermost:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        for check in CHECKS:
            cursor.execute(check.differences())
            yield from (Difference(check.name, *row) for row in cursor.fetchall())
        cursor.execute(f"SELECT id, stored, state FROM ({STATES}) o WHERE stored <> state")
        for pk, stored, true in cursor.fetchall():
            yield Difference("order state", f"order {pk}", stored, true)
        cursor.execute(f"SELECT id, stored, state FROM ({HISTORIES}) f WHERE stored <> state")
        for pk, stored, true in cursor.fetchall():
            yield Difference("fulfillment state", f"fulfillment {pk}", stored, true)
        cursor.execute(MISFITS)
        for pk, state, units in cursor.fetchall():
            yield Difference("open work", f"fulfillment {pk}", state, f"{units} open units")
        cursor.execute(CLOCKS)
        for pk, last, stamped in cursor.fetchall():
            yield Difference("clock", f"retailer {pk}", iso(last), f"an order is stamped {iso(stamped)}")
        cursor.execute(UNSTAMPED)
        for (pk,) in cursor.fetchall():
            yield Difference("stamp", f"order {pk}", "no stamp", "a change")


def mend() -> None:
    """Repair every counter from its sources, while all writers wait.

    The repaired orders get new stamps, so that retailers' pollers see them. The lock also blocks row locks: a
    change that holds row locks and waits for this transaction would cause a deadlock.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "LOCK TABLE orders_order, orders_orderline, fulfillments_fulfillment,"
            " fulfillments_fulfillmentline, inventory_stocklevel, orders_retailerclock IN EXCLUSIVE MODE"
        )
        touched: set[int] = set()
        for statement in [MEND_STATES, *(check.mending() for check in CHECKS), MEND_CLOCKS]:
            cursor.execute(statement)
            if cursor.description:
                touched |= {order_id for (order_id,) in cursor.fetchall()}
        take_snapshot_after_commit()
        for order in _to_stamp(cursor, touched):
            stamp(*order)


def _to_stamp(cursor: Any, touched: set[int]) -> list[tuple[int, int, str, str]]:
    """Return the orders with wrong lines or state: id, retailer, stored and true state."""
    cursor.execute(
        f"SELECT id, retailer_id, stored, state FROM ({STATES}) o"
        f" WHERE stored <> state OR id = ANY(%s) OR id IN ({UNSTAMPED})",
        [sorted(touched)],
    )
    rows: list[tuple[int, int, str, str]] = cursor.fetchall()
    return rows
