"""The queries for suppliers' fulfillments: one query for each table, for a page of any size.

The functions read named tuples instead of model instances, because a page of 100 fulfillments then takes a
fifth of the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import accumulate, chain
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict, TypeVar

from django.db.models import Case, Count, F, QuerySet, Sum, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.utils import timezone

from api.renderers import iso
from fastdb.columns import Day, Json, Moment, Number, Through
from fastdb.compiled import CompiledQuery, any_of
from fastdb.rows import answering, answering_with, as_rows, fields_through, grouped
from fulfillments.deadlines import next_due_at
from fulfillments.models import Fulfillment, FulfillmentLine, KeptParcel, Rejection, Return, Shipment
from fulfillments.serializers import (
    AddressJson,
    ComputedJson,
    FulfillmentJson,
    FulfillmentLineJson,
    ItemJson,
    NoteJson,
    ParcelJson,
    RejectionJson,
    RetailerState,
    ReturnJson,
)
from fulfillments.states import CANCELED, CANCELING, WORKABLE, State
from fulfillments.tracking import tracking_url

T = TypeVar("T")
OfOrder = Annotated[T, Through("order")]
"""The type of a field that comes from the order's field of the same name, and that suppliers see."""


# The time of the last capture; empty after a correction of the address, until the next capture.
_captured_at = Case(
    When(capture__outdated=False, then=Coalesce("capture__captured_again_at", "capture__captured_at"))
)


class FulfillmentRow(NamedTuple):
    """A fulfillment with fields of its order and its partnership."""

    id: int
    state: State
    warehouse_id: int
    tracking_number: str
    invoice_id: str
    currency: str
    due_at: datetime | None
    capture_due_at: datetime | None
    created_at: Moment
    updated_at: Moment
    first_captured_at: Annotated[datetime | None, F("capture__captured_at")]
    captured_at: Annotated[datetime | None, _captured_at]
    retailer_erp_id: Annotated[str, F("partnership__retailer_erp_id")]
    retailer_shipper_account: Annotated[str, F("partnership__retailer_shipper_account")]
    order_id: int
    retailer_id: Annotated[int, F("order__retailer_id")]
    retailer_name: Annotated[str, F("order__retailer__name")]
    held: Annotated[bool, F("order__held")]
    notes: OfOrder[Json[list[NoteJson]]]
    retailer_order_id: OfOrder[str]
    sales_order_number: OfOrder[str]
    shipping_method_code: OfOrder[str]
    shipping_address: OfOrder[Json[AddressJson]]
    billing_address: OfOrder[Json[AddressJson]]
    ship_until: OfOrder[Day | None]
    is_gift: OfOrder[bool]
    gift_message: OfOrder[str]


SHARED_WITH_SUPPLIERS = fields_through(FulfillmentRow, "order")
"""The fields of an order that its suppliers see: in answers, files and on operators' pages."""

_open = F("quantity") - F("shipped") - F("rejected") - F("canceled")


class FulfillmentLineRow(NamedTuple):
    """A line with the fields of the answer, and with the order line's notes."""

    fulfillment_id: int
    order_line_id: int
    id: int
    variant_id: int
    sku: str
    upc: str
    title: str
    quantity: int
    quantity_open: Annotated[int, _open]
    quantity_reserved: Annotated[int, F("reserved")]
    quantity_shipped: Annotated[int, F("shipped")]
    quantity_rejected: Annotated[int, F("rejected")]
    quantity_canceled: Annotated[int, F("canceled")]
    quantity_cancel_requested: Annotated[int, F("cancel_requested")]
    quantity_returned: Annotated[int, F("returned")]
    short: Annotated[int, _open - F("reserved")]
    wholesale_price: Number | None
    notes: Annotated[Json[list[NoteJson]], F("order_line__notes")]


class StoredItem(TypedDict):
    """An item of a parcel, a rejection or a return, in its stored form."""

    line: int
    quantity: int
    restocked: NotRequired[int]


class ShipmentRow(NamedTuple):
    fulfillment_id: int
    id: int
    tracking_number: str
    carrier: str
    shipped_at: Moment
    items: Json[list[StoredItem]]


class KeptRow(NamedTuple):
    fulfillment_id: int
    tracking_number: str
    carrier: str
    shipped_at: Moment
    reported_at: Moment
    items: Json[list[StoredItem]]


class RejectionRow(NamedTuple):
    fulfillment_id: int
    reject_id: str | None
    reason: str
    rejected_at: Moment
    items: Json[list[StoredItem]]


class ReturnRow(NamedTuple):
    fulfillment_id: int
    return_id: str | None
    reason: str
    returned_at: Moment
    items: Json[list[StoredItem]]


_row_json = answering_with(FulfillmentRow, ComputedJson, FulfillmentJson)
_line_json = answering(FulfillmentLineRow, FulfillmentLineJson)


def rows(fulfillments: QuerySet[Fulfillment]) -> QuerySet[Fulfillment, FulfillmentRow]:
    """Return fulfillments with their order and partnership, as rows."""
    return as_rows(fulfillments, FulfillmentRow)


def count_fitting(ids: Sequence[int], most_lines: int) -> int:
    """Return how many of the first fulfillments together have at most `most_lines` lines.

    The first fulfillment always counts.
    """
    counted = FulfillmentLine.objects.filter(fulfillment_id__in=ids).values_list("fulfillment_id")
    lines: dict[int, int] = dict(counted.order_by().annotate(Count("pk")))
    fitting = sum(count <= most_lines for count in accumulate(lines.get(pk, 0) for pk in ids))
    return max(fitting, 1)


def open_amounts(
    fulfillments: QuerySet[Any] | Sequence[int], units: Combinable = _open
) -> list[tuple[Decimal, str]]:
    """Return the agreed prices of the open units of these fulfillments, by currency, the largest first.

    `units` selects a part of the open units.
    """
    lines = FulfillmentLine.objects.filter(fulfillment__in=fulfillments).order_by()
    sums = lines.values("fulfillment__currency").annotate(amount=Sum(units * F("wholesale_price")))
    return [*sums.filter(amount__gt=0).order_by("-amount").values_list("amount", "fulfillment__currency")]


def fulfillments_json(page: Sequence[FulfillmentRow]) -> list[FulfillmentJson]:
    """Return fulfillments with lines, parcels, rejections and returns, as answers. Makes 4 or 5 queries."""
    ids = [row.id for row in page]
    # Kept parcels wait for the release of a hold, or for the answer to a cancellation. If the answer cancels
    # all units of the parcels, the parcels stay.
    waiting = [row.id for row in page if row.held or row.state in (CANCELING, CANCELED)]
    kept = grouped(_kept(ids=waiting) if waiting else [], lambda parcel: parcel.fulfillment_id)
    lines = grouped(_lines(ids=ids), lambda line: line.fulfillment_id)
    shipments = grouped(shipments_of(ids=ids), lambda shipment: shipment.fulfillment_id)
    rejections = grouped(_rejections(ids=ids), lambda rejection: rejection.fulfillment_id)
    returns = grouped(returns_of(ids=ids), lambda returned: returned.fulfillment_id)
    return [
        _fulfillment_json(
            row, lines[row.id], shipments[row.id], kept[row.id], rejections[row.id], returns[row.id]
        )
        for row in page
    ]


@CompiledQuery
def _lines() -> QuerySet[FulfillmentLine, FulfillmentLineRow]:
    return as_rows(
        FulfillmentLine.objects.filter(any_of("fulfillment_id", "ids")).order_by("id"), FulfillmentLineRow
    )


@CompiledQuery
def shipments_of() -> QuerySet[Shipment, ShipmentRow]:
    """Return the parcels of fulfillments with these `ids`."""
    return as_rows(Shipment.objects.filter(any_of("fulfillment_id", "ids")).order_by("id"), ShipmentRow)


@CompiledQuery
def _kept() -> QuerySet[KeptParcel, KeptRow]:
    return as_rows(KeptParcel.objects.filter(any_of("fulfillment_id", "ids")).order_by("id"), KeptRow)


@CompiledQuery
def _rejections() -> QuerySet[Rejection, RejectionRow]:
    return as_rows(Rejection.objects.filter(any_of("fulfillment_id", "ids")).order_by("id"), RejectionRow)


@CompiledQuery
def returns_of() -> QuerySet[Return, ReturnRow]:
    """Return the returns of fulfillments with these `ids`."""
    return as_rows(Return.objects.filter(any_of("fulfillment_id", "ids")).order_by("id"), ReturnRow)


def retailer_state(state: State, *, held: bool) -> RetailerState:
    """Return a fulfillment's state in the retailer's words (contract 3)."""
    if state in (CANCELING, CANCELED):
        return "canceling" if state == CANCELING else "canceled"
    return "pending" if held and state in WORKABLE else "ordered"


def _fulfillment_json(
    row: FulfillmentRow,
    lines: list[FulfillmentLineRow],
    shipments: list[ShipmentRow],
    kept: list[KeptRow],
    rejections: list[RejectionRow],
    returns: list[ReturnRow],
) -> FulfillmentJson:
    skus = {line.id: line.sku for line in lines}
    # Show the notes of an order line once, even if several lines of the fulfillment are for this order line.
    notes = {line.order_line_id: line.notes for line in lines}
    due_at = next_due_at(
        row.state, row.due_at, row.capture_due_at, captured=row.first_captured_at is not None
    )
    retailer_side = retailer_state(row.state, held=row.held)
    return _row_json(
        row,
        {
            "retailer_state": retailer_side,
            "fulfillment_state": row.state,
            "notes": [*row.notes, *chain.from_iterable(notes.values())],
            "lines": [_line_json(line) for line in lines],
            "shipments": [{"id": parcel.id, **_parcel_json(parcel, skus)} for parcel in shipments],
            "kept_shipments": [
                {**_parcel_json(parcel, skus), "reported_at": parcel.reported_at} for parcel in kept
            ],
            "rejections": [_rejection_json(rejection, skus) for rejection in rejections],
            "returns": [_return_json(returned, skus) for returned in returns],
            "captured_at": iso(row.captured_at),
            "due_at": iso(due_at),
            "overdue": due_at is not None and due_at <= timezone.now() and retailer_side != "pending",
        },
    )


def _items_json(items: Iterable[StoredItem], skus: dict[int, str]) -> list[ItemJson]:
    return [
        {"line_id": item["line"], "sku": skus.get(item["line"], ""), "quantity": item["quantity"]}
        for item in items
    ]


def _parcel_json(shipment: ShipmentRow | KeptRow, skus: dict[int, str]) -> ParcelJson:
    return {
        "tracking_number": shipment.tracking_number,
        "carrier": shipment.carrier,
        "tracking_url": tracking_url(shipment.tracking_number, shipment.carrier),
        "shipped_at": shipment.shipped_at,
        "items": _items_json(shipment.items, skus),
    }


def _rejection_json(rejection: RejectionRow, skus: dict[int, str]) -> RejectionJson:
    return {
        "reject_id": rejection.reject_id,
        "reason": rejection.reason,
        "rejected_at": rejection.rejected_at,
        "items": _items_json(rejection.items, skus),
    }


def _return_json(returned: ReturnRow, skus: dict[int, str]) -> ReturnJson:
    return {
        "return_id": returned.return_id,
        "reason": returned.reason,
        "returned_at": returned.returned_at,
        "items": [
            {**item, "restocked": stored.get("restocked", 0)}
            for item, stored in zip(_items_json(returned.items, skus), returned.items, strict=True)
        ],
    }
