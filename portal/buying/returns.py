"""A retailer's pages of returns. Suppliers record the returns; retailers read them."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db.models import Q, QuerySet

from accounts.member_roles import Right
from accounts.models import Retailer
from fulfillments.item_names import SkuQuantity, contents_of
from fulfillments.models import Return
from orders.models import Order
from portal.listing import MOST_FOUND, Tabs, in_either, page_of
from portal.navigation import ONLY_RETAILERS
from portal.pages import PortalPage, PortalRecordPage

TABS: Tabs = {"all": ("All", Q())}


def returns_of(retailer: Retailer) -> QuerySet[Return]:
    """Return the returns of the retailer's orders with the relations that pages show."""
    own = Return.objects.filter(retailer=retailer)
    related = own.select_related("fulfillment__order", "fulfillment__supplier")
    return related.prefetch_related("fulfillment__lines")


def found(retailer: Retailer, term: str) -> Q:
    """Return the condition that finds returns by the order's number or by the supplier's return number."""
    orders = Order.objects.for_retailer(retailer).filter(retailer_order_id=term)
    by_order = Return.objects.filter(
        fulfillment__order__in=[*orders.values_list("pk", flat=True)[:MOST_FOUND]]
    )
    return in_either(by_order, Return.objects.filter(retailer=retailer, return_id=term))


def items_of(record: Return) -> list[SkuQuantity]:
    return contents_of(record, {line.pk: line for line in record.fulfillment.lines.all()})


class RetailerReturnsPage(PortalPage):
    """The returns of a retailer's orders, newest first."""

    template = "portal/buying/returns.html"
    section = title = "Returns"
    sides = ONLY_RETAILERS
    right = Right.ORDERS

    def context(self) -> dict[str, object]:
        find = partial(found, self.retailer)
        page = page_of(returns_of(self.retailer), self.request.GET, TABS, find)
        return {**page, "rows": [(each, items_of(each)) for each in page["rows"]]}


class RetailerReturnPage(PortalRecordPage):
    """One return: its units, its reason, and the order."""

    template = "portal/buying/return.html"
    section = "Returns"
    sides = ONLY_RETAILERS
    right = Right.ORDERS
    record: Return

    def of_party(self) -> QuerySet[Any]:
        return returns_of(self.retailer)

    def context(self) -> dict[str, object]:
        order = self.record.fulfillment.order
        title = f"Return of order {order.retailer_order_id}"
        return {"title": title, "record": self.record, "order": order, "items": items_of(self.record)}
