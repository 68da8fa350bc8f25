"""The comparison of every counter and state with its sources, and the repair of the differences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from accounts.actors import Actor
from api.renderers import iso
from catalog.snapshot import take_snapshot_after_commit
from events.recording import record
from fulfillments.scorecard.sums import MEND_SUMS, WRONG_SUMS, all_counted
from fulfillments.states import sql
from orders.cancelable_units import CANCEL_REQUESTED
from orders.canceling import WAIT_ENDED
from orders.change import state_event
from orders.processing_state import ProcessingState, bucket_sql, stamp, state_sql
from orders.reconciling.derived_sources import (
    COUNTRIES,
    HELD,
    MEND_COUNTRIES,
    MEND_HELD,
    MEND_SEARCH_ENTRIES,
    MEND_TIME_LIMITS,
    MEND_WAITING,
    RESTOCKED,
    SEARCH_ENTRIES,
    TIME_LIMITS,
    WAITING,
)
from orders.reconciling.history_sources import (
    CLOCKS,
    MEND_BEFORE_CANCEL,
    MEND_CLOCKS,
    MEND_STATES,
    MISFITS,
    STAMPS,
    STATES_BEFORE_CANCEL,
    STATES_OF_FULFILLMENTS,
    UNSTAMPED,
)
from orders.reconciling.ledger_sources import (
    EVIDENCE,
    LEDGER,
    MEND_RESERVED,
    MEND_STOCK,
    RESERVED,
    RESERVED_BY_FULFILLMENT,
    RESERVED_BY_LEDGER,
)
from orders.reconciling.unit_sources import (
    DISAGREEING,
    FULFILLMENT_LINES,
    REQUESTED,
    RESTORE_PARCELS,
    UNIT_COLUMNS,
    units,
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
    """The comparison of a table's counters with their sources.

    `table` has the stored counters, with the alias `s` in SQL. `true` is a query that recomputes the
    counters, with the alias `t`. The columns in `key` join the table and the query. `row_name` is SQL that
    names a row. `mend` is SQL that repairs the table. It reads the CTE `wrong`: the keys of the wrong rows,
    with the recomputed counters. `mend` may return the ids of the orders that have repaired rows.
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


DROPS = f"k.type IN ('{CANCEL_REQUESTED}', '{WAIT_ENDED}')"
# Events of old cancel requests have no `dropped`. For orders with such events, only the line has the number
# of dropped units.
OLD_REQUESTS = f"""
    SELECT FROM events_event e WHERE e.order_id = l.order_id AND e.type = '{CANCEL_REQUESTED}'
        AND e.data->'dropped' IS NULL
"""
# `waiting` has no source of its own, but it is never larger than the number of unrouted units.
LINE_COUNTS = ("open", "reserved", "waiting", "shipped", "rejected", "canceled", "returned", "dropped")
LINES = f"""
    SELECT id, open, reserved, shipped, unrouted - least(waiting, greatest(unrouted, 0)) AS rejected,
           released + dropped AS canceled, returned, dropped, least(waiting, greatest(unrouted, 0)) AS waiting
    FROM (SELECT *, quantity - open - shipped - released - dropped AS unrouted FROM (
        SELECT l.id, l.quantity, l.waiting,
               coalesce(sum(p.quantity - p.shipped - p.rejected - p.canceled), 0) AS open,
               coalesce(sum(p.reserved), 0) AS reserved, coalesce(sum(p.shipped), 0) AS shipped,
               coalesce(sum(p.canceled), 0) AS released, coalesce(sum(p.returned), 0) AS returned,
               CASE WHEN EXISTS ({OLD_REQUESTS}) THEN l.dropped
                    WHEN l.dropped = l.canceled - coalesce(sum(p.canceled), 0) THEN l.dropped
                    ELSE coalesce(max(d.units), 0) END AS dropped
        FROM orders_orderline l LEFT JOIN fulfillments_fulfillmentline p ON p.order_line_id = l.id
        LEFT JOIN ({units("k.data->'dropped'", "events_event", DROPS)}) d
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

UNITS = Check(
    "units",
    "fulfillments_fulfillmentline",
    FULFILLMENT_LINES,
    ("id",),
    UNIT_COLUMNS,
    "'fulfillment line ' || id",
    # Limit `reserved` and `cancel_requested` to the open units. Later checks compare both columns with their
    # sources.
    f"""
    UPDATE fulfillments_fulfillmentline p SET {_set(UNIT_COLUMNS)},
        reserved = least(
            p.reserved, greatest(p.quantity - wrong.shipped - wrong.rejected - wrong.canceled, 0)),
        cancel_requested = least(
            p.cancel_requested, greatest(p.quantity - wrong.shipped - wrong.rejected - wrong.canceled, 0))
    FROM wrong WHERE wrong.id = p.id
    """,
)
CHECKS = (
    Check(
        "units asked back",
        "fulfillments_fulfillmentline",
        REQUESTED,
        ("id",),
        ("cancel_requested",),
        "'fulfillment line ' || id",
        """
        UPDATE fulfillments_fulfillmentline p SET cancel_requested = wrong.cancel_requested
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


@dataclass(frozen=True)
class Finding:
    """The comparison of values with their sources, like `Check`, but for values that are not counters.

    `select` returns the name of each differing row, the stored value, and the value of the sources. `mend`
    repairs the rows, and may return the ids of the orders that have repaired rows. Without `mend`, a person
    has to decide.
    """

    name: str
    select: str
    mend: str = ""


STATES_DIFFER = f"SELECT 'order ' || id, stored, state FROM ({STATES}) o WHERE stored <> state"
# The repairs of `CHECKS` need the repairs in `BEFORE`, which run first. The repairs in `AFTER` need the
# repairs of `CHECKS`, and run last.
BEFORE = (
    Finding("parcels", DISAGREEING, RESTORE_PARCELS),
    Finding("fulfillment state", STATES_OF_FULFILLMENTS, MEND_STATES),
)
AFTER = (
    Finding("order state", STATES_DIFFER),
    Finding("open work", MISFITS),
    Finding("state before the cancellation", STATES_BEFORE_CANCEL, MEND_BEFORE_CANCEL),
    Finding("time limit", TIME_LIMITS, MEND_TIME_LIMITS),
    Finding("waiting since", WAITING, MEND_WAITING),
    Finding("finished order", HELD, MEND_HELD),
    Finding("country", COUNTRIES, MEND_COUNTRIES),
    Finding("search", SEARCH_ENTRIES, MEND_SEARCH_ENTRIES),
    Finding("returned units", RESTOCKED),
    Finding("clock", CLOCKS, MEND_CLOCKS),
    Finding("stamp", STAMPS),
)


def differences() -> Iterator[Difference]:
    """Yield every value that differs from its sources. All values are read in one snapshot."""
    outermost = not connection.in_atomic_block
    with transaction.atomic(), connection.cursor() as cursor:
        if outermost:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        for check in (UNITS, *CHECKS):
            cursor.execute(check.differences())
            yield from (Difference(check.name, *row) for row in cursor.fetchall())
        for finding in (*BEFORE, *AFTER):
            cursor.execute(finding.select)
            yield from (Difference(finding.name, *map(_text, row)) for row in cursor.fetchall())
        cursor.execute(WRONG_SUMS, all_counted())
        yield from (Difference("scorecard", *row) for row in cursor.fetchall())


def _text(value: object) -> str:
    return iso(value) if isinstance(value, datetime) else str(value)


def mend() -> None:
    """Repair every value whose sources agree, while all writers wait.

    The repaired orders get new stamps, so that retailers' pollers see them. If an order gets another state,
    record the event of this state. The lock mode also stops row locks. Otherwise a change that holds a row
    lock and waits for the table would cause a deadlock.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "LOCK TABLE orders_order, orders_orderline, fulfillments_fulfillment,"
            " fulfillments_fulfillmentline, inventory_stocklevel, orders_retailerclock IN EXCLUSIVE MODE"
        )
        cursor.execute(EVIDENCE)
        touched: set[int] = set()
        first = (RESTORE_PARCELS, UNITS.mending(), MEND_STATES)
        last = (finding.mend for finding in AFTER if finding.mend)
        for statement in (*first, *(check.mending() for check in CHECKS), *last):
            cursor.execute(statement)
            if cursor.description:
                touched |= {order_id for (order_id,) in cursor.fetchall()}
        cursor.execute(MEND_SUMS, all_counted())
        cursor.execute("DROP TABLE reconcile_evidence")
        take_snapshot_after_commit()
        for order_id, retailer_id, stored, state in _to_stamp(cursor, touched):
            if event := state_event(stored, state):
                record(**event, by=Actor.system("reconcile"), order_id=order_id, retailer_id=retailer_id)
            stamp(order_id, retailer_id, stored, state)


def _to_stamp(cursor: Any, touched: set[int]) -> list[tuple[int, int, str, str]]:
    """Return the id, retailer, stored state and true state of each order that needs a new stamp.

    These orders have repaired rows, a wrong state or no stamp.
    """
    cursor.execute(
        f"SELECT id, retailer_id, stored, state FROM ({STATES}) o"
        f" WHERE stored <> state OR id = ANY(%s) OR id IN ({UNSTAMPED})",
        [sorted(touched)],
    )
    rows: list[tuple[int, int, str, str]] = cursor.fetchall()
    return rows
