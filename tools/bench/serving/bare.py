"""Bare views: the same answers as the Exchange's, by the unavoidable SQL and nothing else.

A bare view checks only that the key is valid. Its columns and fields come from the row classes and answer
types of the real view, so that a new field appears in both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar, get_type_hints

from django.db import connection
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from api.renderers import encode, iso
from fastdb.rows import as_rows, grouped, rows_of
from fulfillments.models import Fulfillment, FulfillmentLine, Rejection, Return, Shipment
from fulfillments.selectors import FulfillmentLineRow, FulfillmentRow, RejectionRow, ReturnRow, ShipmentRow
from fulfillments.serializers import FulfillmentJson, FulfillmentLineJson
from fulfillments.states import CAPTURABLE, sql
from fulfillments.tracking import tracking_url
from orders.models import Order, OrderLine
from orders.selectors import OrderFulfillmentRow, OrderLineRow, OrderRow, PlacedLineRow
from orders.serializers import (
    CountsJson,
    OrderFieldsJson,
    OrderFulfillmentJson,
    OrderLineJson,
    OrderPlacedLineJson,
    OrderShipmentJson,
)

R = TypeVar("R", bound=NamedTuple)

KEY = """
    SELECT k.digest, k.name, k.scopes, k.expires_at, k.revoked_at, k.rate_limit, k.last_used_at,
        s.id, s.name, s.safety_stock, r.id, r.name
    FROM accounts_apikey k LEFT JOIN accounts_supplier s ON s.id = k.supplier_id
    LEFT JOIN accounts_retailer r ON r.id = k.retailer_id WHERE k.prefix = %s
"""
FULFILLMENTS = f"""
    WHERE fulfillments_fulfillment.supplier_id = %s
        AND fulfillments_fulfillment.state IN ({sql(*CAPTURABLE)}) AND NOT orders_order.held
    ORDER BY fulfillments_fulfillment.id LIMIT 101
"""
OF_FULFILLMENTS = "WHERE {table}.fulfillment_id = ANY(%s) ORDER BY {table}.id"
ORDERS = "WHERE retailer_id = %s AND updated_at > %s ORDER BY updated_at LIMIT 101"


def statement_rows(statement: str, *params: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def rows(model: type[Model], row: type[R], rest: str, *params: Any) -> list[R]:
    """Return the rows of a table that the rest of the statement selects."""
    with connection.cursor() as cursor:
        cursor.execute(f"{_select(model, row)} {rest.format(table=model._meta.db_table)}", params)
        return rows_of(cursor, row)


@cache
def _select(model: type[Model], row: type[NamedTuple]) -> str:
    """Return the SELECT of a row class up to its conditions. Django writes it once per process."""
    statement, params = as_rows(model._default_manager.order_by(), row).query.sql_with_params()
    assert not params, "a bare statement has no values of its own"
    return statement


def copying(row: type[NamedTuple], answer: type) -> Callable[[Sequence[Any]], dict[str, Any]]:
    """Return the function that copies the fields of an answer that its row has."""
    names = [name for name in get_type_hints(answer) if name in row._fields]
    values = itemgetter(*map(row._fields.index, names))
    return lambda each: dict(zip(names, values(each), strict=True))


_order_fields = copying(OrderRow, OrderFieldsJson)
_order_line = copying(OrderLineRow, OrderLineJson)
_order_fulfillment = copying(OrderFulfillmentRow, OrderFulfillmentJson)
_placed_line = copying(PlacedLineRow, OrderPlacedLineJson)
_order_shipment = copying(ShipmentRow, OrderShipmentJson)
_fulfillment_fields = copying(FulfillmentRow, FulfillmentJson)
_fulfillment_line = copying(FulfillmentLineRow, FulfillmentLineJson)


def check_key(request: HttpRequest) -> None:
    secret = request.headers["Authorization"].removeprefix("Bearer ")
    [(digest, *_)] = statement_rows(KEY, "_".join(secret.split("_")[:2]))
    assert digest == hashlib.sha256(secret.encode()).hexdigest()


def answer(data: Any, status: int = 200) -> HttpResponse:
    return HttpResponse(encode(data), status=status, content_type="application/json")


def capture(request: HttpRequest, supplier_id: int) -> HttpResponse:
    check_key(request)
    page = rows(Fulfillment, FulfillmentRow, FULFILLMENTS, supplier_id)[:100]
    ids = [row.id for row in page]
    lines = grouped(
        rows(FulfillmentLine, FulfillmentLineRow, OF_FULFILLMENTS, ids), lambda line: line.fulfillment_id
    )
    # The page has new fulfillments only: the real view reads these tables and finds nothing.
    for model, row_class in ((Shipment, ShipmentRow), (Rejection, RejectionRow), (Return, ReturnRow)):
        assert not rows(model, row_class, OF_FULFILLMENTS, ids)
    now = timezone.now()
    body = [
        {
            **_fulfillment_fields(row),
            "retailer_state": "ordered",
            "fulfillment_state": row.state,
            "notes": [*row.notes, *(note for line in lines[row.id] for note in line.notes)],
            "lines": [_fulfillment_line(line) for line in lines[row.id]],
            "shipments": [],
            "kept_shipments": [],
            "rejections": [],
            "returns": [],
            "captured_at": iso(row.captured_at),
            "due_at": iso(row.due_at),
            "overdue": row.due_at is not None and row.due_at <= now,
        }
        for row in page
    ]
    return answer(body)


def orders(request: HttpRequest, retailer_id: int) -> HttpResponse:
    """Answer a page of changed orders, for the same filter as the real view."""
    check_key(request)
    since = json.loads(request.GET["filter"])["updated_at"]["gt"]
    page = rows(Order, OrderRow, ORDERS, retailer_id, since)[:100]
    return answer({"next": None, "previous": None, "results": orders_json(page)})


def order(request: HttpRequest, retailer_id: int, order_id: int) -> HttpResponse:
    check_key(request)
    page = rows(Order, OrderRow, "WHERE retailer_id = %s AND id = %s", retailer_id, order_id)
    return answer(orders_json(page)[0])


def orders_json(page: list[OrderRow]) -> list[dict[str, Any]]:
    ids = [row.id for row in page]
    of_orders = "WHERE order_id = ANY(%s) ORDER BY "
    lines = grouped(rows(OrderLine, OrderLineRow, f"{of_orders} position", ids), lambda line: line.order_id)
    fulfillments = rows(Fulfillment, OrderFulfillmentRow, f"{of_orders} id", ids)
    of_order = grouped(fulfillments, lambda fulfillment: fulfillment.order_id)
    numbers = [fulfillment.id for fulfillment in fulfillments]
    shipments = grouped(
        rows(Shipment, ShipmentRow, OF_FULFILLMENTS, numbers), lambda shipment: shipment.fulfillment_id
    )
    placed = rows(FulfillmentLine, PlacedLineRow, OF_FULFILLMENTS, numbers)
    placed_of = grouped(placed, lambda line: line.fulfillment_id)
    name_of = {line.id: line for line in placed}
    return [
        {
            **_order_fields(row),
            "order_lines": [{**_order_line(line), "expected_at": None} for line in lines[row.id]],
            "fulfillments": [
                {
                    **_order_fulfillment(fulfillment),
                    "lines": [_placed_line(line) for line in placed_of[fulfillment.id]],
                    "tracking_numbers": [parcel.tracking_number for parcel in shipments[fulfillment.id]],
                    "shipments": [shipment_json(parcel, name_of) for parcel in shipments[fulfillment.id]],
                    "returns": [],
                }
                for fulfillment in of_order[row.id]
            ],
        }
        for row in page
    ]


def shipment_json(parcel: ShipmentRow, name_of: dict[int, PlacedLineRow]) -> dict[str, Any]:
    named = ((name_of[item["line"]], item["quantity"]) for item in parcel.items)
    items = [
        {"order_line_id": name.order_line_id, "sku": name.sku, "quantity": quantity}
        for name, quantity in named
    ]
    url = tracking_url(parcel.tracking_number, parcel.carrier)
    return {**_order_shipment(parcel), "tracking_url": url, "items": items}


def counts(request: HttpRequest, retailer_id: int) -> HttpResponse:
    check_key(request)
    names = [*CountsJson.__annotations__]
    statement = f"SELECT {', '.join(names)} FROM orders_retailerclock WHERE retailer_id = %s"
    [row] = statement_rows(statement, retailer_id)
    return answer(dict(zip(names, row, strict=True)))
