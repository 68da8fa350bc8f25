"""`manage.py finish_upgrade`: drop schema for the previous version, and complete rows that it wrote."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection

OLD_INDEXES = ("order_once",)
"""Indexes that processes of the previous version name in their statements."""


# The previous version wrote rows without the totals by which operators sort open work.
ADD_TOTALS = (
    """
    UPDATE orders_order o SET billed_total = l.total FROM (
        SELECT order_id, sum(billed_amount) AS total FROM orders_orderline WHERE order_id IN (
            SELECT id FROM orders_order WHERE billed_total IS NULL
            AND NOT processing_state IN ('completed', 'canceled')
        ) GROUP BY order_id
    ) l WHERE o.id = l.order_id AND l.total IS NOT NULL
    """,
    """
    UPDATE fulfillments_fulfillment f SET agreed_total = l.total FROM (
        SELECT fulfillment_id, sum(quantity * wholesale_price) AS total FROM fulfillments_fulfillmentline
        WHERE fulfillment_id IN (
            SELECT id FROM fulfillments_fulfillment WHERE agreed_total IS NULL
            AND state IN ('new', 'accepted', 'cancelation not allowed', 'canceling')
        ) GROUP BY fulfillment_id
    ) l WHERE f.id = l.fulfillment_id AND l.total IS NOT NULL
    """,
)


class Command(BaseCommand):
    help = (
        "Drop what only processes of the previous version need, and complete the rows that they wrote. "
        "Run it when all of them have ended."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        with connection.cursor() as cursor:
            for statement in ADD_TOTALS:
                cursor.execute(statement)
            for name in OLD_INDEXES:
                cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {connection.ops.quote_name(name)}")
        self.stdout.write("The upgrade is finished. Processes of the previous version no longer work.")
