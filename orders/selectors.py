"""Orders as retailers read them: plain rows, one query for each kind of thing, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import F, Q, QuerySet, Value

from api.renderers import iso
from fastdb.columns import Day, Json, Moment, Number
from fastdb.compiled import CompiledQuery, Param, any_of
from fastdb.rows import answering, as_rows, grouped
from fulfillments.models import Fulfillment
from fulfillments.serializers import AddressJson, NoteJson
from fulfillments.states import State
from orders.models import Order, OrderLine, OrderType
from orders.processing_state import ProcessingState
from orders.serializers import (
    OrderFieldsJson,
    OrderFulfillmentJson,
    OrderJson,
    OrderLineJson,
    RoutingJson,
)


class OrderRow(NamedTuple):
    """An order's own fields, as it is answered."""

    id: int
    type: OrderType
    retailer_order_id: str
    processing_state: ProcessingState
    id_in_source: str
    billing_address: Json[AddressJson]
    shipping_address: Json[AddressJson]
    shipping_method_code: str
    shipping_paid: Number | None
    shipping_tax: Number | None
    sales_division_code: str
    sales_order_number: str
    gift_message: str
    is_gift: bool
    ship_until: Day | None
    original_created_at: Day | None
    notes: Json[list[NoteJson]]
    created_at: Moment
    updated_at: Moment | None


class LineRow(NamedTuple):
    """A line as it is answered, and its order."""

    order_id: int
    id: int
    sku: str
    upc: str
    supplier_id: Annotated[int | None, F("asked_supplier_id")]
    variant_id: Annotated[int | None, F("asked_variant_id")]
    quantity: int
    billed_amount: Number | None
    tax_billed_amount: Number | None
    notes: Json[list[NoteJson]]
    quantity_reserved: Annotated[int, F("reserved")]
    quantity_shipped: Annotated[int, F("shipped")]
    quantity_canceled: Annotated[int, F("canceled")]
    quantity_rejected: Annotated[int, F("rejected")]
    short: Annotated[int, F("open") - F("reserved")]


_tracking_numbers = ArrayAgg(
    "shipments__tracking_number",
    filter=Q(shipments__isnull=False),
    order_by="shipments__id",
    default=Value([]),
)


class FulfillmentRow(NamedTuple):
    """What a supplier does with an order, as it is answered, and the order."""

    order_id: int
    id: int
    supplier_id: int
    state: State
    tracking_numbers: Annotated[list[str], _tracking_numbers]


_fields_json = answering(OrderRow, OrderFieldsJson)
_line_json = answering(LineRow, OrderLineJson)
_fulfillment_json = answering(FulfillmentRow, OrderFulfillmentJson)


def rows(orders: QuerySet[Order]) -> QuerySet[Order, OrderRow]:
    """Orders as rows."""
    return as_rows(orders, OrderRow)


@CompiledQuery
def own_row() -> QuerySet[Order, OrderRow]:
    """An order of a retailer as a row."""
    return rows(Order.objects.filter(retailer_id=Param("retailer"), pk=Param("order")).order_by())


@CompiledQuery
def own_order() -> QuerySet[Order]:
    """The same as an instance, to be acted upon."""
    return Order.objects.filter(retailer_id=Param("retailer"), pk=Param("order")).order_by()


@CompiledQuery
def _lines() -> QuerySet[OrderLine, LineRow]:
    return as_rows(OrderLine.objects.filter(any_of("order_id", "ids")).order_by("position"), LineRow)


@CompiledQuery
def _fulfillments() -> QuerySet[Fulfillment, FulfillmentRow]:
    return as_rows(Fulfillment.objects.filter(any_of("order_id", "ids")).order_by("id"), FulfillmentRow)


def orders_json(page: Sequence[OrderRow]) -> list[OrderJson]:
    """Rows with their lines, fulfillments and tracking numbers. Two queries."""
    ids = [row.id for row in page]
    lines = grouped(_lines(ids=ids), lambda line: line.order_id)
    fulfillments = grouped(_fulfillments(ids=ids), lambda fulfillment: fulfillment.order_id)
    return [
        {
            **_fields_json(row),
            "order_lines": [_line_json(line) for line in lines[row.id]],
            "fulfillments": [_fulfillment_json(each) for each in fulfillments[row.id]],
        }
        for row in page
    ]


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
