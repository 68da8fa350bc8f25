"""`manage.py finish_upgrade`: complete rows of the previous version, and drop its indexes."""

from __future__ import annotations

from django.core.management.base import BaseCommand
from django.db import connection
from django.db.models import OuterRef, Subquery, Sum

from fulfillments.models import Fulfillment
from fulfillments.models.conditions import OPEN_WORK
from fulfillments.models.line import agreed_total_of_lines
from orders.models import Order, OrderLine
from orders.processing_state import FINISHED

OLD_INDEXES = ("order_once",)
"""The indexes that processes of the previous version name in their statements."""


class Command(BaseCommand):
    help = (
        "Drop the indexes that only processes of the previous version need, and complete the rows that these "
        "processes wrote. Run the command when all these processes have ended."
    )

    def handle(self, *args: object, **options: object) -> None:
        add_totals()
        with connection.cursor() as cursor:
            for name in OLD_INDEXES:
                cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {connection.ops.quote_name(name)}")
        self.stdout.write("The upgrade is finished. Processes of the previous version no longer work.")


def add_totals() -> None:
    """Add the totals that operators sort open work by. The previous version wrote rows without totals."""
    lines = OrderLine.objects.filter(order=OuterRef("pk")).order_by().values("order")
    billed = Subquery(lines.annotate(sum=Sum("billed_amount")).values("sum"))
    open_orders = Order.objects.exclude(processing_state__in=FINISHED)
    open_orders.filter(billed_total=None).update(billed_total=billed)
    Fulfillment.objects.filter(OPEN_WORK, agreed_total=None).update(agreed_total=agreed_total_of_lines())
