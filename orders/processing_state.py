"""The state of an order, derived from its lines and fulfillments, and the stamp that ends each change."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db import connection, models

from events import epochs
from fulfillments.states import State, sql


class ProcessingState(models.TextChoices):
    """The state of an order. It is derived from lines and fulfillments in the transaction of each change."""

    RECEIVED = "received"
    PROCESSING = "processing"
    PARTIALLY_SHIPPED = "partially_shipped"
    EXCEPTION = "exception"
    CANCELING = "canceling"
    COMPLETED = "completed"
    CANCELED = "canceled"


FINISHED: Final = (ProcessingState.COMPLETED, ProcessingState.CANCELED)

STATE_EVENTS: Final = {
    ProcessingState.PROCESSING: "order.processing",
    ProcessingState.EXCEPTION: "order.exception",
    ProcessingState.COMPLETED: "order.completed",
    ProcessingState.CANCELED: "order.canceled",
}
"""The event types for new states of an order. Other states have no event, because other events show them."""


def state_sql(opened: str, shipped: str, rejected: str, states: str) -> str:
    """Return the SQL of the only rule that decides an order's state (contract 4).

    The arguments are SQL: three sums of units over the order's lines, and an array of its fulfillments'
    states. Units that wait for stock count as open, because the order is not finished, and no person has to
    act.
    """
    order = ProcessingState
    return f"""
        CASE WHEN {opened} = 0 AND {rejected} = 0
                 THEN CASE WHEN {shipped} > 0 THEN {sql(order.COMPLETED)} ELSE {sql(order.CANCELED)} END
             WHEN {rejected} > 0 OR {sql(State.WRONG_ADDRESS)} = ANY({states}) THEN {sql(order.EXCEPTION)}
             WHEN {sql(State.CANCELING)} = ANY({states}) THEN {sql(order.CANCELING)}
             WHEN {shipped} > 0 THEN {sql(order.PARTIALLY_SHIPPED)}
             WHEN {states} && ARRAY[{sql(State.ACCEPTED, State.CANCELATION_NOT_ALLOWED)}]
                 THEN {sql(order.PROCESSING)}
             ELSE {sql(order.RECEIVED)} END
    """


def bucket_sql(state: str) -> str:
    """Return SQL that does the same as the function `bucket`, for a column with an order's state."""
    return f"CASE WHEN {state} IN ({sql(*FINISHED)}) THEN {state} ELSE 'pending' END"


DERIVE_STATE = f"""
    WITH by_line AS (
        SELECT p.order_line_id, sum(p.quantity - p.shipped - p.rejected - p.canceled) AS open,
               sum(p.reserved) AS reserved, sum(p.shipped) AS shipped, sum(p.canceled) AS canceled,
               sum(p.returned) AS returned
        FROM fulfillments_fulfillmentline p JOIN orders_orderline l ON l.id = p.order_line_id
        WHERE l.order_id = %(order)s GROUP BY p.order_line_id
    ), counted AS (
        SELECT l.id, l.quantity, coalesce(p.open, 0) AS open, coalesce(p.reserved, 0) AS reserved,
               coalesce(p.shipped, 0) AS shipped, coalesce(p.canceled, 0) + l.dropped AS canceled,
               coalesce(p.returned, 0) AS returned,
               l.waiting, l.waiting_since
        FROM orders_orderline l LEFT JOIN by_line p ON p.order_line_id = l.id WHERE l.order_id = %(order)s
    ), derived AS (
        SELECT *, quantity - open - waiting - shipped - canceled AS rejected FROM counted
    ), written AS (
        UPDATE orders_orderline l
        SET open = d.open, reserved = d.reserved, shipped = d.shipped, rejected = d.rejected,
            canceled = d.canceled, returned = d.returned,
            waiting_since = CASE WHEN d.reserved < d.quantity - d.shipped - d.canceled
                THEN coalesce(d.waiting_since, now()) END
        FROM derived d WHERE l.id = d.id
            AND ((l.open, l.reserved, l.shipped, l.rejected, l.canceled, l.returned)
                    <> (d.open, d.reserved, d.shipped, d.rejected, d.canceled, d.returned)
                OR (l.waiting_since IS NULL) = (d.reserved < d.quantity - d.shipped - d.canceled))
    )
    SELECT {state_sql("t.open", "t.shipped", "t.rejected", "s.states")}
    FROM (SELECT sum(open + waiting) AS open, sum(shipped) AS shipped, sum(rejected) AS rejected
          FROM derived) t,
         (SELECT array_agg(DISTINCT state::text) AS states
          FROM fulfillments_fulfillment WHERE order_id = %(order)s) s
"""


def derive_state(order_id: int) -> ProcessingState:
    """Recompute the order's lines from the fulfillments' lines. Return the order's new state."""
    with connection.cursor() as cursor:
        cursor.execute(DERIVE_STATE, {"order": order_id})
        return ProcessingState(cursor.fetchone()[0])


STAMP = """
    WITH clock AS (
        INSERT INTO orders_retailerclock AS clock (retailer_id, last, completed, canceled, pending)
        VALUES (%(retailer)s, date_trunc('milliseconds', clock_timestamp()),
                greatest(%(completed)s, 0), greatest(%(canceled)s, 0), greatest(%(pending)s, 0))
        ON CONFLICT (retailer_id) DO UPDATE
        SET last = greatest(date_trunc('milliseconds', clock_timestamp()), clock.last + interval '1 ms'),
            completed = clock.completed + %(completed)s,
            canceled = clock.canceled + %(canceled)s,
            pending = clock.pending + %(pending)s
        RETURNING last
    )
    UPDATE orders_order SET processing_state = %(state)s, updated_at = clock.last
    FROM clock WHERE id = %(order)s RETURNING updated_at
"""


def stamp(order_id: int, retailer_id: int, before: str | None, after: str) -> datetime:
    """Write the order's state and its new `updated_at` in whole milliseconds. Return the `updated_at`.

    The same statement updates the retailer's counts of orders. The clock row stays locked until the commit,
    so stamps become visible in ascending order, and two orders never have the same stamp.
    """
    counts = dict.fromkeys(("completed", "canceled", "pending"), 0)
    if before is not None:
        counts[bucket(before)] -= 1
    counts[bucket(after)] += 1
    with connection.cursor() as cursor:
        cursor.execute(STAMP, {"order": order_id, "retailer": retailer_id, "state": str(after), **counts})
        moment: datetime = cursor.fetchone()[0]
    return moment


def bucket(state: str) -> str:
    """Return the count of `RetailerClock` that includes this state: `pending` for every unfinished state."""
    return state if state in FINISHED else "pending"


def jump_ahead() -> None:
    """Advance every retailer's clock, because the system time of the new server may be behind the stamps."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO orders_retailerclock AS clock (retailer_id, last, completed, canceled, pending)
            SELECT id, ahead.moment, 0, 0, 0 FROM accounts_retailer, (
                SELECT date_trunc('milliseconds', clock_timestamp() + %s * interval '1 microsecond') AS moment
            ) AS ahead
            ORDER BY id
            ON CONFLICT (retailer_id)
            DO UPDATE SET last = greatest(excluded.last, clock.last + interval '1 ms')
            """,
            [epochs.AHEAD],
        )
