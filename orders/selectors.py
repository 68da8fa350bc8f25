"""The queries for orders in retailers' answers: one query for each table, for any number of orders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Annotated, NamedTuple

from django.db.models import F, QuerySet

from accounts.models import WhenShort
from api.renderers import iso
from fastdb.columns import Day, Json, Moment, Number
from fastdb.compiled import CompiledQuery, Param, any_of
from fastdb.rows import answering, answering_with, as_rows, grouped
from fulfillments.models import Fulfillment, FulfillmentLine
from fulfillments.selectors import ReturnRow, ShipmentRow, StoredItem, returns_of, shipments_of
from fulfillments.serializers import AddressJson, NoteJson
from fulfillments.states import State
from fulfillments.tracking import tracking_url
from orders.backorders.expected_days import expected_days
from orders.models import Order, OrderLine, OrderType
from orders.processing_state import ProcessingState
from orders.serializers import (
    ExpectedJson,
    OrderFieldsJson,
    OrderFulfillmentJson,
    OrderItemJson,
    OrderJson,
    OrderLineJson,
    OrderPlacedLineJson,
    OrderReturnJson,
    OrderShipmentJson,
    RoutingJson,
)


class OrderRow(NamedTuple):
    """The fields of an order in an answer, without its lines and fulfillments."""

    id: int
    type: OrderType
    retailer_order_id: str
    processing_state: ProcessingState
    id_in_source: str
    billing_address: Json[AddressJson]
    shipping_address: Json[AddressJson]
    shipping_method_code: str
    currency: str
    shipping_paid: Number | None
    shipping_tax: Number | None
    sales_division_code: str
    sales_order_number: str
    gift_message: str
    is_gift: bool
    ship_until: Day | None
    original_created_at: Day | None
    when_short: WhenShort | None
    notes: Json[list[NoteJson]]
    created_at: Moment
    updated_at: Moment


class OrderLineRow(NamedTuple):
    """A line in an answer, with the id of its order."""

    order_id: int
    id: int
    sku: str
    upc: str
    title: str
    supplier_id: Annotated[int | None, F("asked_supplier_id")]
    variant_id: Annotated[int | None, F("asked_variant_id")]
    quantity: int
    billed_amount: Number | None
    tax_billed_amount: Number | None
    notes: Json[list[NoteJson]]
    quantity_open: Annotated[int, F("open")]
    quantity_reserved: Annotated[int, F("reserved")]
    quantity_shipped: Annotated[int, F("shipped")]
    quantity_canceled: Annotated[int, F("canceled")]
    quantity_rejected: Annotated[int, F("rejected")]
    quantity_returned: Annotated[int, F("returned")]
    quantity_waiting: Annotated[int, F("waiting")]
    short: Annotated[int, F("open") - F("reserved")]


class OrderFulfillmentRow(NamedTuple):
    """A fulfillment in an answer, with the id of its order."""

    order_id: int
    id: int
    supplier_id: int
    state: State
    currency: str


class PlacedLineRow(NamedTuple):
    """A line of a fulfillment: the order line, and the values agreed when it was placed."""

    id: int
    fulfillment_id: int
    order_line_id: int
    sku: str
    quantity: int
    wholesale_price: Number | None


_fields_json = answering(OrderRow, OrderFieldsJson)
_line_json = answering_with(OrderLineRow, ExpectedJson, OrderLineJson)
_placed_json = answering(PlacedLineRow, OrderPlacedLineJson)


def rows(orders: QuerySet[Order]) -> QuerySet[Order, OrderRow]:
    return as_rows(orders, OrderRow)


@CompiledQuery
def own_row() -> QuerySet[Order, OrderRow]:
    """Select an order of a retailer as a row."""
    return rows(Order.objects.filter(retailer_id=Param("retailer"), pk=Param("order")).order_by())


@CompiledQuery
def own_order() -> QuerySet[Order]:
    """Select an order of a retailer as an instance, to change it."""
    return Order.objects.filter(retailer_id=Param("retailer"), pk=Param("order")).order_by()


@CompiledQuery
def _lines() -> QuerySet[OrderLine, OrderLineRow]:
    return as_rows(OrderLine.objects.filter(any_of("order_id", "ids")).order_by("position"), OrderLineRow)


@CompiledQuery
def _fulfillments() -> QuerySet[Fulfillment, OrderFulfillmentRow]:
    return as_rows(Fulfillment.objects.filter(any_of("order_id", "ids")).order_by("id"), OrderFulfillmentRow)


@CompiledQuery
def _placed_lines() -> QuerySet[FulfillmentLine, PlacedLineRow]:
    lines = FulfillmentLine.objects.filter(any_of("fulfillment_id", "ids")).order_by("id")
    return as_rows(lines, PlacedLineRow)


def orders_json(page: Sequence[OrderRow]) -> list[OrderJson]:
    """Return orders with lines, fulfillments, shipments and returns. Makes at most six queries."""
    ids = [row.id for row in page]
    lines, fulfillments = _lines(ids=ids), _fulfillments(ids=ids)
    lines_of = grouped(lines, lambda line: line.order_id)
    fulfillments_of = grouped(fulfillments, lambda fulfillment: fulfillment.order_id)
    parcels = _Parcels(lines, fulfillments)
    expected = expected_days(
        [each.id for each in lines if each.quantity_waiting or each.quantity_rejected or each.short]
    )
    return [
        {
            **_fields_json(row),
            "order_lines": [
                _line_json(line, _expected_json(expected.get(line.id))) for line in lines_of[row.id]
            ],
            "fulfillments": [parcels.fulfillment_json(each) for each in fulfillments_of[row.id]],
        }
        for row in page
    ]


def _expected_json(day: date | None) -> ExpectedJson:
    return {"expected_at": day.isoformat() if day else None}


class _Parcels:
    """The lines, shipments and returns of fulfillments.

    Shipments are read only if a line has shipped units, and returns only if a line has returned units.
    """

    def __init__(self, lines: Iterable[OrderLineRow], fulfillments: Iterable[OrderFulfillmentRow]) -> None:
        ids = [fulfillment.id for fulfillment in fulfillments]
        placed = _placed_lines(ids=ids) if ids else []
        self._placed = grouped(placed, lambda line: line.fulfillment_id)
        self._placed_by_id = {line.id: line for line in placed}
        sent = ids if any(line.quantity_shipped for line in lines) else []
        back = sent if any(line.quantity_returned for line in lines) else []
        self._shipments = grouped(shipments_of(ids=sent) if sent else [], lambda each: each.fulfillment_id)
        self._returns = grouped(returns_of(ids=back) if back else [], lambda each: each.fulfillment_id)

    def fulfillment_json(self, row: OrderFulfillmentRow) -> OrderFulfillmentJson:
        shipments = self._shipments[row.id]
        return {
            "id": row.id,
            "supplier_id": row.supplier_id,
            "state": row.state,
            "currency": row.currency,
            "lines": [_placed_json(line) for line in self._placed[row.id]],
            "tracking_numbers": [each.tracking_number for each in shipments],
            "shipments": [self._shipment_json(each) for each in shipments],
            "returns": [self._return_json(each) for each in self._returns[row.id]],
        }

    def _shipment_json(self, row: ShipmentRow) -> OrderShipmentJson:
        return {
            "id": row.id,
            "tracking_number": row.tracking_number,
            "carrier": row.carrier,
            "tracking_url": tracking_url(row.tracking_number, row.carrier),
            "shipped_at": row.shipped_at,
            "items": self._items_json(row.items),
        }

    def _return_json(self, row: ReturnRow) -> OrderReturnJson:
        return {
            "return_id": row.return_id,
            "reason": row.reason,
            "returned_at": row.returned_at,
            "items": self._items_json(row.items),
        }

    def _items_json(self, items: Iterable[StoredItem]) -> list[OrderItemJson]:
        """Sum the units by order line and sku, because retailers do not know the lines of fulfillments."""
        total: dict[tuple[int, str], int] = {}
        for item in items:
            line = self._placed_by_id[item["line"]]
            name = (line.order_line_id, line.sku)
            total[name] = total.get(name, 0) + item["quantity"]
        return [
            {"order_line_id": line_id, "sku": sku, "quantity": quantity}
            for (line_id, sku), quantity in total.items()
        ]


def routing_json(order: Order) -> RoutingJson:
    """Return an order's routing decisions, oldest first."""
    decisions = order.routing_decisions.order_by("pk")
    return {
        "order_id": order.pk,
        "decisions": [
            {"decided_at": iso(decision.decided_at), "cause": decision.cause, "lines": decision.lines}
            for decision in decisions
        ],
    }
