"""What an order's lines and fulfillments make of it, and the stamp that ends each change."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import connection, models

from fulfillments.states import State


class ProcessingState(models.TextChoices):
    """Derived from the lines and fulfillments, in the change's own transaction."""

    RECEIVED = "received"
    PROCESSING = "processing"
    PARTIALLY_SHIPPED = "partially_shipped"
    EXCEPTION = "exception"
    CANCELING = "canceling"
    COMPLETED = "completed"
    CANCELED = "canceled"


@dataclass(frozen=True)
class Totals:
    """An order's pieces, and the states that its fulfillments are in."""

    open: int
    shipped: int
    rejected: int
    states: frozenset[str]


def derive(totals: Totals) -> ProcessingState:
    """The one place that says what an order is (contract 4)."""
    if not totals.open and not totals.rejected:
        return ProcessingState.COMPLETED if totals.shipped else ProcessingState.CANCELED
    if totals.rejected or State.WRONG_ADDRESS in totals.states:
        return ProcessingState.EXCEPTION
    if State.CANCELING in totals.states:
        return ProcessingState.CANCELING
    if totals.shipped:
        return ProcessingState.PARTIALLY_SHIPPED
    if totals.states & {State.ACCEPTED, State.CANCELATION_NOT_ALLOWED}:
        return ProcessingState.PROCESSING
    return ProcessingState.RECEIVED


RECOUNT = """
    WITH parts AS (
        SELECT p.order_line_id, sum(p.quantity - p.shipped - p.rejected - p.canceled) AS open,
               sum(p.reserved) AS reserved, sum(p.shipped) AS shipped, sum(p.canceled) AS canceled
        FROM fulfillments_fulfillmentline p JOIN orders_orderline l ON l.id = p.order_line_id
        WHERE l.order_id = %s GROUP BY p.order_line_id
    ), counted AS (
        SELECT l.id, coalesce(p.open, 0) AS open, coalesce(p.reserved, 0) AS reserved,
               coalesce(p.shipped, 0) AS shipped, coalesce(p.canceled, 0) + l.dropped AS canceled
        FROM orders_orderline l LEFT JOIN parts p ON p.order_line_id = l.id WHERE l.order_id = %s
    )
    UPDATE orders_orderline l
    SET open = c.open, reserved = c.reserved, shipped = c.shipped, canceled = c.canceled,
        rejected = l.quantity - c.open - c.shipped - c.canceled
    FROM counted c WHERE l.id = c.id
    RETURNING l.open, l.shipped, l.rejected
"""
STATES = "SELECT DISTINCT state FROM fulfillments_fulfillment WHERE order_id = %s"


def recount(order_id: int) -> Totals:
    """Bring the order's lines in line with the fulfillments' lines; return the totals."""
    with connection.cursor() as cursor:
        cursor.execute(RECOUNT, [order_id, order_id])
        lines = cursor.fetchall()
        cursor.execute(STATES, [order_id])
        states = frozenset(state for (state,) in cursor.fetchall())
    opened, shipped, rejected = (sum(column) for column in zip(*lines, strict=True))
    return Totals(opened, shipped, rejected, states)


STAMP = """
    INSERT INTO orders_retailerclock AS clock (retailer_id, last, completed, canceled, pending)
    VALUES (%(retailer)s, date_trunc('milliseconds', clock_timestamp()),
            greatest(%(completed)s, 0), greatest(%(canceled)s, 0), greatest(%(pending)s, 0))
    ON CONFLICT (retailer_id) DO UPDATE
    SET last = greatest(date_trunc('milliseconds', clock_timestamp()), clock.last + interval '1 ms'),
        completed = clock.completed + %(completed)s,
        canceled = clock.canceled + %(canceled)s,
        pending = clock.pending + %(pending)s
    RETURNING last
"""


def stamp(retailer_id: int, before: str | None, after: str) -> datetime:
    """The order's new `updated_at`, in whole milliseconds; moves the retailer's counters with it.

    The clock row stays locked until the commit, so stamps become visible in ascending order and never tie.
    """
    counts = dict.fromkeys(("completed", "canceled", "pending"), 0)
    if before is not None:
        counts[bucket(before)] -= 1
    counts[bucket(after)] += 1
    with connection.cursor() as cursor:
        cursor.execute(STAMP, {"retailer": retailer_id, **counts})
        moment: datetime = cursor.fetchone()[0]
    return moment


def bucket(state: str) -> str:
    """The count of `order-filters` that an order in this state belongs to; pending is every other state."""
    return state if state in (ProcessingState.COMPLETED, ProcessingState.CANCELED) else "pending"
