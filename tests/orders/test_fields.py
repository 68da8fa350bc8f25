"""Each field of a push is stored, compared and read back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import models
from rest_framework import serializers

from api import fields
from fulfillments.files.order_lines import ADDRESS as ADDRESS_COLUMNS
from fulfillments.files.order_lines import COLUMNS, LEFT_OUT
from fulfillments.selectors import SHARED_WITH_SUPPLIERS
from fulfillments.serializers import FulfillmentJson
from orders.models import Order, OrderLine
from orders.push_body import (
    ADDRESS_PARTS,
    LINE_FIELDS,
    NOT_SHARED,
    ORDER_FIELDS,
    AddressBody,
    LineBody,
    OrderBody,
)
from orders.selectors import OrderLineRow, OrderRow
from orders.serializers import OrderFieldsJson
from tests.architecture.sources import text_of

ADDRESS = {part: part for part in ADDRESS_PARTS}
COLUMNS_OF_1_0 = [
    *("fulfillment_id", "line_id", "order_id", "retailer", "retailer_order_id", "sku"),
    *("upc", "title", "quantity", "wholesale_price", "first_name", "last_name"),
    *("company_name", "address1", "address2", "city", "state", "zip_code"),
    *("country", "phone_number", "email", "shipping_method_code", "ship_until", "due_at"),
    *("gift_message", "notes", "asked_at", "quantity_cancel_requested", "quantity_open", "currency"),
]


def two_values(field: Any) -> tuple[Any, Any]:
    """Return two different values of a field, which also differ from the default of the field."""
    match field:
        case AddressBody():
            return ADDRESS, ADDRESS | {"city": "Leeds"}
        case serializers.ListSerializer():
            return [{"name": "engrave", "value": "Ada"}], [{"name": "engrave", "value": "Bob"}]
        case serializers.ChoiceField():
            last, last_but_one, *_ = reversed(field.choices)
            return last, last_but_one
        case fields.Flag():
            return True, False
        case fields.Date():
            return "2026-12-24", "2026-12-25"
        case fields.Integer() | fields.Exact():
            return 2, 3
    return ("EUR", "GBP") if isinstance(field, fields.Currency) else ("A-1", "A-2")


@pytest.fixture
def line(acme, a_variant) -> dict[str, Any]:
    """Return a line with every field that a line may have."""
    values = {name: two_values(field)[0] for name, field in LineBody().fields.items()}
    lamp = a_variant(acme, values["sku"], upc=values["upc"], stock=9)
    return values | {"variant_id": lamp.pk, "supplier_id": acme.pk}


@pytest.fixture
def order(line) -> dict[str, Any]:
    """Return an order with every field that an order may have."""
    body = OrderBody().fields
    return {name: two_values(body[name])[0] for name in ORDER_FIELDS} | {"order_lines": [line]}


PLACES: dict[str, set[str]] = {
    "orders.models.Order": {field.name for field in Order._meta.concrete_fields},
    "orders.push_body.OrderBody": set(ORDER_FIELDS),
    "orders.selectors.OrderRow": set(OrderRow._fields),
    "orders.serializers.OrderFieldsJson": set(OrderFieldsJson.__annotations__),
    "fulfillments.selectors.FulfillmentRow": set(SHARED_WITH_SUPPLIERS),
    "fulfillments.serializers.FulfillmentJson": set(FulfillmentJson.__annotations__),
}
"""The fields of each class that docs/architecture.md lists."""


@pytest.mark.parametrize("name", sorted({*ORDER_FIELDS, *SHARED_WITH_SUPPLIERS} - NOT_SHARED))
def test_each_shared_field_is_in_every_listed_class(name):
    assert [place for place, names in PLACES.items() if name not in names] == []


def test_no_field_is_both_shared_and_not_shared():
    assert set(SHARED_WITH_SUPPLIERS) & NOT_SHARED == set()


def test_the_document_lists_these_classes_in_this_order():
    section = text_of("docs/architecture.md").partition("## How to add a field of an order")[2]
    listed = re.findall(r"^\d\. \*\*[^`]*`([\w.]+)", section.partition("\n## ")[0], re.MULTILINE)

    assert [place for place in listed if place in PLACES] == [*PLACES]


def test_suppliers_files_have_each_shared_field():
    assert set(SHARED_WITH_SUPPLIERS) - set(COLUMNS) == LEFT_OUT


def test_the_columns_of_suppliers_files_keep_their_positions():
    """Programs of suppliers read the files by position, so a new column comes last."""
    assert [*COLUMNS[: len(COLUMNS_OF_1_0)]] == COLUMNS_OF_1_0


def test_the_guide_lists_the_columns_of_suppliers_files():
    _, _, columns = text_of("docs/api-guide.md").partition("\nThe columns are ")
    listed = re.findall(r"`(\w+)`", columns.partition(". A file has")[0])

    assert listed == [name for name in COLUMNS if name not in ADDRESS_COLUMNS]


def texts() -> Iterator[Any]:
    """Yield the fields of a push that are stored as texts, with their columns."""
    for model, body, columns in (
        (Order, OrderBody(), {name: name for name in ORDER_FIELDS}),
        (OrderLine, LineBody(), LINE_FIELDS),
    ):
        for name, column in columns.items():
            stored = model._meta.get_field(column)
            if isinstance(stored, models.CharField) and not stored.choices:
                yield pytest.param(body.fields[name], stored, id=f"{model.__name__}.{column}")


@pytest.mark.parametrize(("field", "column"), [*texts()])
def test_a_column_has_room_for_each_accepted_text(field, column):
    assert field.max_length <= column.max_length


def test_each_field_is_read_back_as_pushed(order, line, shop_api):
    pk = shop_api.post("orders", order).json()["order_id"]

    answer = shop_api.get(f"orders/{pk}").json()

    assert {name: answer[name] for name in ORDER_FIELDS} == {name: order[name] for name in ORDER_FIELDS}
    [answered] = answer["order_lines"]
    assert {name: answered[name] for name in LINE_FIELDS} == line


def test_each_shared_field_reaches_the_supplier_as_it_was_pushed(order, line, shop_api, acme_api):
    shop_api.post("orders", order)

    [answer] = acme_api.get("fulfillments").json()

    pushed = {name: order[name] for name in SHARED_WITH_SUPPLIERS}
    assert {name: answer[name] for name in pushed} == pushed | {"notes": order["notes"] + line["notes"]}


@pytest.mark.parametrize("name", [name for name in ORDER_FIELDS if name != "retailer_order_id"])
def test_another_value_of_each_field_is_a_conflict_with_the_order(name, order, shop_api):
    assert shop_api.post("orders", order).status_code == 201

    answer = shop_api.post("orders", order | {name: two_values(OrderBody().fields[name])[1]})

    assert (answer.status_code, answer.json()["code"]) == (409, "order_conflict")
    assert [each["field"] for each in answer.json()["errors"]] == [name]


@pytest.mark.parametrize("name", LINE_FIELDS)
def test_another_value_of_each_field_of_a_line_is_a_conflict_with_the_order(name, order, line, shop_api):
    assert shop_api.post("orders", order).status_code == 201
    other = line | {name: line[name] + 1 if name.endswith("_id") else two_values(LineBody().fields[name])[1]}

    answer = shop_api.post("orders", order | {"order_lines": [other]})

    assert (answer.status_code, answer.json()["code"]) == (409, "order_conflict")
    assert [each["field"] for each in answer.json()["errors"]] == [f"order_lines[0].{name}"]


def test_each_field_is_a_column_of_its_model_and_a_field_of_its_row():
    assert set(ORDER_FIELDS) <= {field.name for field in Order._meta.get_fields()}
    assert set(LINE_FIELDS.values()) <= {field.name for field in OrderLine._meta.get_fields()}
    assert set(ORDER_FIELDS) <= set(OrderRow._fields)
    assert set(LINE_FIELDS) <= set(OrderLineRow._fields)
