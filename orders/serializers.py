"""Orders as retailers read them (interface 2.6, contract 4 and 12)."""

from __future__ import annotations

from decimal import Decimal
from typing import TypedDict

from api.envelope import ResultJson
from fulfillments.explaining import DecisionJson
from fulfillments.serializers import AddressJson, NoteJson
from fulfillments.states import State
from orders.models import OrderType
from orders.settling import ProcessingState


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
    state: State
    tracking_numbers: list[str]


class OrderJson(TypedDict):
    """An order (interface 2.6)."""

    id: int
    type: OrderType
    retailer_order_id: str
    processing_state: ProcessingState
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
