"""Suppliers are notified of a corrected address, a hold and a release; retailers of each new state."""

from __future__ import annotations

import pytest

from api.renderers import iso
from events.models import Event
from fulfillments.models import Capture
from orders.models import Order
from orders.services import correct_address, hold, release
from tests.orders.fixtures import OPERATOR, line_units, status

NEW_STREET = {"address1": "1 New Street"}


@pytest.fixture
def change_it():
    """Return a function that changes an order as an operator."""

    def change_order(order, action, *arguments):
        with Order.objects.get(pk=order.pk).change(by=OPERATOR) as change:
            action(change, *arguments)

    return change_order


def types_of(client, prefix: str) -> list[str]:
    return [
        event["type"] for event in client.get("events").json()["results"] if event["type"].startswith(prefix)
    ]


def captured(client):
    [work] = client.get("fulfillments", {"fulfillment_state": "new"}).json()
    return work


def test_a_corrected_address_reaches_the_supplier(work, an_order_at_acme, acme_api, change_it):
    """A supplier that had captured the fulfillment must not ship to the old address."""
    first = captured(acme_api)

    change_it(an_order_at_acme, correct_address, NEW_STREET)

    after = acme_api.get(f"fulfillments/{work.pk}").json()
    assert after["captured_at"] is None
    assert after["updated_at"] > first["updated_at"]
    again = captured(acme_api)
    assert again["shipping_address"]["address1"] == "1 New Street"
    assert again["captured_at"] > first["captured_at"]
    assert captured(acme_api)["captured_at"] == again["captured_at"]
    [event] = acme_api.get("events", {"type": "fulfillment.address_corrected"}).json()["results"]
    assert (event["fulfillment_id"], event["data"]) == (work.pk, {"changed": ["address1"]})
    assert iso(Capture.objects.get().captured_at) == first["captured_at"]


def test_an_accepted_fulfillment_is_captured_again_too(work, an_order_at_acme, acme_api, change_it):
    captured(acme_api)
    acme_api.put(status(work, "accepted"))

    change_it(an_order_at_acme, correct_address, NEW_STREET)

    assert acme_api.get(f"fulfillments/{work.pk}").json()["captured_at"] is None
    [again] = acme_api.get("fulfillments", {"fulfillment_state": "accepted"}).json()
    assert again["captured_at"] is not None
    assert types_of(acme_api, "fulfillment.address") == ["fulfillment.address_corrected"]


def test_a_shipped_fulfillment_gets_no_event_of_a_corrected_address(
    acme, rival, a_variant, push, work_of, acme_api, rival_api, change_it
):
    a_variant(acme, "LAMP", stock=10)
    a_variant(rival, "MAT", stock=10)
    order = push({"sku": "LAMP", "quantity": 1}, {"sku": "MAT", "quantity": 1})
    shipped = work_of(order, acme)
    acme_api.put(status(shipped, "accepted"))
    acme_api.put(status(shipped, "shipped"), {"tracking_number": "T"})

    change_it(order, correct_address, NEW_STREET)

    assert types_of(acme_api, "fulfillment.address") == []
    assert types_of(rival_api, "fulfillment.address") == ["fulfillment.address_corrected"]


def test_a_refused_address_that_is_corrected_is_captured_again(work, an_order_at_acme, acme_api, change_it):
    first = captured(acme_api)
    acme_api.put(status(work, "wrong_address"))

    change_it(an_order_at_acme, correct_address, NEW_STREET)

    assert types_of(acme_api, "fulfillment.")[-2:] == [
        "fulfillment.address_corrected",
        "fulfillment.released",
    ]
    assert captured(acme_api)["captured_at"] > first["captured_at"]


def test_holding_and_releasing_are_events_for_the_supplier(work, an_order_at_acme, acme_api, change_it):
    before = acme_api.get(f"fulfillments/{work.pk}").json()

    change_it(an_order_at_acme, hold)
    held = acme_api.get(f"fulfillments/{work.pk}").json()
    change_it(an_order_at_acme, hold)  # the order is held already, so there is no second event
    change_it(an_order_at_acme, release)

    assert types_of(acme_api, "fulfillment.")[-2:] == ["fulfillment.held", "fulfillment.released"]
    assert (held["retailer_state"], held["updated_at"] > before["updated_at"]) == ("pending", True)


def test_a_hold_does_not_make_a_repeated_approval_new(work, an_order_at_acme, acme_api, shop_api, change_it):
    acme_api.put(status(work, "accepted"))
    shop_api.post(f"orders/{an_order_at_acme.pk}/cancel", {"lines": [{"sku": "MAT", "quantity": 1}]})
    answer = {"status": "canceled"}
    acme_api.put(f"fulfillments/{work.pk}/setStatus", answer)
    change_it(an_order_at_acme, hold)

    again = acme_api.put(f"fulfillments/{work.pk}/setStatus", answer)

    assert (again.status_code, again.json()["code"]) == (200, "unchanged")


def test_each_new_state_of_an_order_is_one_event_for_its_retailer(
    work, an_order_at_acme, acme_api, shop_api, change_it
):
    acme_api.put(status(work, "wrong_address"))
    acme_api.put(status(work, "wrong_address"))
    change_it(an_order_at_acme, correct_address, NEW_STREET)
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "A", "lines": [line_units(work, "LAMP", 1)]})
    acme_api.put(status(work, "shipped"), {"tracking_number": "B"})
    acme_api.put(status(work, "shipped"), {"tracking_number": "B"})

    states = ("order.processing", "order.exception", "order.completed", "order.canceled")
    events = shop_api.get("events", {"type": ",".join(states)}).json()["results"]
    assert [(each["type"], each["data"]) for each in events] == [
        ("order.exception", {"processing_state": "exception", "previous_state": "received"}),
        ("order.processing", {"processing_state": "processing", "previous_state": "received"}),
        ("order.completed", {"processing_state": "completed", "previous_state": "partially_shipped"}),
    ]
    assert all(each["order_id"] == an_order_at_acme.pk for each in events)
    assert types_of(acme_api, "order.") == []


def test_a_canceled_order_is_an_event_for_its_retailer(acme, a_variant, push, shop_api):
    a_variant(acme, "LAMP")
    order = push({"sku": "LAMP", "quantity": 1}, when_short="wait")

    for _ in range(2):
        shop_api.post(f"orders/{order.pk}/cancel")

    assert types_of(shop_api, "order.")[-2:] == ["order.cancel_requested", "order.canceled"]


def test_a_repeated_cancel_is_unchanged_although_the_order_is_completed(
    acme, a_variant, push, work_of, acme_api, shop_api
):
    a_variant(acme, "LAMP", stock=1)
    order = push({"sku": "LAMP", "quantity": 2}, when_short="wait")
    work = work_of(order, acme)
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "A"})

    codes = [shop_api.post(f"orders/{order.pk}/cancel").json()["code"] for _ in range(2)]

    assert codes == ["cancel_requested", "unchanged"]
    assert Event.objects.latest("id").type == "order.completed"
