"""Orders and order lines for operators: lists and pages."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Prefetch, Q, QuerySet, Value
from django.db.models.functions import Coalesce, Lower
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode

from accounts.models import Retailer
from accounts.operating.admin_actions import RecordAdmin
from accounts.operating.admin_base import ReadOnlyAdmin
from accounts.operating.day_filter import DaysFilter
from api.amounts import NO_AMOUNT, amount_text
from api.ids import as_id
from api.inside_search import LEAST, contains
from catalog.models import Variant
from events.models import Event
from fulfillments.item_names import itemize
from fulfillments.models import Fulfillment
from fulfillments.selectors import SHARED_WITH_SUPPLIERS
from fulfillments.states import WITHDRAW
from fulfillments.timeline import order_timeline
from fulfillments.timeline_rows import timeline_rows
from orders.addresses.units import with_units_for_address
from orders.admin.actions import ACTIONS
from orders.admin.filters import (
    AddressInPartFilter,
    BackorderedFilter,
    HeldFilter,
    OpenFilter,
    RefusedFilter,
    UnknownCountryFilter,
    WaitingFilter,
)
from orders.admin.line_rows import line_table, with_pictures
from orders.admin.list_columns import with_columns
from orders.cancelable_units import CANCEL_REQUESTED
from orders.models import NO_DEADLINE, Order, OrderLine, SearchEntry
from orders.next_steps import Remedy, next_steps, totals
from orders.routing_reasons import explained_decisions
from ui.badges import badge

MOST_FOUND = 1_000
"""The maximum number of orders that a search finds by a part of a number or of a name."""


@admin.register(Order)
class OrderAdmin(RecordAdmin[Order]):
    """The list of orders, and the page of an order with its lines, fulfillments and timeline."""

    record_actions = ACTIONS
    shows_pictures = True
    acts_with = (
        "retailer",
        Prefetch("lines", with_units_for_address(OrderLine.objects.all())),
        *(f"fulfillments__{name}" for name in ("supplier", "partnership", "capture", "lines")),
    )
    page_template = "admin/orders/order/page.html"
    list_display = (
        "number",
        "shown_state",
        "problem",
        "due",
        "amount",
        "received",
        "customer",
        "retailer",
        "units",
        "suppliers",
    )
    list_filter = (
        "processing_state",
        OpenFilter,
        ("created_at", DaysFilter),
        HeldFilter,
        AddressInPartFilter,
        RefusedFilter,
        BackorderedFilter,
        UnknownCountryFilter,
        "type",
        "retailer",
    )
    open_filter = OpenFilter
    sorted_while_open: ClassVar[dict[str, str]] = {"due": "", "amount": "-"}
    more_columns = (
        "id",
        "created_at",
        "is_held",
        "type",
        "sales_order_number",
        "shipping_method_code",
        "updated_at",
    )
    list_select_related = ("retailer",)
    search_help_text = "A part of the order's number or of the customer's name"

    def search_condition(self, term: str) -> Q:
        found = SearchEntry.objects.filter(text=Lower(Value(term)))
        if len(term) >= LEAST:
            found = SearchEntry.objects.filter(contains("text", term))
        numbers = found.order_by("text", "order_id").values_list("order_id", flat=True)
        return super().search_condition(term) | Q(pk__in=[*numbers[:MOST_FOUND]])

    def get_sortable_by(self, request: HttpRequest) -> tuple[str, ...]:
        """Return the columns by which an index can sort: deadline and amount only for open orders."""
        return ("received", *self.sorted_while_open) if OpenFilter.is_chosen(request) else ("received",)

    def with_columns(self, orders: QuerySet[Order]) -> QuerySet[Order]:
        """Add the columns of the list (`backoffice.lists`). The order's page does not need them."""
        return with_columns(orders)

    @admin.display(description="received", ordering="id")
    def received(self, order: Order) -> datetime:
        return order.created_at

    @admin.display(description="customer")
    def customer(self, order: Order) -> str:
        address = order.shipping_address
        name = f"{address.get('first_name') or ''} {address.get('last_name') or ''}".strip()
        return name or str(address.get("company_name") or "")

    @admin.display(description="problem")
    def problem(self, order: Any) -> str:
        return badge(order.problem_words, "warn") if order.problem_words else ""

    @admin.display(description="suppliers")
    def suppliers(self, order: Any) -> str:
        return order.supplier_names or ""

    @admin.display(description="due", ordering=Coalesce("ship_until", Value(NO_DEADLINE)))
    def due(self, order: Order) -> date | None:
        return order.ship_until

    @admin.display(description="units")
    def units(self, order: Any) -> int:
        return order.unit_count or 0

    @admin.display(description="amount", ordering=Coalesce("billed_total", Value(NO_AMOUNT)))
    def amount(self, order: Any) -> str:
        return "" if order.billed is None else amount_text(order.billed, order.currency)

    @admin.display(description="order")
    def number(self, order: Order) -> str:
        return order.retailer_order_id

    @admin.display(description="state")
    def shown_state(self, order: Order) -> str:
        return badge(order.processing_state)

    @admin.display(description="held")
    def is_held(self, order: Order) -> str:
        return badge("held") if order.held else ""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Order]:
        return super().get_queryset(request).select_related("retailer")

    def page_context(self, request: HttpRequest, order: Order) -> dict[str, object]:
        fulfillments = order.fulfillments.select_related("supplier", "warehouse", "capture").order_by("id")
        fulfillments = fulfillments.prefetch_related("lines", "shipments", "returns")
        lines = order.lines.all()
        table = line_table(lines, fulfillments, request.GET.get("lines", ""))
        happened, more = order_timeline(order.pk, {line.pk: line.name for line in lines})
        return {
            "steps": [
                (step, self._remedy_url(request, order, step.remedy))
                for step in next_steps(order, lines, fulfillments)
            ],
            "totals": totals(lines, fulfillments),
            "more_facts": _more_facts(order),
            "table": table,
            "line_rows": with_pictures(table.rows),
            "fulfillments": [(each, _reassign_url(request, order, each)) for each in fulfillments],
            "parcels": list(itemize(fulfillments, "shipments")),
            "returns": list(itemize(fulfillments, "returns")),
            "cancel_requests": _cancel_requests(order),
            "decisions": explained_decisions(order, {line.pk: line.position + 1 for line in table.page}),
            "entries": happened,
            "rows": timeline_rows(
                happened, {each.pk: each.supplier.name for each in fulfillments}, order.retailer.name
            ),
            "more_entries": more,
        }

    def _remedy_url(self, request: HttpRequest, order: Order, remedy: Remedy | None) -> str:
        """Return the URL of the remedy's action, or an empty text if the user may not do this action.

        After the action, the user returns to the order's page.
        """
        if remedy is None:
            return ""
        if remedy.fulfillment_id is None:
            url = reverse("admin:orders_order_do", args=[order.pk, remedy.action])
            return f"{url}?{_back_to(order)}" if self.has_act_permission(request) else ""
        url = reverse("admin:fulfillments_fulfillment_do", args=[remedy.fulfillment_id, remedy.action])
        return f"{url}?{_back_to(order)}" if request.user.has_perm(CHANGE_FULFILLMENT) else ""


@admin.register(OrderLine)
class OrderLineAdmin(ReadOnlyAdmin[OrderLine]):
    """The list of lines that wait for stock, with their suppliers.

    A search for the id of a line, or for the number of an order, also finds lines that do not wait.
    """

    list_display = ("id", "in_order", "retailer", "sku", "quantity", "short", "waiting", "rejected")
    list_display += ("suppliers", "waiting_since")  # type: ignore[assignment]
    list_filter = (WaitingFilter,)
    list_select_related = ("order__retailer",)
    search_help_text = "A whole sku of a waiting line, an order's number at its retailer, or order:1."
    fields = ("in_order", "retailer", "position", "sku", "upc", "asked_variant_id", "asked_supplier_id")
    fields += ("quantity", "open", "reserved", "waiting", "rejected", "shipped", "canceled")  # type: ignore[assignment]
    fields += ("suppliers", "waiting_since")  # type: ignore[assignment]

    def get_queryset(self, request: HttpRequest) -> QuerySet[OrderLine]:
        return super().get_queryset(request).prefetch_related("fulfillment_lines__fulfillment__supplier")

    def search_condition(self, term: str) -> Q:
        subject, _, number = term.partition(":")
        if subject == "order" and number:
            return Q(order_id=as_id(number))
        # Use separate queries, so that each query uses its own index.
        orders = Order.objects.filter(retailer__in=[*Retailer.objects.values_list("pk", flat=True)])
        numbers = [*orders.filter(retailer_order_id=term).values_list("pk", flat=True)[:100]]
        variants = dict(Variant.objects.filter(sku=term).values_list("pk", "upc")[:100])
        wanted = Q(sku=term) | Q(asked_variant_id__in=[*variants])
        wanted |= Q(upc__in=[upc for upc in variants.values() if upc])
        return Q(pk=as_id(term)) | Q(order_id__in=numbers) | wanted & Q(waiting_since__isnull=False)

    @admin.display(description="order")
    def in_order(self, line: OrderLine) -> str:
        url = reverse("admin:orders_order_change", args=[line.order_id])
        return format_html('<a href="{}">{}</a>', url, line.order.retailer_order_id)

    @admin.display(description="retailer")
    def retailer(self, line: OrderLine) -> str:
        return str(line.order.retailer)

    @admin.display(description="short at suppliers")
    def short(self, line: OrderLine) -> int:
        return line.open - line.reserved

    @admin.display(description="suppliers")
    def suppliers(self, line: OrderLine) -> str:
        short_lines = (held for held in line.fulfillment_lines.all() if held.is_short)
        return (
            ", ".join(f"{held.backordered} at {held.fulfillment.supplier}" for held in short_lines)
            or "no supplier"
        )


SHOWN_APART = {
    *("retailer_order_id", "sales_order_number", "shipping_method_code", "shipping_address"),
    *("billing_address", "ship_until", "is_gift", "gift_message", "notes"),
}
"""The fields that suppliers also see, and that the page's template shows by name."""


CHANGE_FULFILLMENT = "fulfillments.change_fulfillment"


def _back_to(order: Order) -> str:
    return urlencode({"next": reverse("admin:orders_order_change", args=[order.pk])})


def _reassign_url(request: HttpRequest, order: Order, fulfillment: Fulfillment) -> str:
    """Return the URL for reassigning a fulfillment, or an empty text if the operator cannot reassign it."""
    if (
        order.held
        or fulfillment.state not in WITHDRAW.sources
        or not request.user.has_perm(CHANGE_FULFILLMENT)
    ):
        return ""
    url = reverse("admin:fulfillments_fulfillment_do", args=[fulfillment.pk, "withdraw"])
    return f"{url}?{_back_to(order)}"


def _more_facts(order: Order) -> list[tuple[str, object]]:
    """Return the name and value of each filled field that suppliers see, except the fields in SHOWN_APART."""
    names = [name for name in SHARED_WITH_SUPPLIERS if name not in SHOWN_APART]
    return [(name.replace("_", " ").capitalize(), value) for name in names if (value := getattr(order, name))]


def _cancel_requests(order: Order) -> list[dict[str, object]]:
    """Return the order's cancel requests with their events, oldest first."""
    names = {line.pk: f"line {line.position + 1}" for line in order.lines.all()}
    events = Event.objects.filter(order_id=order.pk, type=CANCEL_REQUESTED).order_by("id")
    return [
        {
            "event": event,
            "asked": [
                (names.get(item["order_line_id"], ""), item["quantity"])
                for item in event.data.get("items", ())
            ],
            **{name: event.data.get(name) for name in ("reason", "cancel_id", "canceled", "requested")},
        }
        for event in events
    ]
