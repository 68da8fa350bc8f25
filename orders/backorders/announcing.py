"""The announcement of changed restock dates to the orders that wait for the stock (contract 23)."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from time import monotonic
from typing import Any, NamedTuple

from django.db import DatabaseError, connection
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from accounts.actors import Actor
from api.errors import ApiError
from events.models import Event
from fastdb import leased
from fastdb.rows import rows_of
from orders.backorders.expected_days import expected_days
from orders.models import Order
from orders.unrouted_lines import lines_sql

logger = logging.getLogger(__name__)

STOCK_EXPECTED = "order.stock_expected"
ANNOUNCE_TASK = "orders.tasks.announce_restock_dates"
AT_ONCE = 2.0
"""The caller announces dates for this many seconds. Then a worker continues."""
PAGE = 500

CHANGED = f"""
    SELECT id, variant_id, warehouse_id, changed_in FROM inventory_expectedstock
    WHERE NOT is_announced AND id > %s ORDER BY id LIMIT {PAGE}
"""  # noqa: S608 - built from constants
WAITING = f"""
    SELECT f.order_id, p.order_line_id AS line_id, p.variant_id
    FROM unnest(%(variants)s::bigint[], %(warehouses)s::bigint[]) AS c (variant_id, warehouse_id)
    JOIN fulfillments_fulfillmentline p ON p.variant_id = c.variant_id AND p.is_short
    JOIN fulfillments_fulfillment f ON f.id = p.fulfillment_id AND f.warehouse_id = c.warehouse_id
    UNION
    SELECT u.order_id, u.id, u.variant_id
    FROM ({lines_sql("v.id = ANY(%(variants)s)", ", v.id AS variant_id")}) u ORDER BY 1, 2
"""  # noqa: S608 - built from constants
ANNOUNCED = """
    UPDATE inventory_expectedstock e SET is_announced = true
    FROM unnest(%s::bigint[], %s::bigint[]) AS c (id, changed_in)
    WHERE e.id = c.id AND e.changed_in = c.changed_in
"""


WaitingLines = dict[int, set[int]]
"""The ids of variants with changed dates, by the id of the order line that waits for these variants."""


class ChangedDay(NamedTuple):
    """A stock row with a changed restock date.

    `changed_in` is the number of the transaction that changed the date, so each change has its own number.
    """

    id: int
    variant_id: int
    warehouse_id: int
    changed_in: int


def announce() -> None:
    """Announce changed restock dates to the waiting orders for AT_ONCE seconds. Then a worker continues."""
    if not announce_all(seconds=AT_ONCE):
        leased.wake(ANNOUNCE_TASK)


def announce_all(*, seconds: float) -> bool:
    """Record an event for each order that waits for a stock row with a changed restock date.

    Return False if work is left. Each order is one transaction. The dates of a page are marked as announced
    after its last event, except for variants with an order that could not be notified. The next run tries
    these orders again, and skips the orders that were notified.
    """
    end = monotonic() + seconds
    last, done = 0, True
    while changed := _changed_after(last):
        failed: set[int] = set()
        waiting = _waiting(changed)
        for order_id in _to_notify(waiting):
            if monotonic() > end:
                return False
            if not _announce_to(order_id, [*waiting[order_id]]):
                failed.update(*waiting[order_id].values())
        _mark_announced([row for row in changed if row.variant_id not in failed])
        last, done = changed[-1].id, done and not failed
    return done


def _changed_after(last: int) -> list[ChangedDay]:
    """Return the next stock rows whose changed date is not announced yet, in order of id."""
    with connection.cursor() as cursor:
        cursor.execute(CHANGED, [last])
        return rows_of(cursor, ChangedDay)


def _mark_announced(rows: Sequence[ChangedDay]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(ANNOUNCED, [[row.id for row in rows], [row.changed_in for row in rows]])


def _waiting(changed: Sequence[ChangedDay]) -> dict[int, WaitingLines]:
    """Return the lines that wait for stock of these rows, by the id of the order."""
    params = {
        "variants": [row.variant_id for row in changed],
        "warehouses": [row.warehouse_id for row in changed],
    }
    orders: dict[int, WaitingLines] = {}
    with connection.cursor() as cursor:
        cursor.execute(WAITING, params)
        for order_id, line_id, variant_id in cursor.fetchall():
            orders.setdefault(order_id, {}).setdefault(line_id, set()).add(variant_id)
    return orders


def _to_notify(waiting: Mapping[int, WaitingLines]) -> Iterator[int]:
    """Yield the ids of orders with a line whose present restock date was not announced."""
    orders = [*waiting]
    for start in range(0, len(orders), PAGE):
        page = {order_id: [*waiting[order_id]] for order_id in orders[start : start + PAGE]}
        yield from _unknown_days(page)


def _unknown_days(lines: Mapping[int, Sequence[int]]) -> dict[int, dict[int, str | None]]:
    """Return the restock dates that were not announced yet, by order and line; None if a line has no date.

    Ignore announcements before the order's last event of another type: they may be outdated.
    """
    days = expected_days([pk for line_ids in lines.values() for pk in line_ids])
    known = {
        line["order_line_id"]: line["expected_at"] for data in _announced(lines) for line in data["expected"]
    }
    unknown: dict[int, dict[int, str | None]] = {}
    for order_id, line_ids in lines.items():
        for pk in line_ids:
            day = days[pk].isoformat() if pk in days else None
            if pk not in known or known[pk] != day:
                unknown.setdefault(order_id, {})[pk] = day
    return unknown


def _announced(order_ids: Collection[int]) -> QuerySet[Event, dict[str, Any]]:
    """Return the data of the announcements after each order's last event of another type, oldest first."""
    others = Event.objects.filter(order_id=OuterRef("order_id")).exclude(type=STOCK_EXPECTED)
    last_other = Subquery(others.order_by("-id").values("id")[:1])
    events = Event.objects.filter(order_id__in=order_ids, type=STOCK_EXPECTED)
    return events.filter(id__gt=Coalesce(last_other, 0)).order_by("id").values_list("data", flat=True)


def _announce_to(order_id: int, line_ids: Sequence[int]) -> bool:
    """Announce new restock dates to an order. Return False if the next run must try again."""
    try:
        with Order.objects.get(pk=order_id).change(by=Actor.system("restock dates")) as change:
            # Read again under the order's lock, because another process may have just notified the order.
            for days in _unknown_days({order_id: line_ids}).values():
                lines = [{"order_line_id": pk, "expected_at": day} for pk, day in days.items()]
                change.record(STOCK_EXPECTED, data={"expected": lines})
    except (ApiError, DatabaseError) as error:
        if not connection.is_usable():
            raise  # without a database, the other orders cannot be notified either
        logger.warning("order %s: its restock dates wait for the next run: %s", order_id, error)
        return False
    return True
