"""Time limits of a partnership: overdue work is reported, and unanswered cancellations are answered."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Partnership
from events.models import Event
from fulfillments.models import Fulfillment
from fulfillments.tasks import answer_cancelations
from orders.models import Order
from orders.reconciling.reconciling import differences
from orders.services import hold, release
from tests.orders.fixtures import OPERATOR
from tests.orders.push_bodies import an_order


@pytest.fixture
def retailer(shop, client_for):
    return client_for(shop)


@pytest.fixture
def supplier(acme, client_for):
    return client_for(acme)


def limits(acme, **limits):
    Partnership.objects.filter(supplier=acme).update(**limits)


def later(**delta):
    """Make all deadlines of all fulfillments earlier, as if this time had passed."""
    for fulfillment in Fulfillment.objects.all():
        for name in ("due_at", "capture_due_at"):
            moment = getattr(fulfillment, name)
            if moment:
                Fulfillment.objects.filter(pk=fulfillment.pk).update(**{name: moment - timedelta(**delta)})


def captured(supplier):
    [work] = supplier.get("fulfillments").json()
    return work


def test_work_that_is_not_accepted_in_time_is_overdue(acme, retailer, supplier, a_variant):
    a_variant(acme, "A-1", stock=3)
    limits(acme, hours_to_accept=4)
    retailer.post("orders", an_order({"sku": "A-1", "quantity": 1}))

    assert captured(supplier)["overdue"] is False
    later(hours=4)
    assert captured(supplier)["overdue"] is True
    assert Fulfillment.objects.overdue().count() == 1

    supplier.put(f"fulfillments/{captured(supplier)['id']}/setStatus/accepted", {})
    assert captured(supplier)["overdue"] is False
    assert not Fulfillment.objects.overdue().exists()


def test_work_that_is_not_captured_in_time_is_overdue(acme, retailer, supplier, a_variant):
    a_variant(acme, "A-1", stock=3)
    limits(acme, hours_to_capture=1)
    retailer.post("orders", an_order({"sku": "A-1", "quantity": 1}))
    later(hours=2)

    assert Fulfillment.objects.overdue().count() == 1
    captured(supplier)
    assert not Fulfillment.objects.overdue().exists()


def test_work_that_returns_with_a_corrected_address_has_a_new_time_limit_to_capture(
    acme, retailer, supplier, a_variant
):
    a_variant(acme, "A-1", stock=3)
    limits(acme, hours_to_capture=1)
    order = retailer.post("orders", an_order({"sku": "A-1", "quantity": 1})).json()["order_id"]
    supplier.put(f"fulfillments/{Fulfillment.objects.get().pk}/setStatus/wrong_address")
    later(hours=2)

    address = {"country": "US", "address1": "9 New Street"}
    assert retailer.request("PATCH", f"orders/{order}", {"shipping_address": address}).status_code == 200

    assert Fulfillment.objects.get().state == "new"
    assert not Fulfillment.objects.overdue().exists()


def test_ship_until_counts_to_the_end_of_its_day(acme, retailer, supplier, a_variant):
    a_variant(acme, "A-1", stock=3)
    today = timezone.now().date()
    retailer.post("orders", an_order({"sku": "A-1", "quantity": 1}, ship_until=today.isoformat()))

    work = captured(supplier)
    assert work["due_at"] == f"{today + timedelta(days=1)}T00:00:00.000000Z"
    assert work["overdue"] is False
    later(days=1)
    assert captured(supplier)["overdue"] is True


def test_held_work_is_not_overdue_but_a_cancelation_is(acme, retailer, supplier, a_variant):
    """Held work cannot be done, but a cancelation still waits for its answer."""
    a_variant(acme, "A-1", stock=3)
    limits(acme, hours_to_accept=4, hours_to_answer=4)
    number = retailer.post("orders", an_order({"sku": "A-1", "quantity": 1})).json()["order_id"]
    work, order = captured(supplier), Order.objects.get()
    with order.change(by=OPERATOR) as change:
        hold(change)
    later(hours=5)

    assert supplier.get(f"fulfillments/{work['id']}").json()["overdue"] is False
    assert not Fulfillment.objects.overdue().exists()

    retailer.post(f"orders/{number}/cancel")
    later(hours=5)
    assert captured(supplier)["overdue"] is True
    assert Fulfillment.objects.overdue().count() == 1


def test_a_released_fulfillment_has_its_full_time_limit_again(acme, retailer, supplier, a_variant):
    a_variant(acme, "A-1", stock=3)
    limits(acme, hours_to_capture=1, hours_to_accept=4)
    retailer.post("orders", an_order({"sku": "A-1", "quantity": 1}))
    order = Order.objects.get()
    with order.change(by=OPERATOR) as change:
        hold(change)
    later(hours=5)
    with order.change(by=OPERATOR) as change:
        release(change)

    assert not Fulfillment.objects.overdue().exists()
    later(hours=3)
    assert Fulfillment.objects.overdue().count() == 1  # the time limit for the capture has passed
    assert captured(supplier)["overdue"] is False
    later(hours=2)
    assert captured(supplier)["overdue"] is True


@pytest.mark.parametrize(
    ("default", "state"),
    [("approve", "canceled"), ("refuse", "cancelation not allowed"), ("wait", "canceling")],
)
def test_an_unanswered_cancelation_gets_the_partnerships_answer(
    acme, retailer, supplier, a_variant, default, state
):
    a_variant(acme, "A-1", stock=3)
    limits(acme, hours_to_answer=24, cancelation_default=default)
    order = retailer.post("orders", an_order({"sku": "A-1", "quantity": 1})).json()["order_id"]
    retailer.post(f"orders/{order}/cancel")

    assert answer_cancelations() == 0
    later(hours=25)
    assert answer_cancelations() == (0 if default == "wait" else 1)

    assert captured(supplier)["fulfillment_state"] == state
    if default != "wait":
        assert Event.objects.latest("id").actor == "system:cancelation time limit"
    # Ignore differences of time limits: `later` changes time limits without an event in the history.
    assert [each for each in differences() if each.check != "time limit"] == []


def test_a_cancellation_that_cannot_be_answered_delays_no_other(acme, retailer, a_variant, monkeypatch):
    limits(acme, hours_to_answer=1, cancelation_default="approve")
    a_variant(acme, "A-1", stock=3)
    for _ in range(2):
        order = retailer.post("orders", an_order({"sku": "A-1", "quantity": 1})).json()["order_id"]
        retailer.post(f"orders/{order}/cancel")
    later(hours=1)
    broken = Fulfillment.objects.earliest("pk")
    answer = Fulfillment.answer_by_default

    def fails_once(work, change):
        if work == broken:
            raise RuntimeError("a fault of ours")
        return answer(work, change)

    monkeypatch.setattr(Fulfillment, "answer_by_default", fails_once)

    assert answer_cancelations() == 1
    states = Fulfillment.objects.order_by("pk").values_list("state", flat=True)
    assert list(states) == ["canceling", "canceled"]


def test_an_answer_in_time_is_final(acme, retailer, supplier, a_variant):
    a_variant(acme, "A-1", stock=3)
    limits(acme, hours_to_answer=24, cancelation_default="approve")
    order = retailer.post("orders", an_order({"sku": "A-1", "quantity": 1})).json()["order_id"]
    retailer.post(f"orders/{order}/cancel")
    path = f"fulfillments/{captured(supplier)['id']}/setStatus"
    supplier.put(path, {"status": "cancelation not allowed"})
    later(hours=25)

    assert answer_cancelations() == 0
    assert captured(supplier)["fulfillment_state"] == "cancelation not allowed"
