"""The restock dates of waiting order lines (contract 23)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from django.db import connection

from orders.models import OrderLine
from orders.unrouted_lines import lines_sql

# Short units wait for the stock of their warehouse, unrouted units for the stock of any partner.
DAYS = f"""
    SELECT line_id, min(expected_at) AS expected_at FROM (
        SELECT p.order_line_id AS line_id, e.expected_at
        FROM fulfillments_fulfillmentline p
        JOIN fulfillments_fulfillment f ON f.id = p.fulfillment_id
        JOIN inventory_expectedstock e ON e.variant_id = p.variant_id AND e.warehouse_id = f.warehouse_id
        WHERE p.order_line_id = ANY(%(lines)s) AND p.is_short
        UNION ALL
        SELECT u.id, e.expected_at
        FROM ({lines_sql("l.id = ANY(%(lines)s)", ", v.id AS variant_id")}) u
        JOIN inventory_expectedstock e ON e.variant_id = u.variant_id
    ) days WHERE expected_at IS NOT NULL GROUP BY line_id
"""  # noqa: S608 - built from constants


def expected_days(line_ids: Sequence[int]) -> dict[int, date]:
    """Return the earliest restock date of each waiting order line. Lines without a date are left out."""
    if not line_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(DAYS, {"lines": list(line_ids)})
        return dict(cursor.fetchall())


def expected_by_order(order_ids: Sequence[int]) -> dict[int, date]:
    """Return the earliest restock date of each order's waiting lines. Orders without a date are left out."""
    lines = OrderLine.objects.filter(order__in=order_ids, waiting_since__isnull=False)
    orders: dict[int, int] = dict(lines.order_by().values_list("pk", "order_id"))
    earliest: dict[int, date] = {}
    for pk, day in expected_days(list(orders)).items():
        earliest[orders[pk]] = min(day, earliest.get(orders[pk], day))
    return earliest
