"""Stock arrives while orders are pushed. Older orders get it first, and nothing is sold twice."""

from __future__ import annotations

from functools import partial
from threading import Event, Lock

import pytest
from django.db.models import Sum

from fulfillments.models import FulfillmentLine
from inventory.models import StockLevel, Warehouse
from orders.backorders.allocating import allocate_all
from orders.models import Order
from tests.client import ApiClient
from tests.factories import IssuedKeyFactory
from tests.interleaving import race
from tests.orders.invariants import violations
from tests.orders.push_bodies import ADDRESS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.race]

ORDERS, UNITS = 24, 40


def a_client(party):
    _, secret = IssuedKeyFactory.create(party=party, rate_limit="off")
    return ApiClient(secret, f"/v3/{party.role}s/{party.pk}")


@pytest.fixture
def count(acme, a_variant):
    """Return a function that pushes a count of Acme's lamps."""
    a_variant(acme, "LAMP", stock=0)
    east, api = Warehouse.objects.get(supplier=acme, is_default=True), a_client(acme)

    def push(units):
        body = {"warehouse_id": east.pk, "id_type": "sku", "inventories": [{"id": "LAMP", "amount": units}]}
        answer = api.post("inventory", body)
        assert answer.status_code == 200, answer.content

    return push


@pytest.fixture
def buy(shop):
    api, lock, number = a_client(shop), Lock(), iter(range(1_000))

    def push(quantity, **fields):
        with lock:  # push one order at a time, so that an order with a lower number is older
            body = {
                "retailer_order_id": f"R-{next(number)}",
                "shipping_address": ADDRESS,
                "order_lines": [{"sku": "LAMP", "quantity": quantity}],
            }
            answer = api.post("orders", body | fields)
            assert answer.status_code == 201, answer.content

    return push


def filled() -> list[tuple[int, int]]:
    """Return the ordered and the reserved units of each order, oldest first."""
    reserved = dict(FulfillmentLine.objects.values_list("fulfillment__order").annotate(units=Sum("reserved")))
    lines = Order.objects.order_by("pk").values_list("pk", "lines__quantity")
    return [(wanted, reserved.get(pk, 0)) for pk, wanted in lines]


def expected(units: int, wanted: list[int]) -> list[tuple[int, int]]:
    """Return the ordered and reserved units of the orders if the oldest orders get the units first."""
    shares = []
    for each in wanted:
        shares.append((each, min(each, units)))
        units -= shares[-1][1]
    return shares


@pytest.mark.parametrize("when_short", ["ship_partial", "wait"])
def test_the_oldest_order_gets_stock_first_under_concurrency(count, buy, when_short):
    done = Event()

    def buying():
        for number in range(ORDERS):
            buy(1 + number % 3, when_short=when_short)

    def counting():
        try:
            for units in range(1, UNITS + 1):
                count(units)
        finally:
            done.set()

    def sweeping():
        while not done.is_set():
            allocate_all(None, seconds=5)

    race(buying, counting, sweeping, sweeping)
    allocate_all(None, seconds=20)

    wanted = [quantity for quantity, _ in filled()]
    assert sum(wanted) > UNITS
    assert filled() == expected(UNITS, wanted)
    assert StockLevel.objects.values_list("on_hand", "reserved").get() == (UNITS, UNITS)
    assert violations() == []


def test_two_concurrent_equal_counts_reserve_the_stock_once(count, buy):
    for _ in range(3):
        buy(2)

    race(lambda: count(3), lambda: count(3))

    assert filled() == [(2, 2), (2, 1), (2, 0)]
    assert violations() == []


@pytest.mark.parametrize("when_short", ["ship_partial", "wait"])
def test_a_new_order_never_overtakes_a_waiting_one(count, buy, when_short):
    """The new order may be pushed before, during or after the push of the stock."""
    for stock in range(0, 20, 4):
        buy(2, when_short=when_short)

        race(partial(count, stock + 2), partial(buy, 2, when_short=when_short))
        allocate_all(None, seconds=20)

        *_, waiting, new = filled()
        assert (waiting, new) == ((2, 2), (2, 0))
        count(stock + 4)
        assert {missing for wanted, reserved in filled() if (missing := wanted - reserved)} == set()
