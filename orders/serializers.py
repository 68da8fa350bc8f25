"""Orders as retailers read them (interface 2.6, contract 4 and 12)."""

from __future__ import annotations

from decimal import Decimal
from typing import TypedDict

from django.db.models import Prefetch, QuerySet

from api.envelope import ResultJson
from api.renderers import iso, number
from fulfillments.explaining import DecisionJson
from fulfillments.models import Fulfillment
from fulfillments.serializers import AddressJson, NoteJson
from orders.models import Order, OrderLine


class OrderLineJson(TypedDict):
    """One line: the pushed fields, and how many of its pieces are where."""

    id: int
    sku: str
    upc: str
    supplier_id: int | None
    variant_id: int | None
    quantity: int
    billed_amount: Decimal | None
    tax_billed_amount: Decimal | None
    notes: list[NoteJson]
    quantity_reserved: int
    quantity_shipped: int
    quantity_canceled: int
    quantity_rejected: int
    short: int


class OrderFulfillmentJson(TypedDict):
    id: int
    supplier_id: int
    state: str
    tracking_numbers: list[str]


class OrderJson(TypedDict):
    """An order (interface 2.6)."""

    id: int
    type: str
    retailer_order_id: str
    processing_state: str
    id_in_source: str
    billing_address: AddressJson
    shipping_address: AddressJson
    shipping_method_code: str
    shipping_paid: Decimal | None
    shipping_tax: Decimal | None
    sales_division_code: str
    sales_order_number: str
    gift_message: str
    is_gift: bool
    ship_until: str | None
    original_created_at: str | None
    notes: list[NoteJson]
    created_at: str
    updated_at: str | None
    order_lines: list[OrderLineJson]
    fulfillments: list[OrderFulfillmentJson]


class OrdersJson(TypedDict):
    """One page of orders."""

    next: str | None
    previous: str | None
    results: list[OrderJson]


class PushedJson(ResultJson):
    """The result of a push: without the id no client could cancel."""

    order_id: int
    warnings: list[str]


class RoutedJson(TypedDict):
    """One routing decision: what asked for it, and what was decided for each line."""

    decided_at: str
    cause: str
    lines: list[DecisionJson]


class RoutingJson(TypedDict):
    """Why an order's lines went where they went."""

    order_id: int
    decisions: list[RoutedJson]


class CountsJson(TypedDict):
    """How many orders there are of each kind (interface 2.7)."""

    completed: int
    canceled: int
    pending: int


def with_details(orders: QuerySet[Order]) -> QuerySet[Order]:
    """With lines, fulfillments and parcels: one query each, however many orders."""
    return orders.prefetch_related(
        Prefetch("lines", OrderLine.objects.order_by("position")),
        Prefetch("fulfillments", Fulfillment.objects.order_by("pk").prefetch_related("shipments")),
    )


def order_json(order: Order) -> OrderJson:
    """An order read by `with_details`."""
    return {
        "id": order.pk,
        "type": order.type,
        "retailer_order_id": order.retailer_order_id,
        "processing_state": order.processing_state,
        "id_in_source": order.id_in_source,
        "billing_address": order.billing_address,
        "shipping_address": order.shipping_address,
        "shipping_method_code": order.shipping_method_code,
        "shipping_paid": number(order.shipping_paid),
        "shipping_tax": number(order.shipping_tax),
        "sales_division_code": order.sales_division_code,
        "sales_order_number": order.sales_order_number,
        "gift_message": order.gift_message,
        "is_gift": order.is_gift,
        "ship_until": order.ship_until.isoformat() if order.ship_until else None,
        "original_created_at": order.original_created_at.isoformat() if order.original_created_at else None,
        "notes": order.notes,
        "created_at": iso(order.created_at),
        "updated_at": iso(order.updated_at),
        "order_lines": [_line_json(line) for line in order.lines.all()],
        "fulfillments": [_fulfillment_json(each) for each in order.fulfillments.all()],
    }


def _line_json(line: OrderLine) -> OrderLineJson:
    return {
        "id": line.pk,
        "sku": line.sku,
        "upc": line.upc,
        "supplier_id": line.asked_supplier_id,
        "variant_id": line.asked_variant_id,
        "quantity": line.quantity,
        "billed_amount": number(line.billed_amount),
        "tax_billed_amount": number(line.tax_billed_amount),
        "notes": line.notes,
        "quantity_reserved": line.reserved,
        "quantity_shipped": line.shipped,
        "quantity_canceled": line.canceled,
        "quantity_rejected": line.rejected,
        "short": line.open - line.reserved,
    }


def _fulfillment_json(fulfillment: Fulfillment) -> OrderFulfillmentJson:
    return {
        "id": fulfillment.pk,
        "supplier_id": fulfillment.supplier_id,
        "state": fulfillment.state,
        "tracking_numbers": [each.tracking_number for each in fulfillment.shipments.all()],
    }


def routing_json(order: Order) -> RoutingJson:
    """An order's routing decisions, oldest first."""
    decisions = order.routing_decisions.order_by("pk")
    return {
        "order_id": order.pk,
        "decisions": [
            {"decided_at": iso(each.decided_at), "cause": each.cause, "lines": each.lines}
            for each in decisions
        ],
    }
