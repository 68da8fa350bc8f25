"""What the paths would be if nothing but the database and the answer cost anything: plain Django views that
run the unavoidable SQL by hand and render the same JSON. They check the key, and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.db import connection
from django.db.models import JSONField
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from api.renderers import encode, iso, number
from fulfillments.selectors import SHARED_WITH_SUPPLIERS
from fulfillments.states import CAPTURABLE, sql
from orders.models import Order

JSON_FIELDS = {field.name for field in Order._meta.concrete_fields if isinstance(field, JSONField)}
KEY = """
    SELECT k.digest, k.name, k.scopes, k.expires_at, k.revoked_at, k.rate_limit, k.last_used_at,
        s.id, s.name, s.safety_stock, r.id, r.name
    FROM accounts_apikey k LEFT JOIN accounts_supplier s ON s.id = k.supplier_id
    LEFT JOIN accounts_retailer r ON r.id = k.retailer_id WHERE k.prefix = %s
"""
FULFILLMENTS = f"""
    SELECT f.id, f.state, f.warehouse_id, f.tracking_number, f.invoice_id, f.due_at, f.created_at,
        f.updated_at, c.captured_at, p.retailer_erp_id, p.retailer_shipper_account, o.id, o.retailer_id,
        r.name, {", ".join(f"o.{name}" for name in SHARED_WITH_SUPPLIERS)}
    FROM fulfillments_fulfillment f JOIN orders_order o ON o.id = f.order_id
    JOIN accounts_retailer r ON r.id = o.retailer_id JOIN accounts_partnership p ON p.id = f.partnership_id
    LEFT JOIN fulfillments_capture c ON c.fulfillment_id = f.id
    WHERE f.supplier_id = %s AND f.state IN ({sql(*CAPTURABLE)}) AND NOT o.held
    ORDER BY f.id LIMIT 101
"""
PARTS = """
    SELECT l.fulfillment_id, l.id, l.variant_id, l.sku, l.upc, l.title, l.wholesale_price, l.quantity,
        l.shipped, l.rejected, l.canceled, l.returned, ol.notes, l.reserved
    FROM fulfillments_fulfillmentline l JOIN orders_orderline ol ON ol.id = l.order_line_id
    WHERE l.fulfillment_id = ANY(%s) ORDER BY l.id
"""
SHIPMENTS = """
    SELECT fulfillment_id, tracking_number, carrier, shipped_at, items FROM fulfillments_shipment
    WHERE fulfillment_id = ANY(%s) ORDER BY id
"""
REJECTIONS = """
    SELECT fulfillment_id, reject_id, reason, rejected_at, items FROM fulfillments_rejection
    WHERE fulfillment_id = ANY(%s) ORDER BY id
"""
RETURNS = """
    SELECT fulfillment_id, return_id, reason, returned_at, items FROM fulfillments_return
    WHERE fulfillment_id = ANY(%s) ORDER BY id
"""
ORDER = """
    SELECT id, type, retailer_order_id, processing_state, id_in_source, billing_address, shipping_address,
        shipping_method_code, shipping_paid, shipping_tax, sales_division_code, sales_order_number,
        gift_message, is_gift, ship_until, original_created_at, notes, created_at, updated_at
    FROM orders_order WHERE retailer_id = %s
"""
LINES = """
    SELECT order_id, id, sku, upc, asked_supplier_id, asked_variant_id, quantity, billed_amount,
        tax_billed_amount, notes, reserved, shipped, canceled, rejected, open, title,
        returned FROM orders_orderline
    WHERE order_id = ANY(%s) ORDER BY position
"""
SENT = """
    SELECT order_id, id, supplier_id, state FROM fulfillments_fulfillment WHERE order_id = ANY(%s) ORDER BY id
"""
HELD = """
    SELECT id, order_line_id, sku FROM fulfillments_fulfillmentline WHERE fulfillment_id = ANY(%s)
"""
Groups = dict[int, list[tuple[Any, ...]]]


def rows(statement: str, *params: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


def grouped(found: Iterable[tuple[Any, ...]]) -> Groups:
    groups: Groups = defaultdict(list)
    for first, *rest in found:
        groups[first].append(tuple(rest))
    return groups


def check_key(request: HttpRequest) -> None:
    secret = request.headers["Authorization"].removeprefix("Bearer ")
    found = rows(KEY, "_".join(secret.split("_")[:2]))
    assert found[0][0] == hashlib.sha256(secret.encode()).hexdigest()


def answer(data: Any, status: int = 200) -> HttpResponse:
    return HttpResponse(encode(data), status=status, content_type="application/json")


def capture(request: HttpRequest, supplier_id: int) -> HttpResponse:
    check_key(request)
    page = rows(FULFILLMENTS, supplier_id)[:100]
    ids = [row[0] for row in page]
    lines, shipments = grouped(rows(PARTS, ids)), grouped(rows(SHIPMENTS, ids))
    rejections, returns = grouped(rows(REJECTIONS, ids)), grouped(rows(RETURNS, ids))
    now = timezone.now()
    body = [
        {
            "id": row[0],
            "order_id": row[11],
            "retailer_id": row[12],
            "retailer_name": row[13],
            "retailer_erp_id": row[9],
            "retailer_state": "ordered",
            "fulfillment_state": row[1],
            **order,
            "notes": [
                *order["notes"],
                *(note for line in lines[row[0]] for note in json.loads(line[11])),
            ],
            "retailer_shipper_account": row[10],
            "warehouse_id": row[2],
            "tracking_number": row[3],
            "invoice_id": row[4],
            "lines": [part_json(line) for line in lines[row[0]]],
            "shipments": [[*each[:3], json.loads(each[3])] for each in shipments[row[0]]],
            "rejections": [[*each[:3], json.loads(each[3])] for each in rejections[row[0]]],
            "returns": [[*each[:3], json.loads(each[3])] for each in returns[row[0]]],
            "created_at": iso(row[6]),
            "updated_at": iso(row[7]),
            "captured_at": iso(row[8]),
            "due_at": iso(row[5]),
            "overdue": row[5] is not None and row[5] <= now,
        }
        for row in page
        for order in [shared_json(row[14:])]
    ]
    return answer(body)


def shared_json(values: tuple[Any, ...]) -> dict[str, Any]:
    """Return the fields of an order that its suppliers see."""
    return {
        name: json.loads(value) if name in JSON_FIELDS else value
        for name, value in zip(SHARED_WITH_SUPPLIERS, values, strict=True)
    }


def part_json(line: tuple[Any, ...]) -> dict[str, Any]:
    return {
        "id": line[0],
        "variant_id": line[1],
        "sku": line[2],
        "upc": line[3],
        "title": line[4],
        "quantity": line[6],
        "quantity_reserved": line[12],
        "quantity_shipped": line[7],
        "quantity_rejected": line[8],
        "quantity_canceled": line[9],
        "quantity_returned": line[10],
        "short": line[6] - line[7] - line[8] - line[9] - line[12],
        "wholesale_price": number(line[5]),
    }


def orders(request: HttpRequest, retailer_id: int) -> HttpResponse:
    """A page of changes; it and the links to its neighbours are asked for as the real path is."""
    check_key(request)
    since = json.loads(request.GET["filter"])["updated_at"]["gt"]
    statement = f"{ORDER} AND updated_at > %s ORDER BY updated_at LIMIT 101"
    page = rows(statement, retailer_id, since)[:100]
    return answer({"next": None, "previous": None, "results": orders_json(page)})


def order(request: HttpRequest, retailer_id: int, order_id: int) -> HttpResponse:
    check_key(request)
    return answer(orders_json(rows(f"{ORDER} AND id = %s", retailer_id, order_id))[0])


def orders_json(page: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    ids = [row[0] for row in page]
    lines, works = grouped(rows(LINES, ids)), rows(SENT, ids)
    sent, numbers = grouped(works), [each[1] for each in works]
    shipments = grouped(rows(SHIPMENTS, numbers))
    held = {each[0]: each[1:] for each in rows(HELD, [*shipments])}
    return [
        {
            "id": row[0],
            "type": row[1],
            "retailer_order_id": row[2],
            "processing_state": row[3],
            "id_in_source": row[4],
            "billing_address": json.loads(row[5]),
            "shipping_address": json.loads(row[6]),
            "shipping_method_code": row[7],
            "shipping_paid": number(row[8]),
            "shipping_tax": number(row[9]),
            "sales_division_code": row[10],
            "sales_order_number": row[11],
            "gift_message": row[12],
            "is_gift": row[13],
            "ship_until": row[14],
            "original_created_at": row[15],
            "notes": json.loads(row[16]),
            "created_at": iso(row[17]),
            "updated_at": iso(row[18]),
            "order_lines": [line_json(line) for line in lines[row[0]]],
            "fulfillments": [
                {
                    "id": each[0],
                    "supplier_id": each[1],
                    "state": each[2],
                    "tracking_numbers": [parcel[0] for parcel in shipments[each[0]]],
                    "shipments": [shipment_json(parcel, held) for parcel in shipments[each[0]]],
                    "returns": [],
                }
                for each in sent[row[0]]
            ],
        }
        for row in page
    ]


def shipment_json(parcel: tuple[Any, ...], held: dict[int, tuple[Any, ...]]) -> dict[str, Any]:
    number, carrier, moment, items = parcel
    return {
        "tracking_number": number,
        "carrier": carrier,
        "shipped_at": iso(moment),
        "items": [
            {
                "order_line_id": held[item["line"]][0],
                "sku": held[item["line"]][1],
                "quantity": item["quantity"],
            }
            for item in json.loads(items)
        ],
    }


def line_json(line: tuple[Any, ...]) -> dict[str, Any]:
    return {
        "id": line[0],
        "sku": line[1],
        "upc": line[2],
        "title": line[14],
        "supplier_id": line[3],
        "variant_id": line[4],
        "quantity": line[5],
        "billed_amount": number(line[6]),
        "tax_billed_amount": number(line[7]),
        "notes": json.loads(line[8]),
        "quantity_reserved": line[9],
        "quantity_shipped": line[10],
        "quantity_canceled": line[11],
        "quantity_rejected": line[12],
        "quantity_returned": line[15],
        "short": line[13] - line[9],
    }


def counts(request: HttpRequest, retailer_id: int) -> HttpResponse:
    check_key(request)
    statement = "SELECT completed, canceled, pending FROM orders_retailerclock WHERE retailer_id = %s"
    completed, canceled, pending = rows(statement, retailer_id)[0]
    return answer({"completed": completed, "canceled": canceled, "pending": pending})
