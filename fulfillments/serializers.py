"""The request bodies and answers of suppliers' fulfillments."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any, ClassVar, Literal, TypedDict

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from api import fields
from api.bodies import Body
from api.envelope import ResultJson
from api.errors import IdMismatch, Invalid
from fulfillments.states import CANCELED, State
from inventory.expecting import ExpectedAt


class AddressJson(TypedDict):
    first_name: str
    last_name: str
    address1: str
    address2: str
    country: str
    state: str
    city: str
    zip_code: str
    phone_number: str
    email: str
    company_name: str


class NoteJson(TypedDict):
    name: str
    value: str


class FulfillmentLineJson(TypedDict):
    """One line, with the values agreed when it was routed. `quantity_open` is the number of units that are
    not shipped, rejected or canceled; `short` is the number of open units without reserved stock.
    `quantity_cancel_requested` is the number of units that wait for the answer to a cancellation request.
    """

    id: int
    variant_id: int
    sku: str
    upc: str
    title: str
    quantity: int
    quantity_open: int
    quantity_reserved: int
    quantity_shipped: int
    quantity_rejected: int
    quantity_canceled: int
    quantity_cancel_requested: int
    quantity_returned: int
    short: int
    wholesale_price: Decimal | None


class ItemJson(TypedDict):
    line_id: int
    sku: str
    quantity: int


class ParcelJson(TypedDict):
    """A parcel with its units."""

    tracking_number: str
    carrier: str
    tracking_url: str | None
    shipped_at: str
    items: list[ItemJson]


class ShipmentJson(ParcelJson):
    """A shipped parcel. The path of a correction has its `id`."""

    id: int


class RejectionJson(TypedDict):
    reject_id: str | None
    reason: str
    rejected_at: str
    items: list[ItemJson]


class ReturnItemJson(ItemJson):
    """Returned units. `restocked` is the number of units that went back into stock."""

    restocked: int


class ReturnJson(TypedDict):
    return_id: str | None
    reason: str
    returned_at: str
    items: list[ReturnItemJson]


class KeptShipmentJson(ParcelJson):
    """A parcel that left before the order was held. It becomes a shipment when the order is released."""

    reported_at: str


RetailerState = Literal["pending", "ordered", "canceling", "canceled"]


class ComputedJson(TypedDict):
    """The fields of `FulfillmentJson` that are not columns of its row."""

    retailer_state: RetailerState
    fulfillment_state: State
    notes: list[NoteJson]
    lines: list[FulfillmentLineJson]
    shipments: list[ShipmentJson]
    kept_shipments: list[KeptShipmentJson]
    rejections: list[RejectionJson]
    returns: list[ReturnJson]
    captured_at: str | None
    due_at: str | None
    overdue: bool


class FulfillmentJson(TypedDict):
    """A supplier's fulfillment (interface 2.1, contract 3)."""

    id: int
    order_id: int
    retailer_id: int
    retailer_name: str
    retailer_erp_id: str
    retailer_state: RetailerState
    fulfillment_state: State
    notes: list[NoteJson]
    retailer_shipper_account: str
    retailer_order_id: str
    sales_order_number: str
    warehouse_id: int
    shipping_method_code: str
    shipping_address: AddressJson
    billing_address: AddressJson
    ship_until: str | None
    is_gift: bool
    gift_message: str
    tracking_number: str
    invoice_id: str
    currency: str
    lines: list[FulfillmentLineJson]
    shipments: list[ShipmentJson]
    kept_shipments: list[KeptShipmentJson]
    rejections: list[RejectionJson]
    returns: list[ReturnJson]
    created_at: str
    updated_at: str
    captured_at: str | None
    due_at: str | None
    overdue: bool


class ShippedJson(ResultJson):
    """The result of a call that ships or corrects parcels. A warning names a doubtful tracking number."""

    warnings: list[str]


class RejectedJson(TypedDict):
    """The result of one element of a rejections call."""

    id: int
    success: bool
    code: str
    message: str


class RejectionsJson(ResultJson):
    """The result envelope, with a result for each element."""

    results: list[RejectedJson]


# --- Bodies --------------------------------------------------------------------------------------


def refuse_two(body: dict[str, object], name: str, other: str) -> None:
    """Raise ValidationError if two names of one field have different values."""
    if body.get(name) and body.get(other) and body[name] != body[other]:
        message = f"Differs from {name}, which is another name of the same field."
        raise ValidationError({other: [ErrorDetail(message, code="invalid")]})


class TrackingBody(Body):
    """A tracking number, as `tracking_number` or `data`."""

    tracking_number = fields.Optional(max_length=100)
    # The metaclass removes fields from the class, so this field does not hide Serializer.data.
    data = fields.Optional(max_length=100, help_text="The same as tracking_number.")  # type: ignore[assignment]

    def validate(self, body: dict[str, object]) -> dict[str, object]:
        refuse_two(body, "tracking_number", "data")
        data = body.pop("data", "")
        body["tracking_number"] = body.get("tracking_number") or data
        return body


CANCELATION_ANSWERS = {
    "canceled": CANCELED,
    "cancelled": CANCELED,
    "cancelation not allowed": State.CANCELATION_NOT_ALLOWED,
    "cancellation not allowed": State.CANCELATION_NOT_ALLOWED,
    "cancelation_not_allowed": State.CANCELATION_NOT_ALLOWED,
    "cancellation_not_allowed": State.CANCELATION_NOT_ALLOWED,
}

EITHER = 'Must be "canceled" or "cancelation not allowed".'


def check_ids(body: object, **ids: int) -> None:
    """Raise IdMismatch if the body of a setStatus call has another of these ids than the path."""
    for name, pk in ids.items():
        given = str((body.get(name) if isinstance(body, dict) else None) or pk)
        if given != str(pk):
            raise IdMismatch.at(name, f"Is {given[:40]}, but the path has {pk}.", "id_mismatch")


def check_answer(body: object, in_path: State) -> None:
    """Raise Invalid if the body has another answer to a cancellation than the path, or an unknown one."""
    given = body.get("status") if isinstance(body, dict) else None
    answer = CANCELATION_ANSWERS.get(str(given).lower())
    if given in (None, "") or answer == in_path:
        return
    if answer is None:
        raise Invalid.at("status", f"{str(given)[:40]!r} is no answer. {EITHER}", "invalid_choice")
    raise Invalid.at("status", f"Is {given}, but the path has the other answer.")


# The API documents only two spellings: client generators would give the other spellings the same names.
@extend_schema_field(
    {
        "type": "string",
        "enum": ["canceled", "cancelation not allowed"],
        "description": "Other spellings are accepted too: `cancelled`, `cancelation_not_allowed`.",
    }
)
class AnswerField(serializers.ChoiceField):
    """The answer: approved or refused."""


class AnswerBody(Body):
    """The answer to a retailer's cancellation (interface 4.7)."""

    supplier_id = fields.Id(required=False, allow_null=True)
    fulfillment_id = fields.Id(required=False, allow_null=True)
    status = AnswerField(
        choices=list(CANCELATION_ANSWERS),
        error_messages=dict.fromkeys(("required", "null", "invalid_choice"), EITHER),
    )


class InvoiceBody(Body):
    invoice_id = fields.Text(max_length=100)


class SkuItemBody(Body):
    """Units of the variant with this sku, upc or ean."""

    sku = fields.Optional(max_length=100)
    upc = fields.Optional(max_length=14)
    ean = fields.Optional(max_length=14)
    quantity = fields.Integer(min_value=1)

    def validate(self, item: dict[str, object]) -> dict[str, object]:
        if not any(item.get(name) for name in ("sku", "upc", "ean")):
            raise ValidationError({"sku": [ErrorDetail("Needs a sku, a upc or an ean.", code="required")]})
        return item


class OutOfStockBody(Body):
    """A refusal as out of stock, with the day on which new stock is expected."""

    expected_at = ExpectedAt(required=False, allow_null=True)


def restock_day(body: Mapping[str, Any], reason: State) -> date | None:
    """Return the restock date of a refusal. Raises Invalid if the reason is not out of stock."""
    day: date | None = body.get("expected_at")
    if day is not None and reason != State.OUT_OF_STOCK:
        raise Invalid.at("expected_at", "Belongs to the reason out_of_stock only.", "unknown_field")
    return day


# Client generators give `reject_id` and `rejectId` the same name, so the API documents only `rejectId`.
@extend_schema_serializer(exclude_fields=["reject_id"])
class RejectionBody(Body):
    """Rejected units of some lines (contract 10)."""

    often_meant: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("reasonCode", "reason_code", "rejectReason", "reject_reason", "status"), "reason"
    )

    id = fields.Id()
    rejectId = fields.Text(max_length=100, required=False, allow_null=True)
    reject_id = fields.Text(max_length=100, required=False, allow_null=True)
    reason = fields.Choice(choices=["out_of_stock", "missing_sku", "wrong_address"], default="out_of_stock")
    items = SkuItemBody(many=True, allow_empty=False)
    # Use `Date` instead of `ExpectedAt`: a past day must fail only this element, not the whole request.
    expected_at = fields.Date(required=False, allow_null=True)

    def validate(self, body: dict[str, object]) -> dict[str, object]:
        refuse_two(body, "rejectId", "reject_id")
        body["reject_id"] = body.pop("rejectId", None) or body.get("reject_id")
        return body


class ReturnLineBody(SkuItemBody):
    """Returned units. With `restock`, they go back into stock."""

    restock = fields.Flag(default=False)


class ReturnBody(Body):
    """A return of shipped units (contract 10)."""

    often_meant: ClassVar[Mapping[str, str]] = {"restock": "return_lines[].restock"}

    reason = fields.Text(max_length=500)
    return_id = fields.Text(max_length=100, required=False, allow_null=True)
    return_lines = ReturnLineBody(many=True, allow_empty=False)
