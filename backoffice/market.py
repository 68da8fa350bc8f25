"""The numbers of the home page: the last seven days, the week before, and the suppliers in most trouble.

A periodic task computes and caches the numbers, so that the page reads only the cache.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any

from django.core.cache import cache
from django.db import connection

from accounts.models import Supplier
from accounts.operating.day_filter import MARGIN, first_since
from accounts.scopes import Role
from backoffice.partners.trouble import troubles
from fastdb.standbys.reads import reads_from_standby
from fulfillments.scorecard.performance import Days, Performance, performances, total
from orders.models import Order

logger = logging.getLogger(__name__)

KEY = "backoffice:market"
SECONDS = 3600
"""The lifetime of the cached numbers, if the task does not renew them."""
DAYS = 7
MOST_SUPPLIERS = 5

ORDERS = """
    SELECT count(*) FILTER (WHERE created_at >= %(first)s), count(*) FILTER (WHERE created_at < %(first)s)
    FROM orders_order WHERE id >= %(first_id)s AND created_at >= %(before)s
"""
# The amount of a line is the agreed wholesale price of its units. A line without a supplier has no agreed
# price, so its billed amount is used.
AMOUNTS = """
    SELECT coalesce(agreed.currency, o.currency),
        coalesce(sum(coalesce(l.quantity * agreed.wholesale_price, l.billed_amount))
            FILTER (WHERE o.created_at >= %(first)s), 0),
        coalesce(sum(coalesce(l.quantity * agreed.wholesale_price, l.billed_amount))
            FILTER (WHERE o.created_at < %(first)s), 0)
    FROM orders_order o JOIN orders_orderline l ON l.order_id = o.id
    LEFT JOIN LATERAL (
        SELECT f.currency, p.wholesale_price FROM fulfillments_fulfillmentline p
        JOIN fulfillments_fulfillment f ON f.id = p.fulfillment_id
        WHERE p.order_line_id = l.id AND p.wholesale_price IS NOT NULL ORDER BY p.id DESC LIMIT 1
    ) agreed ON true
    WHERE o.id >= %(first_id)s AND o.created_at >= %(before)s GROUP BY 1 ORDER BY 2 DESC, 1
"""


@dataclass(frozen=True)
class Amount:
    """The order totals of the last seven days, and of the week before, in one currency."""

    currency: str
    now: Decimal
    before: Decimal

    @property
    def change(self) -> Decimal | None:
        """Return the change in percent, or None if the total of the week before is zero."""
        return round(100 * (self.now - self.before) / self.before, 1) if self.before else None


@dataclass(frozen=True)
class MarketWeek:
    """The numbers of the last seven days, and of the week before."""

    days: Days
    orders: int
    orders_before: int
    amounts: list[Amount]
    performance: Performance
    suppliers: list[tuple[int, str, str]]
    """The suppliers in most trouble: id, name, troubles in words."""

    @property
    def more_orders(self) -> Decimal | None:
        """Return the change of the number of orders in percent, or None without orders in the week before."""
        before = self.orders_before
        return round(Decimal(100 * (self.orders - before)) / before, 1) if before else None


@reads_from_standby
def sum_up() -> MarketWeek:
    """Compute the numbers, and cache them."""
    days = Days(DAYS)
    first, before = (datetime.combine(day, time.min, UTC) for day in (days.first, days.before))
    first_id = first_since(Order, "created_at", before - MARGIN) or 0
    window: dict[str, Any] = {"first": first, "before": before, "first_id": first_id}
    with connection.cursor() as cursor:
        cursor.execute(ORDERS, window)
        orders, orders_before = cursor.fetchone()
        cursor.execute(AMOUNTS, window)
        amounts = [Amount(*row) for row in cursor.fetchall()]
    performance = total(performances(Role.SUPPLIER, days).values())
    market = MarketWeek(days, orders, orders_before, amounts, performance, _worst())
    cache.set(KEY, market, SECONDS)
    return market


def cached_market() -> MarketWeek | None:
    """Return the cached numbers, or None if the cache has no numbers or does not answer."""
    try:
        market: MarketWeek | None = cache.get(KEY)
    except Exception:  # noqa: BLE001 - without Redis, the page shows no numbers
        logger.warning("the home page shows no numbers: the cache does not answer")
        return None
    return market


def _worst() -> list[tuple[int, str, str]]:
    worst = [*troubles(Role.SUPPLIER).items()][:MOST_SUPPLIERS]
    names = Supplier.objects.in_bulk([pk for pk, _ in worst])
    return [(pk, names[pk].name, str(trouble)) for pk, trouble in worst]
