"""Units wait until the order's `ship_until` or for the partnership's days. The size of a line is limited."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from events.models import Event
from orders.backorders import waits
from orders.models import Order
from orders.reconciling.reconciling import differences
from orders.tasks import end_waits
from tests.orders.fixtures import order_state
from tests.orders.push_bodies import an_order


@pytest.fixture
def waiting(acme, a_variant, push):
    """Return a function that pushes an order of five lamps, of which two are in stock and three wait."""
    a_variant(acme, "LAMP", stock=2)

    def push_(**fields) -> Order:
        order: Order = push({"sku": "LAMP", "quantity": 5}, when_short="wait", **fields)
        return order

    return push_


def counts(order: Order) -> tuple[int, int, int]:
    """Return the open, waiting and canceled units of the order's line."""
    line = order.lines.get()
    return line.open, line.waiting, line.canceled


def aged(order: Order, days: int) -> None:
    Order.objects.filter(pk=order.pk).update(created_at=timezone.now() - timedelta(days=days))


def test_waiting_units_are_canceled_after_the_day_of_ship_until(waiting, shop_api):
    today = timezone.now().date()
    order, late = waiting(ship_until=today.isoformat()), waiting(ship_until=today.isoformat())
    Order.objects.filter(pk=late.pk).update(ship_until=today - timedelta(days=1))

    end_waits()

    assert counts(order) == (2, 3, 0)
    assert counts(late) == (0, 0, 5)
    assert order_state(late) == "canceled"
    event = Event.objects.get(type="order.wait_ended")
    assert (event.order_id, event.retailer_id) == (late.pk, late.retailer_id)
    assert event.data["reason"] == "ship_until"
    assert event.data["items"] == [{"order_line_id": late.lines.get().pk, "quantity": 5}]
    assert event.actor == "system:wait limit"
    assert not list(differences())


def test_units_go_on_waiting_if_ship_until_was_moved_after_the_query(waiting, shop_api, monkeypatch):
    order = waiting(ship_until=timezone.now().date().isoformat())
    Order.objects.filter(pk=order.pk).update(ship_until=timezone.now().date() - timedelta(days=1))

    def ended():
        found = [*waits_ended()]
        later = {"ship_until": (timezone.now() + timedelta(days=9)).date().isoformat()}
        assert shop_api.request("PATCH", f"orders/{order.pk}", later).status_code == 200
        return found

    waits_ended = waits._ended
    monkeypatch.setattr(waits, "_ended", ended)
    end_waits()

    assert counts(order) == (2, 3, 0)


def test_units_with_a_supplier_stay_when_the_rest_is_canceled(waiting, shop):
    shop.partnerships.update(max_wait_days=3)
    order = waiting()
    aged(order, 3)

    end_waits()
    end_waits()

    assert counts(order) == (2, 0, 3)
    assert order_state(order) == "received"
    assert Event.objects.get(type="order.wait_ended").data["reason"] == "max_wait_days"


def test_without_a_limit_units_wait_forever(waiting):
    order = waiting()
    aged(order, 3_000)
    end_waits()
    assert counts(order) == (2, 3, 0)


def test_a_line_waits_as_long_as_any_of_its_partners_allows(waiting, acme, rival, shop, a_variant):
    a_variant(rival, "LAMP", stock=0)
    shop.partnerships.filter(supplier=acme).update(max_wait_days=3)
    shop.partnerships.filter(supplier=rival).update(max_wait_days=9)
    order = waiting()
    aged(order, 4)
    end_waits()
    assert counts(order) == (2, 3, 0)
    aged(order, 9)
    end_waits()
    assert counts(order) == (2, 0, 3)


def test_refused_units_are_left_to_the_operator(waiting, acme, acme_api, work_of):
    order = waiting()
    acme_api.put(f"fulfillments/{work_of(order, acme).pk}/setStatus/out_of_stock")
    Order.objects.filter(pk=order.pk).update(ship_until=timezone.now().date() - timedelta(days=1))

    end_waits()

    assert (order.lines.get().rejected, order.lines.get().canceled) == (2, 3)
    assert order_state(order) == "exception"


# --- The size of a line --------------------------------------------------------------------------


def test_a_line_may_have_as_many_units_as_the_partnership_allows(acme, a_variant, shop_api):
    a_variant(acme, "LAMP", stock=5)
    assert shop_api.post("orders", an_order({"sku": "LAMP", "quantity": 100_000})).status_code == 201

    answer = shop_api.post("orders", an_order({"sku": "LAMP", "quantity": 100_001}))

    assert answer.status_code == 400
    [error] = answer.json()["errors"]
    assert error["field"] == "order_lines[0].quantity"
    assert error["message"] == "An order may have at most 100000 units of LAMP, not 100001."


def test_lines_of_the_same_variant_are_counted_together(acme, shop, a_variant, shop_api):
    a_variant(acme, "LAMP", stock=5)
    shop.partnerships.update(max_units_per_line=10)
    answer = shop_api.post("orders", an_order({"sku": "LAMP", "quantity": 6}, {"sku": "LAMP", "quantity": 5}))
    assert [error["field"] for error in answer.json()["errors"]] == ["order_lines[1].quantity"]
    assert not Order.objects.exists()


def test_a_supplier_with_a_smaller_limit_is_no_candidate(acme, rival, shop, a_variant, push):
    a_variant(acme, "LAMP", stock=50, wholesale_price=1)
    a_variant(rival, "LAMP", stock=50, wholesale_price=2)
    shop.partnerships.filter(supplier=acme).update(max_units_per_line=10)
    order = push({"sku": "LAMP", "quantity": 11})
    assert order.fulfillments.get().supplier == rival
