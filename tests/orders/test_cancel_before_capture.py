"""A partnership may let the retailer cancel fulfillments at once before their capture (contract 17)."""

from __future__ import annotations

import pytest

from accounts.models import Partnership
from events.models import Event
from inventory.models import StockLevel
from tests.orders.fixtures import order_state, state_of, status


@pytest.fixture
def at_once(shop, acme):
    Partnership.objects.filter(retailer=shop, supplier=acme).update(cancel_before_capture="at_once")


def test_the_supplier_is_asked_unless_the_partnership_says_otherwise(work, an_order_at_acme, shop_api):
    answer = shop_api.post(f"orders/{an_order_at_acme.pk}/cancel")

    assert (answer.json()["code"], state_of(work)) == ("cancel_requested", "canceling")


def test_a_fulfillment_that_was_never_captured_is_canceled_at_once(
    at_once, work, an_order_at_acme, shop_api, acme_api
):
    answer = shop_api.post(f"orders/{an_order_at_acme.pk}/cancel", {"cancel_id": "C-1"})

    assert answer.json()["code"] == "order_canceled"
    assert answer.json()["message"] == "Units canceled: 5."
    assert (state_of(work), order_state(an_order_at_acme)) == ("canceled", "canceled")
    assert {level.reserved for level in StockLevel.objects.all()} == {0}
    [event] = acme_api.get("events", {"type": "fulfillment.canceled"}).json()["results"]
    assert sum(item["quantity"] for item in event["data"]["items"]) == 5
    again = shop_api.post(f"orders/{an_order_at_acme.pk}/cancel", {"cancel_id": "C-1"})
    assert again.json()["code"] == "unchanged"


def test_a_part_is_canceled_at_once_and_the_rest_stays_new(at_once, work, an_order_at_acme, shop_api):
    answer = shop_api.post(
        f"orders/{an_order_at_acme.pk}/cancel", {"lines": [{"sku": "LAMP", "quantity": 1}]}
    )

    assert answer.json()["message"] == "Units canceled: 1."
    assert (state_of(work), order_state(an_order_at_acme)) == ("new", "received")
    assert [line.canceled for line in work.lines.order_by("pk")] == [1, 0]


@pytest.mark.parametrize("way", ["captured", "captured and address corrected", "accepted"])
def test_a_supplier_that_captured_or_accepted_must_answer_a_cancellation(
    way, at_once, work, an_order_at_acme, shop_api, acme_api
):
    if way == "accepted":
        acme_api.put(status(work, "accepted"))
    else:
        acme_api.get("fulfillments")
    if way.endswith("corrected"):
        work.capture.outdated = True
        work.capture.save()

    answer = shop_api.post(f"orders/{an_order_at_acme.pk}/cancel")

    assert (answer.json()["code"], state_of(work)) == ("cancel_requested", "canceling")


def test_the_supplier_that_agreed_is_not_asked_while_another_is(
    at_once, acme, rival, a_variant, push, work_of, shop_api
):
    a_variant(acme, "LAMP", stock=10)
    a_variant(rival, "MAT", stock=10)
    order = push({"sku": "LAMP", "quantity": 1}, {"sku": "MAT", "quantity": 2})

    answer = shop_api.post(f"orders/{order.pk}/cancel")

    assert answer.json()["code"] == "cancel_requested"
    assert (state_of(work_of(order, acme)), state_of(work_of(order, rival))) == ("canceled", "canceling")
    assert Event.objects.get(type="order.cancel_requested").data["canceled"] == 1


def test_both_sides_read_the_setting(at_once, shop_api, acme_api):
    for client in (shop_api, acme_api):
        [partnership, *_] = client.get("").json()["partnerships"]
        assert partnership["cancel_before_capture"] == "at_once"
