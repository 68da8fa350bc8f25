"""Concurrent cancel requests, and a request for more units during the supplier's answer (contract 13)."""

from __future__ import annotations

from functools import partial

import pytest

from events.models import Event
from fulfillments.models import Fulfillment
from orders import canceling
from orders.models import Order
from tests.concurrency.test_pairs import at_once, hands  # noqa: F401 - a fixture
from tests.concurrency.test_storm import a_client
from tests.interleaving import meeting_after, race
from tests.orders.fixtures import status
from tests.orders.invariants import violations
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.race]


@pytest.fixture
def shop_api(shop):
    return a_client(shop)


@pytest.fixture
def order(acme, a_variant, shop_api):
    """Create an order of four lamps that Acme has accepted."""
    a_variant(acme, "LAMP", stock=9)
    answer = shop_api.post("orders", an_order({"sku": "LAMP", "quantity": 4}))
    found = Order.objects.get(pk=answer.json()["order_id"])
    a_client(acme).put(status(found.fulfillments.get(), "accepted"))
    return found


def ask(api, order, quantity=None, **fields):
    lines = {"lines": [{"sku": "LAMP", "quantity": quantity}]} if quantity else {}
    answer = api.post(f"orders/{order.pk}/cancel", lines | fields)
    return answer.status_code, answer.json()["code"]


def requested_and_canceled(order):
    """Return the units whose cancellation is requested, and the canceled units."""
    [line] = Fulfillment.objects.get(order=order).lines.all()
    return line.cancel_requested, line.canceled


@pytest.mark.parametrize("locking", [True, False])
def test_one_cancel_id_at_once_is_carried_out_once(locking, order, shop_api):
    """Without locks, only the table's constraint remains, and it makes the second request fail."""
    with meeting_after(canceling, "_known", locking=locking):
        outcomes = race(*[partial(ask, shop_api, order, 1, cancel_id="C-1")] * 2)

    if locking:
        assert sorted(outcomes) == [(200, "cancel_requested"), (200, "unchanged")]
    else:
        assert (200, "unchanged") not in outcomes
    assert requested_and_canceled(order) == (1, 0)
    assert Event.objects.filter(type="order.cancel_requested").count() == 1


def test_two_cancel_ids_at_once_add_up(order, shop_api):
    with meeting_after(canceling, "_known"):
        outcomes = race(*[partial(ask, shop_api, order, 1, cancel_id=f"C-{each}") for each in range(2)])

    assert outcomes == [(200, "cancel_requested")] * 2
    assert requested_and_canceled(order) == (2, 0)


@pytest.mark.parametrize("answer", ["canceled", "cancelation not allowed"])
def test_a_wider_request_during_the_answer_loses_no_unit(
    answer,
    order,
    shop_api,
    acme,
    hands,  # noqa: F811
):
    """The request and the answer both wait for the order's lock.

    Whichever runs first, only units whose cancellation was requested are canceled.
    """
    ask(shop_api, order, 1)
    work, supplier = Fulfillment.objects.get(order=order), a_client(acme)

    def answers():
        return supplier.put(status(work), {"status": answer}).json()["code"]

    more, answered = at_once(hands, order.pk, partial(ask, shop_api, order, 3), answers)

    assert (more, answered) == ((200, "cancel_requested"), answer.replace(" ", "_"))
    before = Event.objects.filter(type="fulfillment.cancelation_requested", from_state="canceling").exists()
    if before:  # the answer was for three units
        assert requested_and_canceled(order) == ((0, 3) if answer == "canceled" else (0, 0))
    else:  # the answer was for one unit, and the request for three came after it
        assert requested_and_canceled(order) == ((3, 1) if answer == "canceled" else (3, 0))
    assert violations() == []
