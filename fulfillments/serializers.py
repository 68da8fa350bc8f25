"""The request bodies and answers of suppliers' fulfillments."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar, Literal, TypedDict

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from api import fields
from api.bodies import Body
from fulfillments.states import CANCELED, State


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
    """One line, with the values agreed when it was routed. Units that are neither shipped, rejected nor
    canceled are open; `short` of them have no stock reserved. `quantity_cancel_requested` units wait for the
    answer to a cancellation request.
    """

    id: int
    variant_id: int
    sku: str
    upc: str
    title: str
    quantity: int
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


class ShipmentJson(TypedDict):
    tracking_number: str
    carrier: str
    shipped_at: str
    items: list[ItemJson]


class RejectionJson(TypedDict):
    reject_id: str | None
    reason: str
    rejected_at: str
    items: list[ItemJson]


class ReturnItemJson(ItemJson):
    """Returned units; `restocked` of them went back into stock."""

    restocked: int


class ReturnJson(TypedDict):
    return_id: str | None
    reason: str
    returned_at: str
    items: list[ReturnItemJson]


RetailerState = Literal["pending", "ordered", "canceling", "canceled"]


class ComputedJson(TypedDict):
    """The fields of `FulfillmentJson` that are not columns of its row."""

    retailer_state: RetailerState
    fulfillment_state: State
    notes: list[NoteJson]
    lines: list[FulfillmentLineJson]
    shipments: list[ShipmentJson]
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
    lines: list[FulfillmentLineJson]
    shipments: list[ShipmentJson]
    rejections: list[RejectionJson]
    returns: list[ReturnJson]
    created_at: str
    updated_at: str
    captured_at: str | None
    due_at: str | None
    overdue: bool


# --- Bodies --------------------------------------------------------------------------------------


def _refuse_two(body: dict[str, Any], name: str, other: str) -> None:
    """Raise ValidationError if two names of one field have different values."""
    if body.get(name) and body.get(other) and body[name] != body[other]:
        message = f"Differs from {name}, which is another name of the same field."
        raise ValidationError({other: [ErrorDetail(message, code="invalid")]})


class TrackingBody(Body):
    """A tracking number, as `tracking_number` or `data`."""

    tracking_number = fields.Optional(max_length=100)
    # The metaclass removes fields from the class, so this field does not hide Serializer.data.
    data = fields.Optional(max_length=100, help_text="The same as tracking_number.")  # type: ignore[assignment]

    def validate(self, body: dict[str, Any]) -> dict[str, Any]:
        _refuse_two(body, "tracking_number", "data")
        data = body.pop("data", "")
        body["tracking_number"] = body.get("tracking_number") or data
        return body


class PieceBody(Body):
    """Units of one line of the fulfillment."""

    id = fields.Id()
    quantity = fields.Integer(min_value=1)


class ShipBody(TrackingBody):
    """One parcel; without lines, it holds all open units."""

    narrowed_by = "lines"

    carrier = fields.Optional(max_length=100)
    lines = PieceBody(many=True, required=False, allow_null=True, allow_empty=False)

    def validate(self, body: dict[str, Any]) -> dict[str, Any]:
        body = super().validate(body)
        if not body["tracking_number"]:
            message = "A parcel needs its tracking number."
            raise ValidationError({"tracking_number": [ErrorDetail(message, code="required")]})
        return body


CANCELATION_ANSWERS = {
    "canceled": CANCELED,
    "cancelled": CANCELED,
    "cancelation not allowed": State.CANCELATION_NOT_ALLOWED,
    "cancellation not allowed": State.CANCELATION_NOT_ALLOWED,
    "cancelation_not_allowed": State.CANCELATION_NOT_ALLOWED,
    "cancellation_not_allowed": State.CANCELATION_NOT_ALLOWED,
}


# The other spellings differ in a letter or a blank, so generators would give two values the same name.
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
        error_messages={"invalid_choice": 'Must be "canceled" or "cancelation not allowed".'},
    )


class InvoiceBody(Body):
    invoice_id = fields.Text(max_length=100)


class SkuItemBody(Body):
    """Units of the variant with this sku, upc or ean."""

    sku = fields.Optional(max_length=100)
    upc = fields.Optional(max_length=14)
    ean = fields.Optional(max_length=14)
    quantity = fields.Integer(min_value=1)

    def validate(self, item: dict[str, Any]) -> dict[str, Any]:
        if not any(item.get(name) for name in ("sku", "upc", "ean")):
            raise ValidationError({"sku": [ErrorDetail("Needs a sku, a upc or an ean.", code="required")]})
        return item


# Generators give `tracking_number` and `trackingNumber` the same name, so only one is documented
# (docs/adr/0049).
@extend_schema_serializer(exclude_fields=["tracking_number"])
class ParcelBody(Body):
    trackingNumber = fields.Text(max_length=100, required=False)
    tracking_number = fields.Text(max_length=100, required=False)
    carrier = fields.Optional(max_length=100)
    items = SkuItemBody(many=True, allow_empty=False)

    def validate(self, parcel: dict[str, Any]) -> dict[str, Any]:
        _refuse_two(parcel, "trackingNumber", "tracking_number")
        number = parcel.pop("trackingNumber", None) or parcel.get("tracking_number")
        if not number:
            message = "A parcel needs its tracking number."
            raise ValidationError({"trackingNumber": [ErrorDetail(message, code="required")]})
        parcel["tracking_number"] = number
        return parcel


class ShipmentsBody(Body):
    """Several parcels of one fulfillment (contract 10)."""

    often_meant: ClassVar[Mapping[str, str]] = {"carrier": "shipments[].carrier"}

    id = fields.Id()
    shipments = ParcelBody(many=True, allow_empty=False, max_length=500)  # type: ignore[call-arg]

    def validate(self, body: dict[str, Any]) -> dict[str, Any]:
        """Merge elements with the same tracking number into one parcel."""
        parcels: dict[str, dict[str, Any]] = {}
        for parcel in body["shipments"]:
            known = parcels.setdefault(parcel["tracking_number"], {**parcel, "items": []})
            if parcel.get("carrier", "") != known.get("carrier", ""):
                message = f"The parcel {parcel['tracking_number']} has another carrier in an earlier element."
                raise ValidationError({"shipments": [ErrorDetail(message, code="invalid")]})
            known["items"].extend(parcel["items"])
        body["shipments"] = list(parcels.values())
        return body


@extend_schema_serializer(exclude_fields=["reject_id"])  # as with a parcel's tracking number
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

    def validate(self, body: dict[str, Any]) -> dict[str, Any]:
        _refuse_two(body, "rejectId", "reject_id")
        body["reject_id"] = body.pop("rejectId", None) or body.get("reject_id")
        return body


class ReturnLineBody(SkuItemBody):
    """Returned units; with `restock` they go back into stock."""

    restock = fields.Flag(default=False)


class ReturnBody(Body):
    """A return of shipped units (contract 10)."""

    often_meant: ClassVar[Mapping[str, str]] = {"restock": "return_lines[].restock"}

    reason = fields.Text(max_length=500)
    return_id = fields.Text(max_length=100, required=False, allow_null=True)
    return_lines = ReturnLineBody(many=True, allow_empty=False)
