"""A supplier's pages of returns: the list, one return, and the action that puts units back into stock."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse

from accounts.actors import Actor
from accounts.member_roles import Right
from accounts.models import Supplier
from accounts.operating.operator_actions import AdminAction
from fulfillments.item_names import SkuQuantity, contents_of
from fulfillments.models import Fulfillment, Return
from portal.acting import PortalActionPage
from portal.list_pages import MOMENT, ListColumn, PortalListPage
from portal.listing import MOST_FOUND, Tabs, in_either
from portal.navigation import ONLY_SUPPLIERS
from portal.pages import PortalRecordPage

CELLS = "portal/supplying/cells"


def returns_of(supplier: Supplier) -> QuerySet[Return]:
    """Return the returns to a supplier with the relations that pages show and actions read."""
    own = Return.objects.filter(supplier=supplier)
    related = own.select_related("fulfillment__order__retailer", "fulfillment__warehouse")
    return related.prefetch_related("fulfillment__lines")


def items_of(record: Return) -> list[SkuQuantity]:
    return contents_of(record, {line.pk: line for line in record.fulfillment.lines.all()})


def _items(record: Return) -> str:
    return ", ".join(f"{item.quantity} × {item.sku}" for item in items_of(record))


def _stock(record: Return) -> str:
    return "not in stock" if record.not_restocked else "back in stock"


COLUMNS = (
    ListColumn(
        "order", "Order", attrgetter("fulfillment.order.retailer_order_id"), f"{CELLS}/returned_order.html"
    ),
    ListColumn("retailer", "Retailer", attrgetter("fulfillment.order.retailer.name")),
    ListColumn("reason", "Reason", attrgetter("reason")),
    ListColumn("items", "Items", _items),
    ListColumn("stock", "Stock", _stock, f"{CELLS}/returned_stock.html"),
    ListColumn("number", "Your number", attrgetter("return_id"), is_usual=False),
    ListColumn("warehouse", "Warehouse", attrgetter("fulfillment.warehouse.name"), is_usual=False),
    ListColumn("returned", "Returned", attrgetter("returned_at"), MOMENT),
)


class SupplierReturnsPage(PortalListPage):
    """The returns to a supplier, newest first."""

    template = "portal/supplying/returns.html"
    section = title = "Returns"
    sides = ONLY_SUPPLIERS
    right = Right.ORDERS
    hint = "Order or return number"
    columns = COLUMNS

    def listed(self) -> QuerySet[Any]:
        return returns_of(self.supplier)

    def tabs(self) -> Tabs:
        return {"all": ("All", Q())}

    def search(self, term: str) -> Q:
        """Return the condition that finds returns by the complete order number or return number."""
        own = Fulfillment.objects.for_supplier(self.supplier).filter(order__retailer_order_id=term)
        retailers = self.supplier.partnerships.values_list("retailer_id", flat=True)
        ids = own.filter(order__retailer__in=[*retailers]).values_list("pk", flat=True)[:MOST_FOUND]
        by_order = Return.objects.filter(fulfillment__in=[*ids])
        by_number = Return.objects.filter(supplier=self.supplier, return_id=term)
        return in_either(by_order, by_number)


def _restock(record: Return, by: Actor, answers: dict[str, object]) -> str:
    with record.fulfillment.order.change(by=by) as change:
        record.fulfillment.restock(change, only=record.pk)
    return "The returned units are in stock again."


RESTOCK = AdminAction[Return](
    "restock",
    "Put units back into stock",
    _restock,
    lambda record: "" if record.not_restocked else "All units of this return are in stock again.",
    lambda record: f"{_items(record)} can be sold again from {record.fulfillment.warehouse}.",
    undo="Count the stock again.",
)


class SupplierReturnPage(PortalRecordPage):
    """One return: its units, its reason, and the order."""

    template = "portal/supplying/return.html"
    section = "Returns"
    sides = ONLY_SUPPLIERS
    right = Right.ORDERS
    record: Return

    def of_party(self) -> QuerySet[Any]:
        return returns_of(self.supplier)

    def context(self) -> dict[str, object]:
        order = self.record.fulfillment.order
        return {
            "title": f"Return of order {order.retailer_order_id}",
            "record": self.record,
            "order": order,
            "items": items_of(self.record),
            "may_restock": self.may_change and RESTOCK.is_possible(self.record),
        }


class ReturnActionPage(PortalActionPage):
    section = "Returns"
    sides = ONLY_SUPPLIERS
    right = Right.ORDERS
    actions = (RESTOCK,)

    def of_party(self) -> QuerySet[Any]:
        return returns_of(self.supplier)

    def back(self) -> str:
        return reverse("portal:supplier_return", args=[self.record.pk])

    def record_name(self) -> str:
        return f"Return of order {self.record.fulfillment.order.retailer_order_id}"
