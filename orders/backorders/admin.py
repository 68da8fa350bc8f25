"""The backorders of a variant, shown on the pages of stock and of variants."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from django.contrib import admin
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse

from catalog.models import Variant
from fulfillments.models import FulfillmentLine
from inventory.admin import StockLevelAdmin, VariantWithStockAdmin
from inventory.models import StockLevel
from orders.models import Order
from orders.unrouted_lines import lines_waiting

MOST_SHOWN = 20
NEWEST = 2**63 - 1


class Backorder(NamedTuple):
    """The units of an order that wait for stock. An unrouted line has no warehouse."""

    order: Order
    units: int
    warehouse: str


def backorders_table(variant: Variant, **where: Any) -> str:
    """Render the backorders of a variant, in the order in which they get stock."""
    routed = FulfillmentLine.objects.filter(variant=variant, is_short=True, **where)
    routed = routed.select_related("fulfillment__order__retailer", "fulfillment__warehouse")
    routed = routed.order_by("behind", "fulfillment__order_id")[: MOST_SHOWN + 1]
    backorders = [
        Backorder(line.fulfillment.order, line.owed, str(line.fulfillment.warehouse)) for line in routed
    ]
    lines = lines_waiting([variant.pk], before=NEWEST, most=MOST_SHOWN + 1)
    orders = Order.objects.select_related("retailer").in_bulk([line.order_id for line in lines])
    backorders += [Backorder(orders[line.order_id], line.pieces, "") for line in lines]
    url = reverse("admin:orders_orderline_changelist")
    more = f"{url}?waiting=1&q={variant.sku}" if len(backorders) > MOST_SHOWN else ""
    context = {"backorders": backorders[:MOST_SHOWN], "more": more}
    return render_to_string("admin/orders/backorders.html", context)


class VariantWithBackordersAdmin(VariantWithStockAdmin):
    """A variant's page, with its backorders."""

    in_stock: ClassVar[tuple[str, ...]] = ("stock", "who_waits", "stock_movements")

    def get_readonly_fields(self, request: HttpRequest, obj: Variant | None = None) -> tuple[str, ...]:
        return (*super().get_readonly_fields(request, obj), *(["who_waits"] if obj else []))

    @admin.display(description="backorders")
    def who_waits(self, variant: Variant) -> str:
        return backorders_table(variant)


class StockWithBackordersAdmin(StockLevelAdmin):
    """A stock row's page, with the backorders of its warehouse, and the unrouted ones."""

    def get_fields(self, request: HttpRequest, obj: StockLevel | None = None) -> Any:
        return [*super().get_fields(request, obj), "who_waits"]

    def get_readonly_fields(self, request: HttpRequest, obj: StockLevel | None = None) -> list[str]:
        return [*map(str, super().get_readonly_fields(request, obj)), "who_waits"]

    @admin.display(description="backorders")
    def who_waits(self, level: StockLevel) -> str:
        return backorders_table(level.variant, fulfillment__warehouse_id=level.warehouse_id)
