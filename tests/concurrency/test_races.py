"""Two at once: with the locks one legal history; without them, the race is really there."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, transaction

from accounts.actors import Actor, ActorKind
from fulfillments.models import Fulfillment, Outcome
from fulfillments.states import State
from inventory.models import StockLevel
from inventory.reservations import LockedStock
from orders import services
from orders.canceling import request_cancelation
from orders.models import Order
from orders.reconciling import differences
from orders.serializers import OrderBody
from orders.services import push
from tests.interleaving import meeting_after, race, waiting
from tests.orders.push_bodies import an_order

pytestmark = pytest.mark.django_db(transaction=True)

SHOP_KEY = Actor(ActorKind.RETAILER, "key:shop")
ACME_KEY = Actor(ActorKind.SUPPLIER, "key:acme")


def pushed(retailer, *lines, **fields):
    body = OrderBody(data=an_order(*lines, **fields))
    body.is_valid(raise_exception=True)
    return push(retailer, body.validated_data, by=SHOP_KEY)


def fresh(fulfillment):
    return Fulfillment.objects.select_related("order").get(pk=fulfillment.pk)


def moved(fulfillment, move, **fields):
    """What came of Acme's move, on copies of its own of the fulfillment and the order."""
    copy = fresh(fulfillment)
    with copy.order.change(by=ACME_KEY) as change:
        return move(copy, change, **fields)


@pytest.mark.parametrize(("locking", "sold"), [(True, 1), (False, 2)])
def test_the_last_piece_is_sold_once(acme, shop, a_variant, locking, sold):
    a_variant(acme, "LAST", stock=1)
    acme.partnerships.update(refuse_short_orders=True)

    def buy():
        return pushed(shop, {"sku": "LAST", "quantity": 1}).created

    with meeting_after(services, "plan", locking=locking):
        outcomes = race(buy, buy)

    assert outcomes.count(True) == sold
    assert Order.objects.count() == sold
    if locking:
        assert "insufficient_stock" in outcomes
        assert StockLevel.objects.get().reserved == 1
        assert list(differences()) == []


def test_the_same_order_twice_at_once_is_one_order(acme, shop, a_variant):
    a_variant(acme, "A-1", stock=9)
    line = {"sku": "A-1", "quantity": 1}

    with meeting_after(services, "_order", parties=4):
        outcomes = race(*[lambda: pushed(shop, line, retailer_order_id="TWIN")] * 4)

    assert sorted(each.created for each in outcomes) == [False, False, False, True]
    assert len({each.order.pk for each in outcomes}) == 1
    assert StockLevel.objects.get().reserved == 1


@pytest.mark.parametrize(("locking", "legal"), [(True, True), (False, False)])
def test_a_cancelation_and_a_shipment_cross_with_one_winner(acme, shop, a_variant, locking, legal):
    a_variant(acme, "A-1", stock=5)
    order = pushed(shop, {"sku": "A-1", "quantity": 2}).order
    fulfillment = order.fulfillments.get()
    moved(fulfillment, Fulfillment.accept)

    def ship():
        return moved(fulfillment, Fulfillment.ship, tracking_number="T1").value

    def cancel():
        with Order.objects.get(pk=order.pk).change(by=SHOP_KEY) as change:
            request_cancelation(change)
        return "cancel_requested"

    with meeting_after(Fulfillment, "_reread", locking=locking):
        outcomes = race(ship, cancel)

    won = [each for each in outcomes if each in ("done", "cancel_requested")]
    assert (len(won) == 1) is legal
    if legal:
        assert outcomes.count("invalid_transition") == 1
        expected = State.SHIPPED if won == ["done"] else State.CANCELING
        assert fresh(fulfillment).state == expected
        assert list(differences()) == []


@pytest.mark.parametrize("locking", [True, False])
def test_two_rejections_at_once_give_stock_back_once(acme, rival, shop, a_variant, locking):
    a_variant(acme, "A-1", stock=5, upc="036000291452", wholesale_price=1)
    a_variant(rival, "B-1", stock=5, upc="036000291452", wholesale_price=2)
    order = pushed(shop, {"upc": "036000291452", "quantity": 2}).order
    fulfillment = order.fulfillments.get()

    def reject():
        return moved(fulfillment, Fulfillment.reject, reason=State.MISSING_SKU)

    with meeting_after(Fulfillment, "_reread", locking=locking):
        outcomes = race(reject, reject)

    if locking:
        assert sorted(each.value for each in outcomes) == ["done", "unchanged"]
        assert order.fulfillments.count() == 2
        assert list(differences()) == []
    else:  # both go ahead; only the database's own constraint is left to say no
        assert Outcome.UNCHANGED not in outcomes


def test_a_missing_sku_and_a_push_of_it_do_not_deadlock(acme, shop, a_variant):
    """The refusal has the variant and waits for stock; the push has the stock and refers to the variant."""
    variant = a_variant(acme, "A-1", stock=5)
    fulfillment = pushed(shop, {"sku": "A-1", "quantity": 2}).order.fulfillments.get()

    def reject():
        return moved(fulfillment, Fulfillment.reject, reason=State.MISSING_SKU).value

    def hold_stock_and_refer():
        with transaction.atomic():
            LockedStock.lock([variant.pk], by=Actor.system("test"))
            held.set()
            waiting(1)
            with connection.cursor() as cursor:  # as the foreign key of a fulfillment's line does
                cursor.execute("SELECT FROM catalog_variant WHERE id = %s FOR KEY SHARE", [variant.pk])
        return "pushed"

    held = threading.Event()
    assert race(lambda: held.wait(20) and reject(), hold_stock_and_refer) == ["done", "pushed"]
