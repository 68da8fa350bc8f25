"""Bodies of pushes and cancel requests, and answers with orders (interface 2.5, 2.6; contract 4, 12)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypedDict

from rest_framework.exceptions import ErrorDetail, ValidationError

from accounts.models import WhenShort
from api import fields
from api.bodies import Body, fields_of, reader
from api.envelope import ResultJson
from api.errors import InvalidJson
from api.parsers import loads
from api.renderers import encode
from fulfillments.planning.explaining import DecisionJson
from fulfillments.serializers import AddressJson, NoteJson
from fulfillments.states import State
from orders.addresses.addresses import normalised
from orders.models import OrderType
from orders.processing_state import ProcessingState

MOST_LINES = 1_000
MOST_WARNINGS = 100
MOST_LETTERS_OF_NOTES = 20_000


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
    quantity_reserved: int
    quantity_shipped: int
    quantity_canceled: int
    quantity_rejected: int
    quantity_returned: int
    quantity_waiting: int
    short: int


class OrderItemJson(TypedDict):
    """Units of one order line; `sku` is the supplier's."""

    order_line_id: int
    sku: str
    quantity: int


class OrderShipmentJson(TypedDict):
    """A shipped parcel and its items."""

    tracking_number: str
    carrier: str
    shipped_at: str
    items: list[OrderItemJson]


class OrderReturnJson(TypedDict):
    """A return; `return_id` is the supplier's own number."""

    return_id: str | None
    reason: str
    returned_at: str
    items: list[OrderItemJson]


class OrderFulfillmentJson(TypedDict):
    """One supplier's part of an order."""

    id: int
    supplier_id: int
    state: State
    tracking_numbers: list[str]
    shipments: list[OrderShipmentJson]
    returns: list[OrderReturnJson]


class OrderFieldsJson(TypedDict):
    """An order's own fields."""

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


# --- Bodies: accepted liberally, stored exactly ----------------------------------------------------


class AddressBody(Body):
    """An address. Absent parts are empty."""

    exacting = False

    first_name = fields.Optional()
    last_name = fields.Optional()
    address1 = fields.Optional()
    address2 = fields.Optional()
    country = fields.Optional(max_length=100)
    state = fields.Optional(max_length=100)
    city = fields.Optional(max_length=100)
    zip_code = fields.Optional(max_length=30)
    phone_number = fields.Optional(max_length=50)
    email = fields.Optional()
    company_name = fields.Optional()


ADDRESS_PARTS = fields_of(AddressBody)


class NoteBody(Body):
    name = fields.Text()
    value = fields.Text(max_length=2000, allow_blank=True)


class LineBody(Body):
    """One line: a quantity of the variant that `variant_id`, `upc` or `sku` names."""

    exacting = False

    sku = fields.Optional(max_length=100)
    upc = fields.Optional(max_length=14)
    supplier_id = fields.Id(required=False, allow_null=True)
    variant_id = fields.Id(required=False, allow_null=True)
    quantity = fields.Integer(min_value=1)
    billed_amount = fields.Exact(required=False, allow_null=True)
    tax_billed_amount = fields.Exact(required=False, allow_null=True)
    notes = NoteBody(many=True, required=False, allow_null=True)

    def validate(self, data: dict[str, Any]) -> dict[str, Any]:
        if not any(data.get(name) for name in ("sku", "upc", "variant_id")):
            message = "Needs a variant_id, a upc or a sku to find what is ordered."
            raise ValidationError({"sku": [ErrorDetail(message, code="required")]})
        return data


class OrderBody(AddressBody):
    """A pushed order. Parts of the shipping address may also be at the top level."""

    retailer_order_id = fields.Text(max_length=100)
    type = fields.Choice(choices=OrderType.choices, required=False, allow_null=True)
    id_in_source = fields.Optional(max_length=100)
    shipping_address = AddressBody(required=False)
    billing_address = AddressBody(required=False)
    shipping_method_code = fields.Optional(max_length=100)
    shipping_paid = fields.Exact(required=False, allow_null=True)
    shipping_tax = fields.Exact(required=False, allow_null=True)
    sales_division_code = fields.Optional(max_length=100)
    sales_order_number = fields.Optional(max_length=100)
    gift_message = fields.Optional(max_length=2000)
    is_gift = fields.Flag(required=False, allow_null=True)
    ship_until = fields.Date(required=False, allow_null=True)
    original_created_at = fields.Date(required=False, allow_null=True)
    when_short = fields.Choice(
        choices=WhenShort.choices,
        required=False,
        allow_null=True,
        help_text="What happens to units that are not in stock: they go to the best partner anyway, they "
        "stay with the order until stock arrives, or the order is refused (409). Default: the partnership's "
        "setting.",
    )
    notes = NoteBody(many=True, required=False, allow_null=True)
    order_lines = LineBody(many=True, allow_empty=False, max_length=MOST_LINES)  # type: ignore[call-arg]

    def needed(self) -> list[str]:
        return [*super().needed(), "shipping_address"]

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            return super().to_internal_value(data)  # type: ignore[no-any-return]
        body = {key: value for key, value in data.items() if key not in ADDRESS_PARTS}
        for name in ("shipping_address", "billing_address"):
            address = _address(name, body.pop(name, None))
            if name == "shipping_address" and isinstance(address, dict | None):
                address = _top_level(data) | _filled(address or {})
            if address:
                body[name] = address
        checked = self._checked(body)
        checked["type"] = checked.get("type") or OrderType.DROPSHIP
        checked["is_gift"] = bool(checked.get("is_gift"))
        shipping = normalised(_whole(checked["shipping_address"]))
        billing = checked.get("billing_address")
        checked["shipping_address"] = shipping
        checked["billing_address"] = normalised(_whole(billing)) if billing else shipping
        return checked

    def _checked(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body's checked fields. Raises one ValidationError with every fault."""
        checked, errors = body, {}
        try:
            checked = super().to_internal_value(body)
        except ValidationError as error:
            errors = dict(error.detail)  # type: ignore[arg-type]
        missing = _missing(checked.get("shipping_address") or {})
        if missing and "shipping_address" not in errors and "unknown_field" not in _codes(errors):
            errors["shipping_address"] = missing
        if errors:
            raise ValidationError(errors)
        return checked

    def validate(self, content: dict[str, Any]) -> dict[str, Any]:
        """Limit the length of all notes together, because every capture sends all of them to suppliers."""
        notes = [note for part in (content, *content["order_lines"]) for note in part.get("notes") or ()]
        letters = sum(len(note["name"]) + len(note["value"]) for note in notes)
        if letters > MOST_LETTERS_OF_NOTES:
            message = f"All notes together have {letters} characters; {MOST_LETTERS_OF_NOTES} is the maximum."
            raise ValidationError({"notes": [ErrorDetail(message, code="max_length")]})
        return content

    def warnings(self, data: Mapping[str, Any]) -> list[str]:
        """Return a warning for each ignored value: unknown fields and differing top-level address parts."""
        shipping = _address("shipping_address", data.get("shipping_address")) or {}
        twice = [
            part for part, value in _top_level(data).items() if shipping.get(part) not in (None, "", value)
        ]
        odd = [key for key in data if key not in self.fields and key not in ADDRESS_PARTS]
        for name in ("shipping_address", "billing_address"):
            odd += _unknown(reader(AddressBody), [_address(name, data.get(name)) or {}], name)
        odd += _unknown(reader(NoteBody), data.get("notes") or [], "notes[{}]")
        for index, line in enumerate(data["order_lines"]):
            odd += _unknown(reader(LineBody), [line], f"order_lines[{index}]")
            odd += _unknown(reader(NoteBody), line.get("notes") or [], f"order_lines[{index}].notes[{{}}]")
        unknown = [f"{name}: there is no such field; it was ignored." for name in odd[:MOST_WARNINGS]]
        if len(odd) > MOST_WARNINGS:
            unknown.append(f"There are {len(odd) - MOST_WARNINGS} more fields that were ignored.")
        return unknown + [f"{part}: differs from shipping_address.{part}, which counts." for part in twice]


ORDER_FIELDS = tuple(name for name in fields_of(OrderBody) if name not in (*ADDRESS_PARTS, "order_lines"))
"""The pushed fields that `Order` stores under the same names."""

LINE_FIELDS = {name: name for name in fields_of(LineBody)}
"""The pushed fields of a line, and the names of their columns."""
LINE_FIELDS |= {"supplier_id": "asked_supplier_id", "variant_id": "asked_variant_id"}


def _unknown(body: Body, items: list[dict[str, Any]], path: str) -> list[str]:
    return [f"{path.format(index)}.{key}" for index, item in enumerate(items) for key in body.unknown(item)]


def _top_level(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the address parts at the top level of a body."""
    return _filled({part: data[part] for part in ADDRESS_PARTS if part in data})


def _filled(address: Mapping[str, Any]) -> dict[str, Any]:
    return {part: value for part, value in address.items() if value not in (None, "")}


def _codes(errors: Any) -> list[str]:
    """Return the codes of the faults, without the faults of nested objects."""
    return [fault.code for faults in errors.values() if isinstance(faults, list) for fault in faults]


def _address(name: str, value: Any) -> Any:
    """Return an address, which may come as an object or as a string with JSON; None if it is empty."""
    value = value.strip() if isinstance(value, str) else value
    if isinstance(value, str) and value:
        try:
            value = loads(value)
        except InvalidJson:
            value = "no address"
        if not isinstance(value, dict):
            message = "Must be an object with the address parts, or a string that holds such a JSON object."
            raise ValidationError({name: [ErrorDetail(message, code="invalid")]})
    if value is not None and not isinstance(value, dict | str):
        raise ValidationError(
            {name: [ErrorDetail("Must be an object with the address parts.", code="invalid")]}
        )
    return value or None


def _whole(address: Mapping[str, str]) -> dict[str, str]:
    return {part: address.get(part, "") for part in ADDRESS_PARTS}


def _missing(shipping: Mapping[str, Any]) -> dict[str, Any]:
    """Return a fault for each missing part without which no order can be shipped."""
    names = [part for part in ("country", "address1") if not shipping.get(part)]
    return {name: [ErrorDetail("An order cannot be shipped without it.", code="required")] for name in names}


def digest(content: Mapping[str, Any]) -> str:
    """Return the hash of a normalised body. Key order and the spelling of numbers do not change it."""
    return hashlib.sha256(encode(_sorted(content))).hexdigest()


def _sorted(value: Any) -> Any:
    """Return a value with sorted keys and without empty values, which mean the same as absent ones."""
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value) if value[key] not in (None, "", [])}
    if isinstance(value, list):
        return [_sorted(each) for each in value]
    return value


class CancelLineBody(Body):
    """The quantity of one line to cancel; without a quantity, the whole rest of the line."""

    narrowed_by = "quantity"

    id = fields.Id(required=False, allow_null=True)
    sku = fields.Optional(max_length=100)
    variant_id = fields.Id(required=False, allow_null=True)
    quantity = fields.Integer(min_value=1, required=False, allow_null=True)

    def validate(self, data: dict[str, Any]) -> dict[str, Any]:
        if not any(data.get(name) for name in ("id", "sku", "variant_id")):
            raise ValidationError(
                {"id": [ErrorDetail("Needs an id, a sku or a variant_id.", code="required")]}
            )
        return data


class CancelBody(Body):
    """A cancel request; without lines, it is for the whole order."""

    narrowed_by = "lines"

    reason = fields.Optional(max_length=500)
    cancel_id = fields.Text(
        max_length=100,
        required=False,
        allow_null=True,
        help_text="Your own name for this request. A repeated request with the same name changes nothing.",
    )
    lines = CancelLineBody(many=True, required=False, allow_null=True, allow_empty=False)
