"""A trial run is refused by calls that have none: they would make the change."""

from __future__ import annotations

import pytest

from fulfillments.models import Fulfillment
from inventory.models import StockLevel
from orders.models import Order
from tests.orders.push_bodies import an_order

pytestmark = pytest.mark.django_db


@pytest.fixture
def order(acme, shop, client_for, a_variant) -> Order:
    a_variant(acme, "LAMP", stock=9)
    client_for(shop).post("orders", an_order({"sku": "LAMP", "quantity": 1}))
    return Order.objects.get()


@pytest.mark.parametrize("name", ["dry_run", "dryRun", "dry-run"])
def test_a_trial_run_of_a_cancellation_cancels_nothing(order, shop, client_for, name):
    answer = client_for(shop).post(f"orders/{order.pk}/cancel", {name: True})

    [fault] = answer.json()["errors"]
    assert (answer.status_code, fault["field"], fault["code"]) == (400, name, "unknown_field")
    assert Order.objects.get().processing_state == "received"


def test_a_trial_run_of_a_stock_push_or_of_a_rejection_changes_no_stock(order, acme, client_for):
    level = StockLevel.objects.get()
    count = {"warehouse_id": level.warehouse_id, "inventories": [{"sku": "LAMP", "quantity": 1}]}
    refused = f"fulfillments/{Fulfillment.objects.get().pk}/setStatus/out_of_stock"

    assert client_for(acme).post("inventory", {**count, "dry_run": "true"}).status_code == 400
    assert client_for(acme).put(refused, {"dry_run": 1}).status_code == 400
    assert StockLevel.objects.get().on_hand == level.on_hand == 9


def test_a_trial_run_of_the_answer_to_a_cancellation_answers_nothing(order, shop, acme, client_for):
    client_for(shop).post(f"orders/{order.pk}/cancel")
    path = f"fulfillments/{Fulfillment.objects.get().pk}/setStatus"
    for call, body in (("/canceled", {}), ("", {"status": "canceled"})):
        assert client_for(acme).put(path + call, {**body, "dry_run": True}).status_code == 400
    assert Fulfillment.objects.get().state == "canceling"


@pytest.mark.parametrize("value", [False, None, 0, "false"])
def test_the_refusal_of_a_trial_run_is_ignored(order, shop, client_for, value):
    assert client_for(shop).post(f"orders/{order.pk}/cancel", {"dry_run": value}).status_code == 200


def test_a_pushed_order_names_it_in_its_warnings(order, shop, client_for):
    """Contract 4: unknown fields of a push are ignored, and named in `warnings`."""
    body = an_order({"sku": "LAMP", "quantity": 1}, retailer_order_id="TRIAL", dry_run=True)
    answer = client_for(shop).post("orders", body)
    assert (answer.status_code, answer.json()["warnings"][0].partition(":")[0]) == (201, "dry_run")
