"""Concurrent changes have the same result as changes one after another.

Some tests also run without the locks (`locking=False`), to prove that the race exists.
"""

from __future__ import annotations

import threading
from unittest import mock

import pytest
from django.db import connection, transaction

import fulfillments.services
from accounts.actors import Actor, ActorKind
from accounts.models import Partnership
from fulfillments.models import Fulfillment, MoveOutcome
from fulfillments.states import State
from inventory.models import StockLevel, StockMovement
from inventory.reservations import LockedStock
from inventory.seen_stock import SeenStock
from orders import pushing
from orders.canceling import request_cancelation
from orders.models import Order
from orders.push_body import OrderBody
from orders.pushing import push
from orders.reconciling.reconciling import differences
from tests.interleaving import meeting_after, race, waiting
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.race]

SHOP_KEY = Actor(ActorKind.RETAILER, "key:shop")
ACME_KEY = Actor(ActorKind.SUPPLIER, "key:acme")


def pushed(retailer, *lines, reopen=False, **fields):
    body = OrderBody(data=an_order(*lines, **fields))
    body.is_valid(raise_exception=True)
    return push(retailer, body.validated_data, by=SHOP_KEY, reopen=reopen)


def fresh(fulfillment):
    return Fulfillment.objects.select_related("order").get(pk=fulfillment.pk)


def moved(fulfillment, move, **fields):
    """Run a move of Acme on fresh copies of the fulfillment and the order, and return its result."""
    copy = fresh(fulfillment)
    with copy.order.change(by=ACME_KEY) as change:
        return move(copy, change, **fields)


def locked_at_once(*variants):
    """Lock the stock levels of these variants and return their number.

    Raises OperationalError without waiting if another session has locked one of them.
    """
    rows = StockLevel.objects.filter(variant__in=variants)
    with transaction.atomic():
        return len(rows.select_for_update(of=("self",), nowait=True))


@pytest.mark.parametrize(("locking", "sold"), [(True, 1), (False, 2)])
def test_the_last_unit_is_sold_once(acme, shop, a_variant, locking, sold):
    a_variant(acme, "LAST", stock=1)
    acme.partnerships.update(refuse_short_orders=True)

    def buy():
        return pushed(shop, {"sku": "LAST", "quantity": 1}).created

    with meeting_after(pushing, "plan", locking=locking):
        outcomes = race(buy, buy)

    assert outcomes.count(True) == sold
    assert Order.objects.count() == sold
    if locking:
        assert "insufficient_stock" in outcomes
        assert StockLevel.objects.get().reserved == 1
        assert list(differences()) == []


def test_a_plan_is_made_and_stored_without_locking_the_stock(acme, shop, a_variant):
    lamp, rug = a_variant(acme, "LAMP", stock=5), a_variant(acme, "RUG", stock=5)
    keep, others = fulfillments.services.save_routing_decision, []

    def kept_while_others_come(*args, **kwargs):
        keep(*args, **kwargs)
        [other] = race(lambda: locked_at_once(lamp, rug))
        others.append(other)

    with mock.patch.object(pushing, "save_routing_decision", kept_while_others_come):
        pushed(shop, {"sku": "LAMP", "quantity": 1}, {"sku": "RUG", "quantity": 1})

    assert others == [2]
    assert set(StockLevel.objects.values_list("reserved", flat=True)) == {1}


def test_an_order_whose_planned_stock_was_taken_is_planned_again(acme, rival, shop, a_variant):
    """Contract 4: nothing is oversold, and the plan is the best for the remaining stock."""
    a_variant(acme, "A-1", upc="036000291452", stock=2, wholesale_price=1)
    lamp = a_variant(acme, "LAMP", stock=5)
    a_variant(rival, "B-1", upc="036000291452", stock=2, wholesale_price=2)

    def buy():
        line, other = {"upc": "036000291452", "quantity": 2}, {"sku": "LAMP", "quantity": 1}
        return pushed(shop, line, other).order.pk

    with meeting_after(pushing, "plan"):
        orders = race(buy, buy)

    places = [
        sorted(Order.objects.get(pk=pk).fulfillments.values_list("supplier__name", flat=True))
        for pk in orders
    ]
    assert sorted(places) == sorted([[acme.name], sorted([acme.name, rival.name])])
    levels = StockLevel.objects.values_list("variant__sku", "reserved")
    assert dict(levels) == {"A-1": 2, "B-1": 2, "LAMP": 2}
    assert list(differences()) == []
    movements = StockMovement.objects.filter(variant_id=lamp.pk, kind="reserve").order_by("pk")
    assert [(each.reserved_change, each.reserved) for each in movements] == [(1, 1), (1, 2)]


def test_a_short_order_does_not_miss_stock_that_arrives_while_it_plans(acme, shop, a_variant):
    """A push of stock reserves units for the orders that already wait.

    The push cannot see an order that is not committed, so the order itself must look for the new stock.
    """
    lamp, look = a_variant(acme, "LAMP", stock=1), SeenStock.read

    def seen_before_stock_came(*args, **kwargs):
        seen = look(*args, **kwargs)
        race(lambda: StockLevel.objects.filter(variant=lamp).update(on_hand=3))
        return seen

    with mock.patch.object(SeenStock, "read", seen_before_stock_came):
        order = pushed(shop, {"sku": "LAMP", "quantity": 3}).order

    assert order.lines.get().reserved == 3


def test_two_concurrent_pushes_of_the_same_order_create_one_order(acme, shop, a_variant):
    a_variant(acme, "A-1", stock=9)
    line = {"sku": "A-1", "quantity": 1}

    with meeting_after(pushing, "_order", parties=4):
        outcomes = race(*[lambda: pushed(shop, line, retailer_order_id="TWIN")] * 4)

    assert sorted(each.created for each in outcomes) == [False, False, False, True]
    assert len({each.order.pk for each in outcomes}) == 1
    assert StockLevel.objects.get().reserved == 1


def test_concurrent_pushes_that_reopen_a_number_create_one_new_order(acme, shop, a_variant):
    a_variant(acme, "A-1", stock=9)
    line = {"sku": "A-1", "quantity": 1}
    Partnership.objects.update(cancel_before_capture="at_once")
    first = pushed(shop, line, retailer_order_id="TWIN").order
    with first.change(by=SHOP_KEY) as change:
        request_cancelation(change)

    with meeting_after(pushing, "_next_generation", parties=4):
        outcomes = race(*[lambda: pushed(shop, line, retailer_order_id="TWIN", reopen=True)] * 4)

    assert sorted(each.created for each in outcomes) == [False, False, False, True]
    assert {each.order.pk for each in outcomes} == {Order.objects.exclude(pk=first.pk).get().pk}
    assert StockLevel.objects.get().reserved == 1


@pytest.mark.parametrize(("locking", "legal"), [(True, True), (False, False)])
def test_of_a_concurrent_cancellation_and_shipment_only_one_succeeds(acme, shop, a_variant, locking, legal):
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
def test_two_concurrent_rejections_release_the_stock_once(acme, rival, shop, a_variant, locking):
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
    else:  # both calls continue, and only a constraint of the database refuses the second rejection
        assert MoveOutcome.UNCHANGED not in outcomes


def test_a_missing_sku_and_a_concurrent_order_of_it_do_not_deadlock(acme, shop, a_variant):
    """The rejection has locked the variant and waits for its stock. The push has locked the stock, and its
    new line refers to the variant.
    """
    variant = a_variant(acme, "A-1", stock=5)
    fulfillment = pushed(shop, {"sku": "A-1", "quantity": 2}).order.fulfillments.get()

    def reject():
        return moved(fulfillment, Fulfillment.reject, reason=State.MISSING_SKU).value

    def hold_stock_and_refer():
        with transaction.atomic():
            LockedStock.lock([variant.pk], by=Actor.system("test"))
            held.set()
            waiting(1)
            with connection.cursor() as cursor:  # the foreign key of a new fulfillment line takes this lock
                cursor.execute("SELECT FROM catalog_variant WHERE id = %s FOR KEY SHARE", [variant.pk])
        return "pushed"

    held = threading.Event()
    assert race(lambda: held.wait(60) and reject(), hold_stock_and_refer) == ["done", "pushed"]
