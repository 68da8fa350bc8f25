"""The polling promise (contract 4): a client that asks for orders after its last stamp misses nothing."""

from __future__ import annotations

import random
import threading
from contextlib import nullcontext
from datetime import UTC, datetime
from unittest import mock

import pytest

from accounts.actors import Actor, ActorKind
from orders import change
from orders.models import Order
from orders.processing_state import ProcessingState, stamp
from orders.services import hold, release
from tests.factories import OrderFactory, OrderLineFactory
from tests.interleaving import race

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.race]
OPERATOR = Actor(ActorKind.OPERATOR, "user:storm")
WRITERS, CHANGES = 4, 40


class Naive:
    """A wrong way to stamp orders: without a lock, with the time of the beginning of the change.

    The poller misses a change that got its stamp early and commits after the poller has read a later stamp.
    """

    def __init__(self):
        self.late = threading.local()
        self.stamped, self.passed = threading.Event(), threading.Event()
        self.moment = datetime.max.replace(tzinfo=UTC)

    def stamp(self, order_id, retailer_id, before, after):
        moment = datetime.now(UTC)
        Order.objects.filter(pk=order_id).update(processing_state=after, updated_at=moment)
        if getattr(self.late, "once", False):
            self.late.once = False
            self.moment = moment
            self.stamped.set()
            assert self.passed.wait(60)
        return moment


@pytest.mark.parametrize(("promised", "lost"), [(True, False), (False, True)])
def test_a_poller_sees_the_last_version_of_every_order(shop, promised, lost):
    orders = [_an_order(shop, number) for number in range(20)]
    naive = Naive()
    done = threading.Event()
    finished = []

    def toggle(order):
        order = Order.objects.get(pk=order.pk)
        action = release if order.held else hold
        with order.change(by=OPERATOR) as unit:
            action(unit)

    def write(seed):
        dice = random.Random(seed)
        if seed == 0:
            naive.late.once = True
            toggle(orders[0])
        elif not promised:
            assert naive.stamped.wait(60)
        for _ in range(CHANGES):
            toggle(dice.choice(orders[1:]))
        finished.append(seed)
        if len(finished) == WRITERS:
            done.set()

    def poll():
        last = datetime(2000, 1, 1, tzinfo=UTC)
        seen = {}
        while True:
            ending = done.is_set()
            rows = Order.objects.for_retailer(shop).filter(updated_at__gt=last).order_by("updated_at")[:5]
            for row in rows:
                seen[row.pk] = row.updated_at
                last = row.updated_at or last
            if last > naive.moment:
                naive.passed.set()
            if ending and not rows:
                return seen

    with nullcontext() if promised else mock.patch.object(change, "stamp", naive.stamp):
        seen = race(poll, *[lambda seed=seed: write(seed) for seed in range(WRITERS)])[0]

    truth = dict(Order.objects.values_list("pk", "updated_at"))
    assert (seen != truth) is lost
    if promised:
        assert len(set(truth.values())) == len(orders)
        assert all(moment and moment.microsecond % 1000 == 0 for moment in truth.values())


def _an_order(shop, number):
    order = OrderFactory.create(retailer=shop, retailer_order_id=f"R-{number}")
    OrderLineFactory.create(order=order)
    stamp(order.pk, shop.pk, None, ProcessingState.RECEIVED)
    return order
