"""Each waiting order is notified of a changed restock date once, also after a failed or unfinished run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError

from events.models import Event
from inventory import expecting
from inventory.models import ExpectedStock
from orders.backorders import announcing
from orders.models import Order
from tests.orders.push_bodies import an_order

SOON, LATER = (datetime.now(UTC).date() + timedelta(days=days) for days in (7, 14))


@pytest.fixture
def orders(acme, a_variant, shop, client_for):
    """Push three orders of Shop that wait for a lamp; return their ids."""
    a_variant(acme, "LAMP", stock=0)
    body = [an_order({"sku": "LAMP", "quantity": 1}, when_short="wait") for _ in range(3)]
    return [client_for(shop).post("orders", each).json()["order_id"] for each in body]


@pytest.fixture
def expect(acme, orders):
    """Return a function that stores a restock date of the lamp without notifying anyone."""

    def store(day):
        lamp, warehouse = acme.variants.get(sku="LAMP"), acme.warehouses.get(is_default=True)
        expecting.expect({(lamp.pk, warehouse.pk): day})

    return store


@pytest.fixture
def failing(monkeypatch):
    """Return the ids of orders that cannot be changed now."""
    ids: set[int] = set()
    change = Order.change

    def fail(order, **fields):
        if order.pk in ids:
            raise OperationalError("canceling statement due to lock timeout")
        return change(order, **fields)

    monkeypatch.setattr(Order, "change", fail)
    return ids


def notified() -> list[int | None]:
    events = Event.objects.filter(type=announcing.STOCK_EXPECTED)
    return [*events.order_by("id").values_list("order_id", flat=True)]


def test_an_order_that_could_not_be_notified_is_notified_by_the_next_run(orders, expect, failing):
    expect(SOON)
    failing.add(orders[1])
    assert not announcing.announce_all(seconds=60)
    assert notified() == [orders[0], orders[2]]
    assert not ExpectedStock.objects.get().is_announced

    failing.clear()
    assert announcing.announce_all(seconds=60)
    assert notified() == [orders[0], orders[2], orders[1]]
    assert ExpectedStock.objects.get().is_announced


def test_an_unfinished_run_is_continued_without_repeating_events(orders, expect, monkeypatch):
    expect(SOON)
    clock = iter([0.0, 1.0, 2.0, 61.0])
    with monkeypatch.context() as slow:
        slow.setattr(announcing, "monotonic", lambda: next(clock))
        assert not announcing.announce_all(seconds=60)
    assert notified() == orders[:2]

    assert announcing.announce_all(seconds=60)
    assert notified() == orders


def test_a_date_that_changes_back_is_announced_again(orders, expect):
    for day in (SOON, LATER, SOON):
        expect(day)
        announcing.announce_all(seconds=60)

    assert notified() == orders * 3


def test_two_runs_at_once_notify_an_order_once(orders, expect, monkeypatch):
    expect(SOON)
    original = announcing._announce_to

    def announce_twice(order_id, line_ids):
        original(order_id, line_ids)
        return original(order_id, line_ids)

    monkeypatch.setattr(announcing, "_announce_to", announce_twice)
    announcing.announce_all(seconds=60)

    assert notified() == orders


def test_rows_behind_a_failed_page_are_announced(
    acme, orders, expect, failing, monkeypatch, a_variant, shop, client_for
):
    monkeypatch.setattr(announcing, "CHANGED", announcing.CHANGED.replace("LIMIT 500", "LIMIT 1"))
    a_variant(acme, "RUG", stock=0)
    body = an_order({"sku": "RUG", "quantity": 1}, when_short="wait")
    rug = client_for(shop).post("orders", body).json()["order_id"]
    expect(SOON)
    warehouse = acme.warehouses.get(is_default=True)
    expecting.expect({(acme.variants.get(sku="RUG").pk, warehouse.pk): SOON})
    failing.update(orders)

    assert not announcing.announce_all(seconds=60)
    assert notified() == [rug]
