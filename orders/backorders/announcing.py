"""The announcement of changed restock dates to the orders that wait for the stock (contract 23)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from time import monotonic
from typing import NamedTuple

from django.db import DatabaseError, connection

from accounts.actors import Actor
from api.errors import ApiError
from fastdb import leased
from fastdb.rows import rows_of
from orders.backorders.expected_days import expected_days
from orders.models import Order
from orders.unrouted_lines import lines_sql

logger = logging.getLogger(__name__)

STOCK_EXPECTED = "order.stock_expected"
ANNOUNCE_TASK = "orders.tasks.announce_restock_dates"
AT_ONCE = 2.0
"""Seconds that the caller spends on announcements. A worker does the rest."""
PAGE = 500

CHANGED = f"""
    SELECT id, variant_id, warehouse_id, changed_in FROM inventory_expectedstock
    WHERE NOT is_announced ORDER BY id LIMIT {PAGE}
"""  # noqa: S608 - built from constants
WAITING = f"""
    SELECT f.order_id, p.order_line_id AS line_id
    FROM unnest(%(variants)s::bigint[], %(warehouses)s::bigint[]) AS c (variant_id, warehouse_id)
    JOIN fulfillments_fulfillmentline p ON p.variant_id = c.variant_id AND p.is_short
    JOIN fulfillments_fulfillment f ON f.id = p.fulfillment_id AND f.warehouse_id = c.warehouse_id
    UNION
    SELECT u.order_id, u.id FROM ({lines_sql("v.id = ANY(%(variants)s)")}) u ORDER BY 1, 2
"""  # noqa: S608 - built from constants
ANNOUNCED = """
    UPDATE inventory_expectedstock e SET is_announced = true
    FROM unnest(%s::bigint[], %s::bigint[]) AS c (id, changed_in)
    WHERE e.id = c.id AND e.changed_in = c.changed_in
"""


class ChangedDay(NamedTuple):
    """A stock row with a changed restock date.

    `changed_in` is the number of the transaction that changed the date, so each change has its own number.
    """

    id: int
    variant_id: int
    warehouse_id: int
    changed_in: int


def announce() -> None:
    """Announce changed restock dates to the waiting orders for AT_ONCE seconds. A worker does the rest."""
    if not announce_all(seconds=AT_ONCE):
        leased.wake(ANNOUNCE_TASK)


def announce_all(*, seconds: float) -> bool:
    """Record an event for each order that waits for a stock row with a changed restock date.

    Return False if work is left. Each order is one transaction. The dates of a page are marked as announced
    after its last event. If a run ends before that, the next run repeats the events of the page.
    """
    end = monotonic() + seconds
    while True:
        with connection.cursor() as cursor:
            cursor.execute(CHANGED)
            changed = rows_of(cursor, ChangedDay)
        if not changed:
            return True
        for order_id, line_ids in _waiting(changed).items():
            if monotonic() > end:
                return False
            _announce_to(order_id, line_ids)
        with connection.cursor() as cursor:
            cursor.execute(ANNOUNCED, [[row.id for row in changed], [row.changed_in for row in changed]])


def _waiting(changed: Sequence[ChangedDay]) -> dict[int, list[int]]:
    """Return the lines that wait for this stock, by order."""
    params = {
        "variants": [row.variant_id for row in changed],
        "warehouses": [row.warehouse_id for row in changed],
    }
    orders: dict[int, list[int]] = {}
    with connection.cursor() as cursor:
        cursor.execute(WAITING, params)
        for order_id, line_id in cursor.fetchall():
            orders.setdefault(order_id, []).append(line_id)
    return orders


def _announce_to(order_id: int, line_ids: list[int]) -> None:
    try:
        with Order.objects.get(pk=order_id).change(by=Actor.system("restock dates")) as change:
            days = expected_days(line_ids)
            lines = [
                {"order_line_id": pk, "expected_at": days[pk].isoformat() if pk in days else None}
                for pk in line_ids
            ]
            change.record(STOCK_EXPECTED, data={"expected": lines})
    except (ApiError, DatabaseError) as error:
        if not connection.is_usable():
            raise  # without a database, the other orders cannot be notified either
        logger.warning("order %s: its restock dates are not announced: %s", order_id, error)
