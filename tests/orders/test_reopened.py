"""The number of a canceled order can be used again only with `reopen` (contract 17)."""

from __future__ import annotations

import pytest
from django.db import connection

from orders.models import Order
from tests.orders.push_bodies import ADDRESS, an_order


@pytest.fixture
def body(acme, a_variant):
    a_variant(acme, "LAMP", stock=10)
    return an_order({"sku": "LAMP", "quantity": 1}, retailer_order_id="R-1000", when_short="wait")


@pytest.fixture
def canceled(body, shop_api, acme_api):
    """Push order R-1000, cancel it, and return its id."""
    pk = shop_api.post("orders", body).json()["order_id"]
    cancel(shop_api, acme_api, pk)
    return pk


def cancel(shop_api, acme_api, pk):
    shop_api.post(f"orders/{pk}/cancel")
    [work] = acme_api.get("fulfillments", {"fulfillment_state": "canceling"}).json()
    acme_api.put(f"fulfillments/{work['id']}/setStatus", {"status": "canceled"})


def test_a_push_of_a_canceled_order_says_that_it_is_canceled(canceled, body, shop_api):
    """An answer `order_exists` would let the retailer wait for goods that no supplier sends."""
    answer = shop_api.post("orders", body)

    assert (answer.status_code, answer.json()["code"]) == (200, "order_exists")
    assert answer.json()["order_id"] == canceled
    [warning] = answer.json()["warnings"]
    assert "canceled" in warning
    assert "reopen" in warning


def test_a_conflict_with_a_canceled_order_names_the_way_out(canceled, body, shop_api):
    answer = shop_api.post("orders", body | {"gift_message": "Hi"})

    assert (answer.status_code, answer.json()["code"]) == (409, "order_conflict")
    assert '"reopen": true' in answer.json()["message"]


@pytest.fixture
def unfinished_upgrade(db):
    """Create the unique index of the previous version, which `finish_upgrade` drops."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE UNIQUE INDEX order_once ON orders_order (retailer_id, retailer_order_id)")


def test_until_an_upgrade_is_finished_no_number_is_used_again(unfinished_upgrade, canceled, body, shop_api):
    answer = shop_api.post("orders", body | {"reopen": True})

    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert "upgrade" in answer.json()["message"]
    assert shop_api.post("orders", body).json()["code"] == "order_exists"
    assert shop_api.post("orders", body | {"retailer_order_id": "R-1001"}).status_code == 201


def test_a_reopened_number_is_a_new_order(canceled, body, shop_api):
    answer = shop_api.post("orders", body | {"reopen": True, "gift_message": "Hi"})

    new = answer.json()["order_id"]
    assert (answer.status_code, answer.json()["code"]) == (201, "order_created")
    assert new != canceled
    assert answer.json()["warnings"] == []
    for pk, state in ((canceled, "canceled"), (new, "received")):
        read = shop_api.get(f"orders/{pk}").json()
        assert (read["retailer_order_id"], read["processing_state"]) == ("R-1000", state)


def test_a_read_by_number_finds_the_newest(canceled, body, shop_api):
    new = shop_api.post("orders", body | {"reopen": True}).json()["order_id"]

    by_number = shop_api.get("orders", {"retailer_order_id": "R-1000"}).json()["results"]
    everything = shop_api.get("orders").json()["results"]

    assert [order["id"] for order in by_number] == [new]
    assert [order["id"] for order in everything] == [canceled, new]


def test_a_repeated_reopening_is_the_same_order(canceled, body, shop_api):
    first = shop_api.post("orders", body | {"reopen": True}).json()["order_id"]

    for again in (body, body | {"reopen": True}):
        answer = shop_api.post("orders", again)
        assert (answer.status_code, answer.json()["order_id"]) == (200, first)
        assert answer.json()["warnings"] == []
    other = body | {"reopen": True, "gift_message": "Hi"}
    assert shop_api.post("orders", other).json()["code"] == "order_conflict"


def test_a_number_can_be_reopened_again(canceled, body, shop_api, acme_api):
    second = shop_api.post("orders", body | {"reopen": True}).json()["order_id"]
    cancel(shop_api, acme_api, second)

    assert shop_api.post("orders", body).json()["order_id"] == second
    third = shop_api.post("orders", body | {"reopen": True})
    assert third.status_code == 201
    assert Order.objects.filter(retailer_order_id="R-1000").count() == 3


def test_reopening_an_open_order_or_an_unknown_number_is_a_push(body, shop_api):
    first = shop_api.post("orders", body | {"reopen": True})
    again = shop_api.post("orders", body | {"reopen": True, "shipping_address": ADDRESS})

    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["order_id"] == again.json()["order_id"]


def test_reopen_is_a_boolean(body, shop_api):
    answer = shop_api.post("orders", body | {"reopen": "yes"})

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "reopen")
