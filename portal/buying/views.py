"""A retailer's pages of orders."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.db.models import Q, QuerySet, prefetch_related_objects
from django.urls import reverse

from accounts.member_roles import Right
from fulfillments.admin.filters import Counted
from fulfillments.item_names import itemize
from fulfillments.models import Fulfillment
from orders.models import Order
from orders.routing_reasons import explained_decisions
from portal.acting import PortalActionPage
from portal.buying.actions import ACTIONS
from portal.buying.columns import ORDER_COLUMNS
from portal.buying.next_steps import problems_of
from portal.buying.selectors import EMPTY, TABS, found, listed_orders, orders_of, retailer_history
from portal.counted import COUNTED, read_counted
from portal.late import is_late
from portal.list_pages import PortalListPage
from portal.listing import Tabs
from portal.navigation import ONLY_RETAILERS
from portal.pages import PortalRecordPage


class RetailerOrdersPage(PortalListPage):
    """The list of a retailer's orders: tabs by state, a search, columns and files."""

    template = "portal/buying/orders.html"
    section = title = "Orders"
    sides = ONLY_RETAILERS
    right = Right.ORDERS
    hint = "Order, customer, SKU, tracking"
    columns = ORDER_COLUMNS
    kept = (COUNTED,)

    @cached_property
    def counted(self) -> Counted | None:
        """The scorecard number whose orders the list shows, or None if the URL names no such number."""
        return read_counted(self.request.GET.get(COUNTED, ""), self.retailer)

    def listed(self) -> QuerySet[Any]:
        listed = listed_orders(self.retailer)
        if self.counted is None:
            return listed
        parts = self.counted.fulfillments(Fulfillment.objects.filter(order__retailer=self.retailer))
        return listed.filter(pk__in=parts.values("order_id"))

    def tabs(self) -> Tabs:
        """Return the tabs, with *All* first for the orders behind a scorecard number: their states differ."""
        return {"all": TABS["all"], **TABS} if self.counted else TABS

    def search(self, term: str) -> Q:
        return found(self.retailer, term)

    def context(self) -> dict[str, object]:
        return {**super().context(), "counted": self.counted, "empty_text": EMPTY[self.query.tab]}


class RetailerOrderPage(PortalRecordPage):
    """One order of a retailer: each supplier's fulfillment with its parcels, the lines, and the address."""

    template = "portal/buying/order.html"
    section = "Orders"
    sides = ONLY_RETAILERS
    right = Right.ORDERS
    record: Order

    def of_party(self) -> QuerySet[Any]:
        return orders_of(self.retailer)

    def context(self) -> dict[str, object]:
        order = self.record
        prefetch_related_objects([order], "fulfillments__shipments", "fulfillments__returns")
        parts, lines = order.fulfillments.all(), order.lines.all()
        positions = {line.pk: line.position + 1 for line in lines}
        possible = [action for action in ACTIONS if action.is_possible(order)] if self.may_change else []
        return {
            "title": f"Order {order.retailer_order_id}",
            "order": order,
            "lines": lines,
            "line_names": {line.position + 1: line.name for line in lines},
            "parts": [(part, is_late(part)) for part in parts],
            "parcels": list(itemize(parts, "shipments")),
            "returns": list(itemize(parts, "returns")),
            "problems": [(each, each.action in possible) for each in problems_of(order)],
            "decisions": explained_decisions(order, positions),
            "entries": retailer_history(order),
            "possible": possible,
        }


class RetailerOrderActionPage(PortalActionPage):
    section = "Orders"
    sides = ONLY_RETAILERS
    right = Right.ORDERS
    actions = ACTIONS

    def of_party(self) -> QuerySet[Any]:
        return orders_of(self.retailer)

    def back(self) -> str:
        return reverse("portal:retailer_order", args=[self.record.pk])

    def record_name(self) -> str:
        return f"Order {self.record.retailer_order_id}"
