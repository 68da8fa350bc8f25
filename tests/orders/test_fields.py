"""Each field of a push is stored, compared and read back."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework import serializers

from api import fields
from orders.models import Order, OrderLine
from orders.push_body import ADDRESS_PARTS, LINE_FIELDS, ORDER_FIELDS, AddressBody, LineBody, OrderBody
from orders.selectors import OrderLineRow, OrderRow

ADDRESS = {part: part for part in ADDRESS_PARTS}


def two_values(field: Any) -> tuple[Any, Any]:
    """Two different values of a field, both unlike its default."""
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
    return "A-1", "A-2"


@pytest.fixture
def line(acme, a_variant) -> dict[str, Any]:
    """A line with every field that a line may have."""
    values = {name: two_values(field)[0] for name, field in LineBody().fields.items()}
    lamp = a_variant(acme, values["sku"], upc=values["upc"], stock=9)
    return values | {"variant_id": lamp.pk, "supplier_id": acme.pk}


@pytest.fixture
def order(line) -> dict[str, Any]:
    """An order with every field that an order may have."""
    body = OrderBody().fields
    return {name: two_values(body[name])[0] for name in ORDER_FIELDS} | {"order_lines": [line]}


def test_each_field_is_read_back_as_pushed(order, line, shop_api):
    pk = shop_api.post("orders", order).json()["order_id"]

    answer = shop_api.get(f"orders/{pk}").json()

    assert {name: answer[name] for name in ORDER_FIELDS} == {name: order[name] for name in ORDER_FIELDS}
    [answered] = answer["order_lines"]
    assert {name: answered[name] for name in LINE_FIELDS} == line


@pytest.mark.parametrize("name", [name for name in ORDER_FIELDS if name != "retailer_order_id"])
def test_each_makes_another_order_of_it(name, order, shop_api):
    assert shop_api.post("orders", order).status_code == 201

    answer = shop_api.post("orders", order | {name: two_values(OrderBody().fields[name])[1]})

    assert (answer.status_code, answer.json()["code"]) == (409, "order_conflict")
    assert [each["field"] for each in answer.json()["errors"]] == [name]


@pytest.mark.parametrize("name", LINE_FIELDS)
def test_each_makes_another_line_of_it(name, order, line, shop_api):
    assert shop_api.post("orders", order).status_code == 201
    other = line | {name: line[name] + 1 if name.endswith("_id") else two_values(LineBody().fields[name])[1]}

    answer = shop_api.post("orders", order | {"order_lines": [other]})

    assert (answer.status_code, answer.json()["code"]) == (409, "order_conflict")
    assert [each["field"] for each in answer.json()["errors"]] == [f"order_lines[0].{name}"]


def test_each_is_a_column_of_its_model_and_a_field_of_its_row():
    assert set(ORDER_FIELDS) <= {field.name for field in Order._meta.get_fields()}
    assert set(LINE_FIELDS.values()) <= {field.name for field in OrderLine._meta.get_fields()}
    assert set(ORDER_FIELDS) <= set(OrderRow._fields)
    assert set(LINE_FIELDS) <= set(OrderLineRow._fields)
