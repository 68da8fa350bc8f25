"""Orders as retailers read them: plain rows, one query for each kind of thing, however many there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Q, QuerySet, Value

from api.prepared import Prepared, any_of
from api.renderers import iso, number
from api.stored import number_of, parsed, text_of
from fulfillments.models import Fulfillment
from fulfillments.serializers import AddressJson, NoteJson
from orders.models import Order, OrderLine
from orders.serializers import OrderFulfillmentJson, OrderJson, OrderLineJson, RoutingJson

Row = Any
"""A named tuple of a `values_list`; its columns stand beside each query."""


def rows(orders: QuerySet[Order]) -> QuerySet[Order, Row]:
    """Orders as rows."""
    told = orders.annotate(
        billing=text_of("billing_address"), shipping=text_of("shipping_address"), told_notes=text_of("notes")
    )
    return told.values_list(
        "id",
        "type",
        "retailer_order_id",
        "processing_state",
        "id_in_source",
        "billing",
        "shipping",
        "shipping_method_code",
        "shipping_paid",
        "shipping_tax",
        "sales_division_code",
        "sales_order_number",
        "gift_message",
        "is_gift",
        "ship_until",
        "original_created_at",
        "told_notes",
        "created_at",
        "updated_at",
        named=True,
    )


def orders_json(page: Sequence[Row]) -> list[OrderJson]:
    """Rows with their lines, fulfillments and tracking numbers. Two queries."""
    ids = [row.id for row in page]
    lines, fulfillments = _grouped(_lines(ids=ids), "order_id"), _fulfillments(ids)
    return [
        _order_json(
            row,
            parsed(row.billing),
            parsed(row.shipping),
            parsed(row.told_notes),
            lines.get(row.id, []),
            fulfillments.get(row.id, []),
        )
        for row in page
    ]


def order_json(order: Order) -> OrderJson:
    """The same of one order. Two queries."""
    lines, fulfillments = _lines(ids=[order.pk]), _fulfillments([order.pk]).get(order.pk, [])
    return _order_json(order, order.billing_address, order.shipping_address, order.notes, lines, fulfillments)


def _grouped(found: Iterable[Row], column: str) -> dict[int, list[Row]]:
    groups: dict[int, list[Row]] = defaultdict(list)
    for row in found:
        groups[getattr(row, column)].append(row)
    return groups


@Prepared
def _lines() -> QuerySet[OrderLine, Row]:
    return (
        OrderLine.objects.filter(any_of("order_id", "ids"))
        .order_by("position")
        .annotate(
            told_notes=text_of("notes"),
            billed=number_of("billed_amount"),
            tax_billed=number_of("tax_billed_amount"),
        )
        .values_list(
            "order_id",
            "id",
            "sku",
            "upc",
            "asked_supplier_id",
            "asked_variant_id",
            "quantity",
            "billed",
            "tax_billed",
            "told_notes",
            "open",
            "reserved",
            "shipped",
            "canceled",
            "rejected",
            named=True,
        )
    )


@Prepared
def _held() -> QuerySet[Fulfillment, Row]:
    fulfillments = Fulfillment.objects.filter(any_of("order_id", "ids")).order_by("id")
    parcels = ArrayAgg(
        "shipments__tracking_number",
        filter=Q(shipments__isnull=False),
        order_by="shipments__id",
        default=Value([]),
    )
    return fulfillments.annotate(parcels=parcels).values_list(
        "order_id", "id", "supplier_id", "state", "parcels"
    )


def _fulfillments(ids: list[int]) -> dict[int, list[OrderFulfillmentJson]]:
    groups: dict[int, list[OrderFulfillmentJson]] = defaultdict(list)
    for order_id, pk, supplier_id, state, numbers in _held(ids=ids):
        groups[order_id].append(
            {"id": pk, "supplier_id": supplier_id, "state": state, "tracking_numbers": numbers}
        )
    return groups


def _order_json(
    order: Row,
    billing: AddressJson,
    shipping: AddressJson,
    notes: list[NoteJson],
    lines: list[Row],
    fulfillments: list[OrderFulfillmentJson],
) -> OrderJson:
    return {
        "id": order.id,
        "type": order.type,
        "retailer_order_id": order.retailer_order_id,
        "processing_state": order.processing_state,
        "id_in_source": order.id_in_source,
        "billing_address": billing,
        "shipping_address": shipping,
        "shipping_method_code": order.shipping_method_code,
        "shipping_paid": number(order.shipping_paid),
        "shipping_tax": number(order.shipping_tax),
        "sales_division_code": order.sales_division_code,
        "sales_order_number": order.sales_order_number,
        "gift_message": order.gift_message,
        "is_gift": order.is_gift,
        "ship_until": order.ship_until.isoformat() if order.ship_until else None,
        "original_created_at": order.original_created_at.isoformat() if order.original_created_at else None,
        "notes": notes,
        "created_at": iso(order.created_at),
        "updated_at": iso(order.updated_at),
        "order_lines": [_line_json(line) for line in lines],
        "fulfillments": fulfillments,
    }


def _line_json(line: Row) -> OrderLineJson:
    return {
        "id": line.id,
        "sku": line.sku,
        "upc": line.upc,
        "supplier_id": line.asked_supplier_id,
        "variant_id": line.asked_variant_id,
        "quantity": line.quantity,
        "billed_amount": line.billed,
        "tax_billed_amount": line.tax_billed,
        "notes": parsed(line.told_notes),
        "quantity_reserved": line.reserved,
        "quantity_shipped": line.shipped,
        "quantity_canceled": line.canceled,
        "quantity_rejected": line.rejected,
        "short": line.open - line.reserved,
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
