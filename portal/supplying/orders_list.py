"""The list of a supplier's orders, with actions on many orders at once."""

from __future__ import annotations

from functools import cached_property, partial
from operator import attrgetter
from typing import Any

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.member_roles import Right
from accounts.models import Retailer
from accounts.operating import bulk_actions
from api.ids import as_id
from fulfillments.admin.filters import Counted
from fulfillments.models import Fulfillment
from portal.bulk_page import PortalBulkPage, choose_many
from portal.counted import COUNTED, read_counted
from portal.list_pages import MOMENT, ListColumn, PortalListPage
from portal.listing import Tabs
from portal.navigation import ONLY_SUPPLIERS
from portal.supplying.many_orders import MANY_ORDERS
from portal.supplying.selectors import EMPTY, RETAILER, TABS, WorkRow, found, fulfillments_of, partner_of

MOST_CHOSEN = 50
CELLS = "portal/supplying/cells"


def _items(fulfillment: Fulfillment) -> str:
    return ", ".join(f"{line.quantity} × {line.title or line.sku}" for line in fulfillment.lines.all())


def _skus(fulfillment: Fulfillment) -> str:
    return ", ".join(line.sku for line in fulfillment.lines.all())


def _units(fulfillment: Fulfillment) -> int:
    return sum(line.quantity for line in fulfillment.lines.all())


def _ship_to(fulfillment: Fulfillment) -> str:
    address = fulfillment.order.shipping_address
    name = " ".join(address.get(part) or "" for part in ("first_name", "last_name")).strip()
    return ", ".join(part for part in (name, address.get("city")) if part)


def _country(fulfillment: Fulfillment) -> str:
    return str(fulfillment.order.shipping_address.get("country") or "")


def _nothing(fulfillment: Fulfillment) -> str:
    return ""


ORDER_COLUMNS = (
    ListColumn("order", "Order", attrgetter("order.retailer_order_id"), f"{CELLS}/order.html"),
    ListColumn("retailer", "Retailer", attrgetter("order.retailer.name"), is_usual=False),
    ListColumn("items", "Items", _items, f"{CELLS}/items.html"),
    ListColumn("skus", "SKUs", _skus, is_usual=False),
    ListColumn("units", "Units", _units, is_number=True, is_usual=False),
    ListColumn("ship_to", "Ship to", _ship_to, f"{CELLS}/ship_to.html"),
    ListColumn("country", "Country", _country, is_usual=False),
    ListColumn("warehouse", "Warehouse", attrgetter("warehouse.name"), is_usual=False),
    ListColumn("received", "Received", attrgetter("created_at"), MOMENT, is_usual=False),
    ListColumn("due", "Due", attrgetter("next_due_at"), f"{CELLS}/due.html"),
    ListColumn("state", "State", attrgetter("state"), f"{CELLS}/state.html"),
    ListColumn("id", "Fulfillment", attrgetter("pk"), is_number=True, is_usual=False),
    ListColumn("actions", "Actions", _nothing, f"{CELLS}/actions.html", is_for_files=False),
)


class SupplierOrdersPage(PortalListPage):
    """The list of a supplier's orders. Members accept chosen orders, or all orders of the list, at once."""

    template = "portal/supplying/orders.html"
    section = title = "Orders"
    sides = ONLY_SUPPLIERS
    right = Right.ORDERS
    hint = "Order or tracking number"
    columns = ORDER_COLUMNS
    kept = (COUNTED, RETAILER)

    @cached_property
    def counted(self) -> Counted | None:
        """The scorecard number whose orders the list shows, or None if the URL names no such number."""
        return read_counted(self.request.GET.get(COUNTED, ""), self.supplier)

    @cached_property
    def chosen_retailer(self) -> Retailer | None:
        """The retailer whose orders the list shows, or None for all retailers."""
        return partner_of(self.supplier, self.request.GET.get(RETAILER, ""))

    def listed(self) -> QuerySet[Any]:
        listed = fulfillments_of(self.supplier)
        if self.chosen_retailer:
            listed = listed.filter(order__retailer=self.chosen_retailer)
        return self.counted.fulfillments(listed) if self.counted else listed

    def tabs(self) -> Tabs:
        """Return the tabs. For a scorecard number, *All* is first, because its orders are in all states."""
        return {"all": TABS["all"], **TABS} if self.counted else TABS

    def search(self, term: str) -> Q:
        return partial(found, self.supplier)(term)

    def cells(self, record: Any) -> Any:
        return WorkRow.of(record), super().cells(record)[1]

    def context(self) -> dict[str, object]:
        context = super().context()
        is_narrowed = bool(self.counted or self.chosen_retailer)
        may_accept_all = self.may_change and self.query.tab == "new" and not self.query.term
        return {
            **context,
            "counted": self.counted,
            "chosen_retailer": self.chosen_retailer,
            "is_narrowed": is_narrowed,
            "empty_text": EMPTY[self.query.tab],
            "may_accept_all": may_accept_all and not is_narrowed and bool(context["rows"]),
        }

    def change(self, request: HttpRequest) -> HttpResponse:
        """Store the chosen orders, then redirect to the preview of the action on each order."""
        subjects = self.query.narrow(self.listed(), self.search)
        if "all" not in request.POST:
            ids = [as_id(each) for each in request.POST.getlist("chosen")[:MOST_CHOSEN]]
            subjects = self.listed().filter(pk__in=ids)
        try:
            chosen = choose_many(MANY_ORDERS, request.POST.get("do", ""), subjects, by=self.actor)
        except bulk_actions.TooMany:
            messages.error(
                request, f"More than {bulk_actions.MOST:,} orders are chosen. Filter the list first."
            )
            return HttpResponseRedirect(request.get_full_path())
        if chosen is None or not chosen.total:
            missing = "orders first" if chosen else "an action that is in the list"
            messages.error(request, f"Nothing was done: choose {missing}.")
            return HttpResponseRedirect(request.get_full_path())
        return HttpResponseRedirect(reverse("portal:supplier_orders_bulk", args=[chosen.pk]))


class ManyOrdersPage(PortalBulkPage):
    """The page of an action on many orders of a supplier."""

    section = "Orders"
    sides = ONLY_SUPPLIERS
    right = Right.ORDERS
    acting = MANY_ORDERS

    def list_url(self) -> str:
        return reverse("portal:supplier_orders")

    def record_url_name(self) -> str:
        return "portal:supplier_order"

    def names(self, record_ids: list[int]) -> dict[int, str]:
        own = Fulfillment.objects.for_supplier(self.supplier).filter(pk__in=record_ids)
        return dict(own.values_list("pk", "order__retailer_order_id"))
