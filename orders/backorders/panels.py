"""The panels with backorders, for the pages of variants and of stock rows."""

from __future__ import annotations

from typing import NamedTuple

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse

from accounts.operating.record_panels import Panel
from api.ids import LARGEST_ID
from catalog.models import Variant
from fulfillments.models import FulfillmentLine
from fulfillments.stock_queue import ROUTED_FIELDS
from inventory.models import StockLevel
from orders.models import Order
from orders.unrouted_lines import waiting_lines

MOST_SHOWN = 20


class Backorder(NamedTuple):
    """The units of an order that wait for stock. An unrouted line has no warehouse."""

    order: Order
    units: int
    warehouse: str


def backorders_table(variant: Variant, **where: object) -> str:
    """Render the backorders of a variant: routed lines, then unrouted lines, each group in queue order."""
    routed = FulfillmentLine.objects.filter(variant=variant, is_short=True, **where)
    routed = routed.select_related("fulfillment__order__retailer", "fulfillment__warehouse")
    routed = routed.order_by(*ROUTED_FIELDS)[: MOST_SHOWN + 1]
    backorders = [
        Backorder(line.fulfillment.order, line.backordered, str(line.fulfillment.warehouse))
        for line in routed
    ]
    lines = waiting_lines([variant.pk], before=LARGEST_ID, most=MOST_SHOWN + 1)
    orders = Order.objects.select_related("retailer").in_bulk([line.order_id for line in lines])
    backorders += [Backorder(orders[line.order_id], line.units, "") for line in lines]
    url = reverse("admin:orders_orderline_changelist")
    more = f"{url}?waiting=1&q={variant.sku}" if len(backorders) > MOST_SHOWN else ""
    context = {"backorders": backorders[:MOST_SHOWN], "more": more}
    return render_to_string("admin/orders/backorders.html", context)


def _of_variant(variant: Variant, request: HttpRequest) -> str:
    return backorders_table(variant)


def _of_stock(level: StockLevel, request: HttpRequest) -> str:
    """Render the backorders of the stock row's warehouse, and the unrouted backorders."""
    return backorders_table(level.variant, fulfillment__warehouse_id=level.warehouse_id)


VARIANT_PANEL = Panel[Variant]("backorders", "backorders", _of_variant, rank=2)
STOCK_PANEL = Panel[StockLevel]("backorders", "backorders", _of_stock, rank=1)
