"""What suppliers send about their fulfillments, and what they are answered."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, TypedDict

from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from api import fields
from api.bodies import Body
from api.renderers import iso, number
from fulfillments.models import Fulfillment, FulfillmentLine
from fulfillments.records import Rejection, Return, Shipment
from fulfillments.states import CANCELED, CANCELING, State


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
    """One line; what is neither shipped, rejected nor canceled is still to be done."""

    id: int
    variant_id: int
    sku: str
    upc: str
    title: str
    quantity: int
    quantity_shipped: int
    quantity_rejected: int
    quantity_canceled: int
    quantity_returned: int
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


class ReturnJson(TypedDict):
    return_id: str | None
    reason: str
    returned_at: str
    items: list[ItemJson]


class FulfillmentJson(TypedDict):
    """A supplier's fulfillment (interface 2.1, contract 3)."""

    id: int
    order_id: int
    retailer_id: int
    retailer_name: str
    retailer_erp_id: str
    retailer_state: str
    fulfillment_state: str
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


def retailer_state(fulfillment: Fulfillment) -> str:
    """What the retailer's side of it is (contract 3)."""
    if fulfillment.state in (CANCELING, CANCELED):
        return str(fulfillment.state)
    return "pending" if fulfillment.order.held else "ordered"


def fulfillment_json(fulfillment: Fulfillment) -> FulfillmentJson:
    """A fulfillment read by `queries.with_details`, as its supplier sees it."""
    order, partnership = fulfillment.order, fulfillment.partnership
    lines = list(fulfillment.lines.all())
    skus = {line.pk: line.variant.sku for line in lines}
    capture = getattr(fulfillment, "capture", None)
    due_at = fulfillment.next_due_at(captured=capture is not None)
    return {
        "id": fulfillment.pk,
        "order_id": order.pk,
        "retailer_id": order.retailer_id,
        "retailer_name": partnership.retailer.name,
        "retailer_erp_id": partnership.retailer_erp_id,
        "retailer_state": retailer_state(fulfillment),
        "fulfillment_state": fulfillment.state,
        "notes": [*order.notes, *(note for line in lines for note in line.order_line.notes)],
        "retailer_shipper_account": partnership.retailer_shipper_account,
        "retailer_order_id": order.retailer_order_id,
        "sales_order_number": order.sales_order_number,
        "warehouse_id": fulfillment.warehouse_id,
        "shipping_method_code": order.shipping_method_code,
        "shipping_address": order.shipping_address,
        "billing_address": order.billing_address,
        "ship_until": order.ship_until.isoformat() if order.ship_until else None,
        "is_gift": order.is_gift,
        "gift_message": order.gift_message,
        "tracking_number": fulfillment.tracking_number,
        "invoice_id": fulfillment.invoice_id,
        "lines": [_line_json(line) for line in lines],
        "shipments": [_shipment_json(each, skus) for each in fulfillment.shipments.all()],
        "rejections": [_rejection_json(each, skus) for each in fulfillment.rejections.all()],
        "returns": [_return_json(each, skus) for each in fulfillment.returns.all()],
        "created_at": iso(fulfillment.created_at),
        "updated_at": iso(fulfillment.updated_at),
        "captured_at": iso(capture.captured_at) if capture else None,
        "due_at": iso(due_at),
        "overdue": due_at is not None and due_at <= timezone.now(),
    }


def _line_json(line: FulfillmentLine) -> FulfillmentLineJson:
    return {
        "id": line.pk,
        "variant_id": line.variant_id,
        "sku": line.variant.sku,
        "upc": line.variant.upc,
        "title": line.variant.title,
        "quantity": line.quantity,
        "quantity_shipped": line.shipped,
        "quantity_rejected": line.rejected,
        "quantity_canceled": line.canceled,
        "quantity_returned": line.returned,
        "wholesale_price": number(line.variant.wholesale_price),
    }


def _items_json(items: Iterable[dict[str, int]], skus: dict[int, str]) -> list[ItemJson]:
    return [
        {"line_id": item["line"], "sku": skus.get(item["line"], ""), "quantity": item["quantity"]}
        for item in items
    ]


def _shipment_json(shipment: Shipment, skus: dict[int, str]) -> ShipmentJson:
    return {
        "tracking_number": shipment.tracking_number,
        "carrier": shipment.carrier,
        "shipped_at": iso(shipment.shipped_at),
        "items": _items_json(shipment.items, skus),
    }


def _rejection_json(rejection: Rejection, skus: dict[int, str]) -> RejectionJson:
    return {
        "reject_id": rejection.reject_id,
        "reason": rejection.reason,
        "rejected_at": iso(rejection.rejected_at),
        "items": _items_json(rejection.items, skus),
    }


def _return_json(returned: Return, skus: dict[int, str]) -> ReturnJson:
    return {
        "return_id": returned.return_id,
        "reason": returned.reason,
        "returned_at": iso(returned.returned_at),
        "items": _items_json(returned.items, skus),
    }


# --- Bodies --------------------------------------------------------------------------------------


class TrackingBody(Body):
    """`tracking_number`, which some clients call `data`."""

    tracking_number = fields.Optional(max_length=100)
    # The metaclass takes fields off the class, so that this one does not hide Serializer.data.
    data = fields.Optional(max_length=100, help_text="The same as tracking_number.")  # type: ignore[assignment]

    def validate(self, body: dict[str, Any]) -> dict[str, Any]:
        number, data = body.get("tracking_number", ""), body.pop("data", "")
        if number and data and number != data:
            message = "Differs from tracking_number, which it is another name of."
            raise ValidationError({"data": [ErrorDetail(message, code="invalid")]})
        body["tracking_number"] = number or data
        return body


class PieceBody(Body):
    """So many pieces of one of the fulfillment's lines."""

    id = fields.Id()
    quantity = fields.Integer(min_value=1)


class ShipBody(TrackingBody):
    """One parcel; without lines, all that is left."""

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


class AnswerBody(Body):
    """The answer to a retailer's cancellation (interface 4.7)."""

    supplier_id = fields.Id(required=False, allow_null=True)
    fulfillment_id = fields.Id(required=False, allow_null=True)
    status = serializers.ChoiceField(
        choices=list(CANCELATION_ANSWERS),
        error_messages={"invalid_choice": 'Must be "canceled" or "cancelation not allowed".'},
    )


class InvoiceBody(Body):
    invoice_id = fields.Text(max_length=100)


class SkuItemBody(Body):
    """So many pieces of what a sku, a upc or an ean names."""

    sku = fields.Optional(max_length=100)
    upc = fields.Optional(max_length=14)
    ean = fields.Optional(max_length=14)
    quantity = fields.Integer(min_value=1)

    def validate(self, item: dict[str, Any]) -> dict[str, Any]:
        if not any(item.get(name) for name in ("sku", "upc", "ean")):
            raise ValidationError({"sku": [ErrorDetail("Needs a sku, a upc or an ean.", code="required")]})
        return item


class ParcelBody(Body):
    trackingNumber = fields.Text(max_length=100, required=False)  # noqa: N815 - the dialect's spelling
    tracking_number = fields.Text(max_length=100, required=False)
    carrier = fields.Optional(max_length=100)
    items = SkuItemBody(many=True, allow_empty=False)

    def validate(self, parcel: dict[str, Any]) -> dict[str, Any]:
        number = parcel.pop("trackingNumber", None) or parcel.get("tracking_number")
        if not number:
            message = "A parcel needs its tracking number."
            raise ValidationError({"trackingNumber": [ErrorDetail(message, code="required")]})
        parcel["tracking_number"] = number
        return parcel


class ShipmentsBody(Body):
    """Several parcels of one fulfillment at once (contract 10)."""

    id = fields.Id()
    shipments = ParcelBody(many=True, allow_empty=False, max_length=500)  # type: ignore[call-arg]


class RejectionBody(Body):
    """Lines refused in part (contract 10)."""

    id = fields.Id()
    rejectId = fields.Text(max_length=100, required=False, allow_null=True)  # noqa: N815
    reject_id = fields.Text(max_length=100, required=False, allow_null=True)
    reason = serializers.ChoiceField(
        choices=["out_of_stock", "missing_sku", "wrong_address"], default="out_of_stock"
    )
    items = SkuItemBody(many=True, allow_empty=False)

    def validate(self, body: dict[str, Any]) -> dict[str, Any]:
        body["reject_id"] = body.pop("rejectId", None) or body.get("reject_id")
        return body


class ReturnBody(Body):
    """Goods that came back (contract 10)."""

    reason = fields.Text(max_length=500)
    return_id = fields.Text(max_length=100, required=False, allow_null=True)
    return_lines = SkuItemBody(many=True, allow_empty=False)
