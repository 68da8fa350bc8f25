"""The amounts of orders' open, waiting and rejected units, by currency.

The amounts use the agreed wholesale prices, or the billed amounts if no price was agreed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.db import connection
from django.db.models import QuerySet

Amounts = list[tuple[Decimal, str]]
"""Amounts with their currencies, the largest amount first."""

OPEN_UNITS, REFUSED_UNITS = "l.open + l.waiting + l.rejected", "l.rejected"
# The agreed price is for one unit, and the billed amount is for the whole line.
OPEN = """
    SELECT l.order_id, coalesce(p.currency, o.currency) AS currency,
        round(sum(({units}) * coalesce(p.price, l.billed_amount / l.quantity)), 4) AS amount
    FROM orders_orderline l JOIN orders_order o ON o.id = l.order_id
    LEFT JOIN LATERAL (
        SELECT max(a.wholesale_price) AS price, f.currency FROM fulfillments_fulfillmentline a
        JOIN fulfillments_fulfillment f ON f.id = a.fulfillment_id
        WHERE a.order_line_id = l.id AND a.wholesale_price IS NOT NULL
        GROUP BY f.currency ORDER BY max(f.id) DESC LIMIT 1
    ) p ON true
    WHERE l.order_id {condition} AND coalesce(p.price, l.billed_amount) IS NOT NULL
    GROUP BY 1, 2 HAVING sum({units}) > 0
"""


def open_amounts(order_ids: Sequence[int]) -> dict[int, Amounts]:
    """Return the open amounts of each order."""
    found: dict[int, Amounts] = defaultdict(list)
    sql = f"{OPEN.format(condition='= ANY(%s)', units=OPEN_UNITS)} ORDER BY 1, 3 DESC, 2"
    for order_id, currency, amount in _rows(sql, [[*order_ids]]):
        found[order_id].append((amount, currency))
    return found


def total_open(order_ids: QuerySet[Any], units: str = OPEN_UNITS) -> Amounts:
    """Return the sum of the open amounts in each currency. `order_ids` selects the ids of the orders.

    `units` is OPEN_UNITS or REFUSED_UNITS: the units of a line that count.
    """
    wanted, parameters = order_ids.query.sql_with_params()
    of_orders = OPEN.format(condition=f"IN ({wanted})", units=units)
    sql = f"SELECT sum(amount), currency FROM ({of_orders}) o GROUP BY 2 ORDER BY 1 DESC"  # noqa: S608 - from constants
    return [(amount, currency) for amount, currency in _rows(sql, parameters)]


def open_amounts_by_group(pairs: QuerySet[Any, tuple[int, int]]) -> dict[int, Amounts]:
    """Return the sums of open amounts by party. `pairs` selects an order id and the id of a party."""
    wanted, parameters = pairs.query.sql_with_params()
    of_pairs = "IN (SELECT order_id FROM pairs)"
    sql = f"""
        WITH pairs (order_id, group_id) AS (SELECT DISTINCT * FROM ({wanted}) w)
        SELECT group_id, sum(amount), currency
        FROM ({OPEN.format(condition=of_pairs, units=OPEN_UNITS)}) o JOIN pairs USING (order_id)
        GROUP BY 1, 3 ORDER BY 1, 2 DESC
    """  # noqa: S608 - from constants
    found: dict[int, Amounts] = defaultdict(list)
    for group, amount, currency in _rows(sql, parameters):
        found[group].append((amount, currency))
    return found


def _rows(sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        rows: list[tuple[object, ...]] = cursor.fetchall()
    return rows
