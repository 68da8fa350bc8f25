"""The cancellation of units that have waited for stock until their limit (contract 17)."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from time import monotonic

from django.db import DatabaseError, connection

from accounts.actors import Actor
from api.errors import ApiError
from fulfillments.planning.candidates import Market, WaitingLine
from orders.canceling import end_wait
from orders.models import Order
from orders.unrouted_lines import COLUMNS

logger = logging.getLogger(__name__)

PAGE = 500
SHIP_UNTIL, MAX_WAIT_DAYS = "ship_until", "max_wait_days"
"""The reasons in the event. Each reason is the name of the field that set the limit."""

# This query finds the lines whose wait may have ended: it uses the shortest limit of all the retailer's
# partners. `_most_days` then uses only the limits of the partners that could fill the line.
LATE = f"""
    SELECT * FROM (
        SELECT {COLUMNS}, coalesce(o.ship_until < (now() AT TIME ZONE 'UTC')::date, false) AS too_late,
            extract(epoch FROM statement_timestamp() - o.created_at) / 86400 AS days
        FROM orders_orderline l JOIN orders_order o ON o.id = l.order_id
        WHERE l.waiting_since IS NOT NULL AND l.waiting > 0 AND (o.id, l.id) > (%(order)s, %(line)s)
    ) lines
    WHERE too_late OR days >= (
        SELECT min(max_wait_days) FROM accounts_partnership p WHERE p.retailer_id = lines.retailer_id
    )
    ORDER BY order_id, id LIMIT {PAGE}
"""  # noqa: S608 - built from constants


def end_waits(*, seconds: float) -> None:
    """Cancel the units whose wait has ended, one order per transaction.

    Stop after `seconds`. The next run continues.
    """
    end = monotonic() + seconds
    for order_id, reason, line_ids in _ended():
        if monotonic() > end:
            return
        try:
            with Order.objects.get(pk=order_id).change(by=Actor.system("wait limit")) as change:
                if reason == SHIP_UNTIL and not _is_late(change.order):
                    continue  # the retailer moved ship_until after the query
                end_wait(change, line_ids, reason=reason)
        except (ApiError, DatabaseError) as error:
            if not connection.is_usable():
                raise  # without a database, the other waits cannot end either
            logger.warning("order %s: its wait ends in the next run: %s", order_id, error)


def _is_late(order: Order) -> bool:
    return order.ship_until is not None and order.ship_until < datetime.now(UTC).date()


def _ended() -> Iterator[tuple[int, str, list[int]]]:
    """Yield an order's id, a reason, and the ids of its lines whose wait ended for this reason."""
    last = (0, 0)
    while True:
        with connection.cursor() as cursor:
            cursor.execute(LATE, {"order": last[0], "line": last[1]})
            rows = cursor.fetchall()
        if not rows:
            return
        lines = [WaitingLine(*row[:-2]) for row in rows]
        ended: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
        for line, market, (*_, too_late, days) in zip(lines, Market.of_each(lines), rows, strict=True):
            if too_late:
                ended[line.order_id, SHIP_UNTIL].append(line.id)
            elif (most := _most_days(line, market)) is not None and days >= most:
                ended[line.order_id, MAX_WAIT_DAYS].append(line.id)
        for (order_id, reason), line_ids in ended.items():
            yield order_id, reason, line_ids
        last = lines[-1].order_id, lines[-1].id


def _most_days(line: WaitingLine, market: Market) -> int | None:
    """Return the longest wait in days that a partner of the line allows, or None for no limit.

    If no partner lists the line's variants any more, the limits of all the retailer's partners are used.
    """
    partners = [each.partnership for each in market.candidates(line)] or [*market.partners.values()]
    limits = [each.max_wait_days for each in partners]
    return None if None in limits else max((each for each in limits if each is not None), default=None)
