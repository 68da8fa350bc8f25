"""A parameter that is not UTF-8 is refused: its replaced characters would find nothing."""

from __future__ import annotations

import pytest

from tests.orders.push_bodies import an_order

pytestmark = pytest.mark.django_db


@pytest.fixture
def number(shop, acme, client_for, a_variant) -> str:
    """Return the number of an order that its retailer can find."""
    a_variant(acme, "LAMP", stock=1)
    client_for(shop).post("orders", an_order({"sku": "LAMP", "quantity": 1}, retailer_order_id="Büro-1"))
    return "Büro-1"


@pytest.mark.parametrize("name", ["retailer_order_id", "filter[retailer_order_id]"])
def test_an_order_is_found_by_utf_8_and_refused_in_latin_1(shop, client_for, number, name):
    [found] = client_for(shop).get(f"orders?{name}=B%C3%BCro-1").json()["results"]
    assert found["retailer_order_id"] == number

    answer = client_for(shop).get(f"orders?{name}=B%FCro-1&_=1")
    [fault] = answer.json()["errors"]
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_filter")
    assert (fault["field"], fault["code"]) == (name, "undecodable")


@pytest.mark.parametrize("query", ["variants?sku=%ED%A0%80", "inventory?sku=%FC", "events?type=%FF"])
def test_other_lists_refuse_it_too(acme, client_for, query):
    assert client_for(acme).get(query).json()["errors"][0]["code"] == "undecodable"


def test_a_value_may_hold_the_replacement_character_itself(acme, client_for):
    assert client_for(acme).get("variants?sku=%EF%BF%BD&_=%FF").json() == []
