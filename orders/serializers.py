"""Answers with orders, and the body of a cancel request (interface 2.5 to 2.7, contract 4)."""

from __future__ import annotations

from decimal import Decimal
from typing import TypedDict

from rest_framework.exceptions import ErrorDetail, ValidationError

from accounts.models import WhenShort
from api import fields
from api.bodies import Body
from api.envelope import ResultJson
from fulfillments.planning.explaining import DecisionJson
from fulfillments.serializers import AddressJson, NoteJson
from fulfillments.states import State
from orders.models import OrderType
from orders.processing_state import ProcessingState


class ExpectedJson(TypedDict):
    """The day on which new stock for a waiting line is expected."""

    expected_at: str | None


class OrderLineJson(TypedDict):
    """One line: the pushed fields, and its units by their state."""

    id: int
    sku: str
    upc: str
    title: str
    supplier_id: int | None
    variant_id: int | None
    quantity: int
    billed_amount: Decimal | None
    tax_billed_amount: Decimal | None
    notes: list[NoteJson]
    quantity_open: int
    quantity_reserved: int
    quantity_shipped: int
    quantity_canceled: int
    quantity_rejected: int
    quantity_returned: int
    quantity_waiting: int
    short: int
    expected_at: str | None


class OrderItemJson(TypedDict):
    """Units of one order line. `sku` is the supplier's sku."""

    order_line_id: int
    sku: str
    quantity: int


class OrderShipmentJson(TypedDict):
    """A shipped parcel and its items."""

    id: int
    tracking_number: str
    carrier: str
    tracking_url: str | None
    shipped_at: str
    items: list[OrderItemJson]


class OrderReturnJson(TypedDict):
    """A return. `return_id` is the supplier's own number."""

    return_id: str | None
    reason: str
    returned_at: str
    items: list[OrderItemJson]


class OrderPlacedLineJson(TypedDict):
    """Units of one order line that were placed with a supplier, with the price agreed at placement."""

    order_line_id: int
    sku: str
    quantity: int
    wholesale_price: Decimal | None


class OrderFulfillmentJson(TypedDict):
    """One supplier's part of an order."""

    id: int
    supplier_id: int
    state: State
    currency: str
    lines: list[OrderPlacedLineJson]
    tracking_numbers: list[str]
    shipments: list[OrderShipmentJson]
    returns: list[OrderReturnJson]


class OrderFieldsJson(TypedDict):
    """The fields of an order, without its lines and fulfillments."""

    id: int
    type: OrderType
    retailer_order_id: str
    processing_state: ProcessingState
    id_in_source: str
    billing_address: AddressJson
    shipping_address: AddressJson
    shipping_method_code: str
    currency: str
    shipping_paid: Decimal | None
    shipping_tax: Decimal | None
    sales_division_code: str
    sales_order_number: str
    gift_message: str
    is_gift: bool
    ship_until: str | None
    original_created_at: str | None
    when_short: WhenShort | None
    notes: list[NoteJson]
    created_at: str
    updated_at: str


class OrderJson(OrderFieldsJson):
    """An order (interface 2.6)."""

    order_lines: list[OrderLineJson]
    fulfillments: list[OrderFulfillmentJson]


class OrdersJson(TypedDict):
    """One page of orders."""

    next: str | None
    previous: str | None
    results: list[OrderJson]


class PushedJson(ResultJson):
    """The result of a push. A client needs the `order_id` to cancel."""

    order_id: int
    warnings: list[str]


class ChangedJson(ResultJson):
    """The result of a change of an order."""

    order_id: int
    warnings: list[str]


class RoutedJson(TypedDict):
    """One routing decision: its cause, and the decision for each line."""

    decided_at: str
    cause: str
    lines: list[DecisionJson]


class RoutingJson(TypedDict):
    """The reasons why an order's lines went to their suppliers."""

    order_id: int
    decisions: list[RoutedJson]


class CountsJson(TypedDict):
    """The number of completed, canceled and pending orders (interface 2.7)."""

    completed: int
    canceled: int
    pending: int


class CancelLineBody(Body):
    """The lines to cancel, by id, sku or variant_id. Without a quantity, all units left are canceled."""

    narrowed_by = "quantity"

    id = fields.Id(required=False, allow_null=True)
    sku = fields.Optional(max_length=100)
    variant_id = fields.Id(required=False, allow_null=True)
    quantity = fields.Integer(
        min_value=1,
        required=False,
        allow_null=True,
        help_text="Default: all units left of the lines that id, sku or variant_id names.",
    )

    def validate(self, data: dict[str, object]) -> dict[str, object]:
        if not any(data.get(name) for name in ("id", "sku", "variant_id")):
            raise ValidationError(
                {"id": [ErrorDetail("Needs an id, a sku or a variant_id.", code="required")]}
            )
        return data


class CancelBody(Body):
    """A cancel request. Without lines, the whole order is canceled."""

    narrowed_by = "lines"

    reason = fields.Optional(max_length=500)
    cancel_id = fields.Text(
        max_length=100,
        required=False,
        allow_null=True,
        help_text="Your own name for this request. A repeated request with the same name changes nothing.",
    )
    lines = CancelLineBody(many=True, required=False, allow_null=True, allow_empty=False)
