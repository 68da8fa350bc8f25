"""Fulfillments as suppliers read them: plain rows, one query for each kind of thing, however many there are.

Rows instead of model instances: a page of 100 fulfillments costs a fifth of the time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from api.prepared import Prepared, any_of
from api.renderers import iso
from api.stored import number_of, parsed, text_of
from fulfillments.deadlines import next_due_at
from fulfillments.models import Fulfillment, FulfillmentLine
from fulfillments.records import Capture, Rejection, Return, Shipment
from fulfillments.serializers import (
    FulfillmentJson,
    FulfillmentLineJson,
    ItemJson,
    RejectionJson,
    RetailerState,
    ReturnJson,
    ShipmentJson,
)
from fulfillments.states import CANCELED, CANCELING, WORKABLE, State

Row = Any
"""A named tuple of a `values_list`; its columns stand beside each query."""
Grouped = dict[int, list[Row]]


def rows(fulfillments: QuerySet[Fulfillment]) -> QuerySet[Fulfillment, Row]:
    """Fulfillments with their order and partnership, as rows."""
    told = fulfillments.annotate(
        order_notes=text_of("order__notes"),
        shipping=text_of("order__shipping_address"),
        billing=text_of("order__billing_address"),
    )
    return told.values_list(
        "id",
        "state",
        "warehouse_id",
        "tracking_number",
        "invoice_id",
        "due_at",
        "capture_due_at",
        "created_at",
        "updated_at",
        "capture__captured_at",
        "partnership__retailer_erp_id",
        "partnership__retailer_shipper_account",
        "order_id",
        "order__retailer_id",
        "order__retailer__name",
        "order__held",
        "order_notes",
        "order__retailer_order_id",
        "order__sales_order_number",
        "order__shipping_method_code",
        "shipping",
        "billing",
        "order__ship_until",
        "order__is_gift",
        "order__gift_message",
        named=True,
    )


def mark_captured(page: Sequence[Row]) -> dict[int, datetime]:
    """Keep when these were first handed out, and tell it. Locks nothing that a move needs."""
    captured = {row.id: row.capture__captured_at for row in page if row.capture__captured_at is not None}
    fresh = [row.id for row in page if row.id not in captured]
    if fresh:
        with connection.cursor() as cursor:
            cursor.execute(
                """
                INSERT INTO fulfillments_capture (fulfillment_id) SELECT unnest(%s::bigint[])
                ON CONFLICT DO NOTHING RETURNING fulfillment_id, captured_at
                """,
                [fresh],
            )
            captured |= dict(cursor.fetchall())
        # A capture at the same moment was first: its time counts, and only a new statement sees it.
        late = [pk for pk in fresh if pk not in captured]
        if late:
            captured |= dict(Capture.objects.filter(pk__in=late).values_list("pk", "captured_at"))
    return captured


def fulfillments_json(page: Sequence[Row], captured: dict[int, datetime]) -> list[FulfillmentJson]:
    """Rows with all that a supplier needs to ship them. Four queries."""
    ids = [row.id for row in page]
    found = (query(ids=ids) for query in (_lines, _shipments, _rejections, _returns))
    lines, shipments, rejections, returns = map(_grouped, found)
    return [
        _fulfillment_json(
            row,
            captured.get(row.id),
            lines.get(row.id, []),
            shipments.get(row.id, []),
            rejections.get(row.id, []),
            returns.get(row.id, []),
        )
        for row in page
    ]


def _grouped(found: Iterable[Row]) -> Grouped:
    groups: Grouped = defaultdict(list)
    for row in found:
        groups[row.fulfillment_id].append(row)
    return groups


@Prepared
def _lines() -> QuerySet[FulfillmentLine, Row]:
    lines = FulfillmentLine.objects.filter(any_of("fulfillment_id", "ids")).order_by("id")
    return lines.annotate(
        told_notes=text_of("order_line__notes"), wholesale_price=number_of("variant__wholesale_price")
    ).values_list(
        "fulfillment_id",
        "id",
        "variant_id",
        "variant__sku",
        "variant__upc",
        "variant__title",
        "wholesale_price",
        "told_notes",
        "quantity",
        "shipped",
        "rejected",
        "canceled",
        "returned",
        named=True,
    )


@Prepared
def _shipments() -> QuerySet[Shipment, Row]:
    shipments = Shipment.objects.filter(any_of("fulfillment_id", "ids")).order_by("id")
    return shipments.annotate(told_items=text_of("items")).values_list(
        "fulfillment_id", "tracking_number", "carrier", "shipped_at", "told_items", named=True
    )


@Prepared
def _rejections() -> QuerySet[Rejection, Row]:
    rejections = Rejection.objects.filter(any_of("fulfillment_id", "ids")).order_by("id")
    return rejections.annotate(told_items=text_of("items")).values_list(
        "fulfillment_id", "reject_id", "reason", "rejected_at", "told_items", named=True
    )


@Prepared
def _returns() -> QuerySet[Return, Row]:
    returns = Return.objects.filter(any_of("fulfillment_id", "ids")).order_by("id")
    return returns.annotate(told_items=text_of("items")).values_list(
        "fulfillment_id", "return_id", "reason", "returned_at", "told_items", named=True
    )


def retailer_state(state: State, *, held: bool) -> RetailerState:
    """What the retailer's side of a fulfillment is (contract 3)."""
    if state in (CANCELING, CANCELED):
        return "canceling" if state == CANCELING else "canceled"
    return "pending" if held and state in WORKABLE else "ordered"


def _fulfillment_json(
    row: Row,
    captured_at: datetime | None,
    lines: list[Row],
    shipments: list[Row],
    rejections: list[Row],
    returns: list[Row],
) -> FulfillmentJson:
    skus = {line.id: line.variant__sku for line in lines}
    due_at = next_due_at(row.state, row.due_at, row.capture_due_at, captured=captured_at is not None)
    told_state = retailer_state(row.state, held=row.order__held)
    return {
        "id": row.id,
        "order_id": row.order_id,
        "retailer_id": row.order__retailer_id,
        "retailer_name": row.order__retailer__name,
        "retailer_erp_id": row.partnership__retailer_erp_id,
        "retailer_state": told_state,
        "fulfillment_state": row.state,
        "notes": [*parsed(row.order_notes), *(note for line in lines for note in parsed(line.told_notes))],
        "retailer_shipper_account": row.partnership__retailer_shipper_account,
        "retailer_order_id": row.order__retailer_order_id,
        "sales_order_number": row.order__sales_order_number,
        "warehouse_id": row.warehouse_id,
        "shipping_method_code": row.order__shipping_method_code,
        "shipping_address": parsed(row.shipping),
        "billing_address": parsed(row.billing),
        "ship_until": row.order__ship_until.isoformat() if row.order__ship_until else None,
        "is_gift": row.order__is_gift,
        "gift_message": row.order__gift_message,
        "tracking_number": row.tracking_number,
        "invoice_id": row.invoice_id,
        "lines": [_line_json(line) for line in lines],
        "shipments": [_shipment_json(each, skus) for each in shipments],
        "rejections": [_rejection_json(each, skus) for each in rejections],
        "returns": [_return_json(each, skus) for each in returns],
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "captured_at": iso(captured_at),
        "due_at": iso(due_at),
        "overdue": due_at is not None and due_at <= timezone.now() and told_state != "pending",
    }


def _line_json(line: Row) -> FulfillmentLineJson:
    return {
        "id": line.id,
        "variant_id": line.variant_id,
        "sku": line.variant__sku,
        "upc": line.variant__upc,
        "title": line.variant__title,
        "quantity": line.quantity,
        "quantity_shipped": line.shipped,
        "quantity_rejected": line.rejected,
        "quantity_canceled": line.canceled,
        "quantity_returned": line.returned,
        "wholesale_price": line.wholesale_price,
    }


def _items_json(items: Iterable[dict[str, int]], skus: dict[int, str]) -> list[ItemJson]:
    return [
        {"line_id": item["line"], "sku": skus.get(item["line"], ""), "quantity": item["quantity"]}
        for item in items
    ]


def _shipment_json(shipment: Row, skus: dict[int, str]) -> ShipmentJson:
    return {
        "tracking_number": shipment.tracking_number,
        "carrier": shipment.carrier,
        "shipped_at": iso(shipment.shipped_at),
        "items": _items_json(parsed(shipment.told_items), skus),
    }


def _rejection_json(rejection: Row, skus: dict[int, str]) -> RejectionJson:
    return {
        "reject_id": rejection.reject_id,
        "reason": rejection.reason,
        "rejected_at": iso(rejection.rejected_at),
        "items": _items_json(parsed(rejection.told_items), skus),
    }


def _return_json(returned: Row, skus: dict[int, str]) -> ReturnJson:
    return {
        "return_id": returned.return_id,
        "reason": returned.reason,
        "returned_at": iso(returned.returned_at),
        "items": _items_json(parsed(returned.told_items), skus),
    }
