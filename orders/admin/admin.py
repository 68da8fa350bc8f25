"""Orders and order lines for operators: lists and pages."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from accounts.models import Retailer, Supplier
from accounts.operating.admin_actions import RecordAdmin, badge
from accounts.operating.admin_base import ReadOnlyAdmin, as_id
from accounts.operating.day_filter import DaysFilter
from catalog.models import Variant
from events.models import Event
from fulfillments.item_names import itemize
from fulfillments.selectors import SHARED_WITH_SUPPLIERS
from fulfillments.timeline import order_timeline
from inventory.models import Warehouse
from orders.admin.actions import ACTIONS
from orders.admin.filters import HeldFilter, UnknownCountryFilter, WaitingFilter
from orders.canceling import CANCEL_REQUESTED
from orders.models import Order, OrderLine
from orders.next_steps import due_of, next_steps, totals
from orders.suspended import suspended_then


@admin.register(Order)
class OrderAdmin(RecordAdmin[Order]):
    """One order of one retailer, with its lines, fulfillments and timeline."""

    record_actions = ACTIONS
    acts_with = ("retailer", "lines", "fulfillments__supplier")
    page_template = "admin/orders/order/page.html"
    list_display = (
        "number",
        "retailer",
        "shown_state",
        "is_held",
        "ship_until",
        "created_at",
    )
    list_filter = (
        "processing_state",
        ("created_at", DaysFilter),
        HeldFilter,
        UnknownCountryFilter,
        "type",
        "retailer",
    )
    more_columns = ("id", "type", "sales_order_number", "shipping_method_code", "updated_at")
    list_select_related = ("retailer",)
    search_help_text = "The whole number of the order, here or at its retailer"

    def search_condition(self, term: str) -> Q:
        retailers = [*Retailer.objects.values_list("pk", flat=True)]  # the index starts with the retailer
        return super().search_condition(term) | Q(retailer_order_id=term, retailer__in=retailers)

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

    def page_context(self, order: Order) -> dict[str, Any]:
        fulfillments = order.fulfillments.select_related("supplier", "warehouse", "capture").order_by("id")
        fulfillments = fulfillments.prefetch_related("lines", "shipments", "returns")
        lines = order.lines.all()
        happened, more = order_timeline(order.pk, {line.pk: line.name for line in lines})
        return {
            "steps": next_steps(order, lines, fulfillments),
            "totals": totals(lines, fulfillments),
            "more_facts": _more_facts(order),
            "lines": lines,
            "fulfillments": [(each, due_of(each)) for each in fulfillments],
            "parcels": list(itemize(fulfillments, "shipments")),
            "returns": list(itemize(fulfillments, "returns")),
            "cancel_requests": _cancel_requests(order),
            "decisions": _decisions(order),
            "entries": happened,
            "more_entries": more,
        }


@admin.register(OrderLine)
class OrderLineAdmin(ReadOnlyAdmin[OrderLine]):
    """Lines that wait for stock, with their suppliers; and any line by its number."""

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
        # One query each, so that each uses its own index.
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
"""The shared fields that the template of the page names."""


def _more_facts(order: Order) -> list[tuple[str, object]]:
    """Return name and value of each filled field that suppliers see and that the template does not name."""
    names = [name for name in SHARED_WITH_SUPPLIERS if name not in SHOWN_APART]
    return [(name.replace("_", " ").capitalize(), value) for name in names if (value := getattr(order, name))]


def _cancel_requests(order: Order) -> list[dict[str, Any]]:
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


def _decisions(order: Order) -> list[dict[str, Any]]:
    """Return the order's routing decisions, with the names of suppliers and warehouses."""
    decisions = list(order.routing_decisions.order_by("id"))
    candidates = [one for each in decisions for line in each.lines for one in line["candidates"]]
    suppliers = Supplier.objects.in_bulk({one["supplier_id"] for one in candidates})
    warehouses = Warehouse.objects.in_bulk({one["warehouse_id"] for one in candidates if one["warehouse_id"]})
    positions = {line.pk: line.position + 1 for line in order.lines.all()}
    suspended = suspended_then(order, decisions)
    return [
        {
            "cause": decision.cause,
            "decided_at": decision.decided_at,
            "lines": [
                {
                    **line,
                    "position": positions[line["line_id"]],
                    "suspended": suspended.get((decision.pk, line["line_id"]), ()),
                    "candidates": [
                        {
                            **one,
                            "supplier": suppliers.get(one["supplier_id"]),
                            "warehouse": warehouses.get(one["warehouse_id"]),
                        }
                        for one in line["candidates"]
                    ],
                }
                for line in decision.lines
            ],
        }
        for decision in decisions
    ]
