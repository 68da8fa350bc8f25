"""Bare views: the SQL of the Exchange's answers and nothing else.

A read repeats the statements of the real view. A push has its own statements, as few as possible.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.views.decorators.csrf import csrf_exempt

from api.renderers import encode
from fulfillments.states import State, sql
from inventory.models import MovementKind
from inventory.movements import insert_movements
from orders.processing_state import ProcessingState
from tools.bench.database import execute

Recording = tuple[list[tuple[str, Any]], bytes]
_recordings: dict[str, Recording] = {}


def replay(request: HttpRequest, read: str = "") -> HttpResponse:
    """Run the real view's SELECTs, recorded at the first request for the path; return the recorded answer."""
    path = request.get_full_path()
    if path not in _recordings:
        _recordings[path] = _record(path.replace("/bare/", "/v3/", 1), request.headers["Authorization"])
    statements, body = _recordings[path]
    with connection.cursor() as cursor:
        for statement, params in statements:
            cursor.execute(statement, params)
            cursor.fetchall()
    return HttpResponse(body, content_type="application/json")


def _record(path: str, authorization: str) -> Recording:
    statements: list[tuple[str, Any]] = []

    def remember(execute, statement, params, many, context):  # type: ignore[no-untyped-def]
        if statement.lstrip(" (\n").startswith(("SELECT", "WITH")):
            statements.append((statement, params))
        return execute(statement, params, many, context)

    with connection.execute_wrapper(remember):
        answer = Client(HTTP_HOST="127.0.0.1").get(path, headers={"Authorization": authorization})
    assert answer.status_code == 200, f"{path} answers {answer.status_code}"
    return statements, answer.content


KEY = """
    SELECT k.digest, k.name, k.scopes, k.expires_at, k.revoked_at, k.rate_limit, k.last_used_at,
        s.id, s.name, s.safety_stock, r.id, r.name
    FROM accounts_apikey k LEFT JOIN accounts_supplier s ON s.id = k.supplier_id
    LEFT JOIN accounts_retailer r ON r.id = k.retailer_id WHERE k.prefix = %s
"""
CANDIDATES = """
    SELECT v.sku, v.id, v.supplier_id, v.retail_price, v.wholesale_price, p.id, s.priority, w.id,
        v.upc, v.title
    FROM accounts_partnership p JOIN accounts_supplier s ON s.id = p.supplier_id
    JOIN inventory_warehouse w ON w.supplier_id = s.id AND w.is_default
    JOIN catalog_variant v ON v.supplier_id = p.supplier_id AND v.listed AND v.sku = ANY(%s)
    WHERE p.retailer_id = %s AND p.is_active
"""
ORDER = f"""
    INSERT INTO orders_order (retailer_id, retailer_order_id, type, id_in_source, billing_address,
        shipping_address, shipping_method_code, shipping_paid, sales_division_code, sales_order_number,
        gift_message, is_gift, notes, content_digest, held, processing_state)
    VALUES (%s, %s, 'dropship', '', %s, %s, %s, %s, '', '', '', false, '[]', '', false,
        {sql(ProcessingState.RECEIVED)})
    RETURNING id
"""
LOCK = """
    SELECT variant_id, on_hand, reserved FROM inventory_stocklevel WHERE variant_id = ANY(%s)
    ORDER BY variant_id, warehouse_id FOR UPDATE
"""
LINES = """
    INSERT INTO orders_orderline (order_id, position, sku, upc, title, quantity, billed_amount, notes, open,
        reserved, shipped, rejected, canceled, returned, dropped)
    SELECT %s, o - 1, sku, '', title, quantity, 19.99, '[]', quantity, quantity, 0, 0, 0, 0, 0
    FROM unnest(%s::text[], %s::text[], %s::int[]) WITH ORDINALITY AS l (sku, title, quantity, o) RETURNING id
"""
FULFILLMENT = f"""
    INSERT INTO fulfillments_fulfillment (order_id, supplier_id, partnership_id, warehouse_id, state,
        state_before_cancel, tracking_number, invoice_id)
    VALUES (%s, %s, %s, %s, {sql(State.NEW)}, '', '', '') RETURNING id
"""
PARTS = """
    INSERT INTO fulfillments_fulfillmentline (fulfillment_id, order_line_id, variant_id, sku, upc, title,
        wholesale_price, quantity, reserved, shipped, rejected, canceled, returned, cancel_requested)
    SELECT %s, line, variant, sku, upc, title, price, quantity, quantity, 0, 0, 0, 0, 0
    FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::text[], %s::numeric[], %s::int[])
        AS p (line, variant, sku, upc, title, price, quantity)
"""
DECISION = (
    "INSERT INTO fulfillments_routingdecision (order_id, cause, lines) VALUES (%s, 'order.created', %s)"
)
MOVEMENTS = insert_movements(
    MovementKind.RESERVE,
    "written",
    reserved_change="quantity",
    actor="'key:bench'",
    request_id="%s",
    order_id="%s",
    fulfillment_id="%s",
)
STOCK = f"""
    WITH written AS (
        UPDATE inventory_stocklevel s SET reserved = reserved + quantity, updated_at = clock_timestamp()
        FROM unnest(%s::bigint[], %s::int[]) AS n (variant_id, quantity) WHERE s.variant_id = n.variant_id
        RETURNING s.variant_id, s.warehouse_id, s.on_hand, s.reserved, n.quantity
    )
    {MOVEMENTS}
"""
EVENTS = """
    INSERT INTO events_event (type, area, supplier_id, retailer_id, order_id, fulfillment_id, actor,
        request_id, from_state, to_state, data)
    VALUES ('order.created', 'orders', NULL, %(retailer)s, %(order)s, NULL,
         'key:bench', %(request)s, '', '', '{}'),
        ('fulfillment.created', 'fulfillments', %(supplier)s, %(retailer)s, %(order)s, %(fulfillment)s,
         'key:bench', %(request)s, '', '', '{}')
"""
STAMP = """
    WITH clock AS (
        UPDATE orders_retailerclock SET pending = pending + 1,
            last = greatest(date_trunc('milliseconds', clock_timestamp()), last + interval '1 ms')
        WHERE retailer_id = %s RETURNING last
    )
    UPDATE orders_order SET updated_at = clock.last FROM clock WHERE id = %s
"""
FOUND = "SELECT sku, id FROM catalog_variant WHERE supplier_id = %s AND sku = ANY(%s)"
COUNTED = """
    INSERT INTO inventory_stocklevel (variant_id, warehouse_id, on_hand, reserved)
    SELECT variant, %s, amount, 0 FROM unnest(%s::bigint[], %s::int[]) AS n (variant, amount) ORDER BY variant
    ON CONFLICT (variant_id, warehouse_id) DO UPDATE SET on_hand = excluded.on_hand, updated_at = now()
    WHERE inventory_stocklevel.on_hand <> excluded.on_hand
"""
PUSHED = """
    INSERT INTO events_event (type, area, supplier_id, actor, request_id, from_state, to_state, data)
    VALUES ('inventory.updated', 'inventory', %s, 'key:bench', '', '', '', '{}')
"""


@csrf_exempt
def orders(request: HttpRequest, retailer_id: int) -> HttpResponse:
    return push_order(request, retailer_id) if request.method == "POST" else replay(request)


def push_order(request: HttpRequest, retailer_id: int) -> HttpResponse:
    """Create an order whose lines have one candidate each, all of the same supplier."""
    check_key(request)
    body = json.loads(request.body)
    quantities = {line["sku"]: line["quantity"] for line in body["order_lines"]}
    with connection.cursor() as cursor, transaction.atomic():
        cursor.execute(CANDIDATES, [list(quantities), retailer_id])
        offers = {row[0]: row[1:] for row in cursor.fetchall()}
        variants = [offers[sku][0] for sku in quantities]
        _, supplier, _, _, partnership, _, warehouse, *_ = offers[next(iter(quantities))]
        prices, upcs, titles = ([offers[sku][column] for sku in quantities] for column in (3, 7, 8))
        address = json.dumps(body["shipping_address"])
        number, method, paid = body["retailer_order_id"], body["shipping_method_code"], body["shipping_paid"]
        cursor.execute(ORDER, [retailer_id, number, address, address, method, paid])
        order = cursor.fetchone()[0]
        cursor.execute(LOCK, [variants])
        assert all(on_hand > reserved for _, on_hand, reserved in cursor.fetchall())
        cursor.execute(LINES, [order, list(quantities), titles, list(quantities.values())])
        lines = [row[0] for row in cursor.fetchall()]
        cursor.execute(FULFILLMENT, [order, supplier, partnership, warehouse])
        fulfillment = cursor.fetchone()[0]
        agreed = [list(quantities), upcs, titles, prices]
        cursor.execute(PARTS, [fulfillment, lines, variants, *agreed, list(quantities.values())])
        cursor.execute(DECISION, [order, json.dumps(_decision(quantities, lines, offers))])
        cursor.execute(STOCK, [variants, list(quantities.values()), number, order, fulfillment])
        known = {"retailer": retailer_id, "order": order, "supplier": supplier, "fulfillment": fulfillment}
        cursor.execute(EVENTS, {**known, "request": number})
        cursor.execute(STAMP, [retailer_id, order])
    payload = {"success": True, "message": "The order is created.", "code": "order_created"}
    return answer({**payload, "order_id": order, "warnings": []}, status=201)


def _decision(quantities: dict[str, int], lines: list[int], offers: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "line_id": line,
            "quantity": quantity,
            "unfilled": 0,
            "candidates": [
                {"supplier_id": offers[sku][1], "variant_id": offers[sku][0], "warehouse_id": offers[sku][6]}
            ],
        }
        for line, (sku, quantity) in zip(lines, quantities.items(), strict=True)
    ]


@csrf_exempt
def push_stock(request: HttpRequest, supplier_id: int) -> HttpResponse:
    """Store the counts of known skus. Each sku appears once."""
    check_key(request)
    body = json.loads(request.body)
    amounts = {element["sku"]: element["quantity"] for element in body["inventories"]}
    with connection.cursor() as cursor, transaction.atomic():
        cursor.execute(FOUND, [supplier_id, list(amounts)])
        known = cursor.fetchall()
        counts = [amounts[sku] for sku, _ in known]
        cursor.execute(COUNTED, [body["warehouse_id"], [variant for _, variant in known], counts])
        updated = cursor.rowcount
        cursor.execute(PUSHED, [supplier_id])
    payload = {"updated": updated, "unchanged": len(amounts) - updated, "rejected": 0}
    return answer({**payload, "duplicates": 0, "errors": []})


def check_key(request: HttpRequest) -> None:
    secret = request.headers["Authorization"].removeprefix("Bearer ")
    [(digest, *_)] = execute(KEY, ["_".join(secret.split("_")[:2])])
    assert digest == hashlib.sha256(secret.encode()).hexdigest()


def answer(data: Any, status: int = 200) -> HttpResponse:
    return HttpResponse(encode(data), status=status, content_type="application/json")
