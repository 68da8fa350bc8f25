"""The polling promise (contract 4): keep the last `updated_at`, ask for greater, and miss nothing."""

from __future__ import annotations

import random
import threading
from contextlib import nullcontext
from datetime import UTC, datetime
from unittest import mock

import pytest
from django.db import connection

from accounts.actors import Actor, ActorKind
from orders import models
from orders.models import Order, OrderLine
from orders.settling import ProcessingState, stamp
from tests.concurrency.racing import race

pytestmark = pytest.mark.django_db(transaction=True)
OPERATOR = Actor(ActorKind.OPERATOR, "user:storm")
WRITERS, CHANGES = 4, 40


def naive(retailer_id, before, after):
    """The stamp that everybody writes first: the clock, read early, under no lock."""
    moment = datetime.now(UTC)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(random() * 0.01)")  # a transaction that commits when it commits
    return moment


@pytest.mark.parametrize(("promised", "lost"), [(True, False), (False, True)])
def test_a_poller_sees_the_last_version_of_every_order(shop, promised, lost):
    orders = [_an_order(shop, number) for number in range(20)]
    done = threading.Event()
    finished = []

    def write(seed):
        dice = random.Random(seed)
        for _ in range(CHANGES):
            order = Order.objects.get(pk=dice.choice(orders).pk)
            (order.release if order.held else order.hold)(by=OPERATOR)
        finished.append(seed)
        if len(finished) == WRITERS:
            done.set()

    def poll():
        last: datetime | None = datetime(2000, 1, 1, tzinfo=UTC)
        seen = {}
        while True:
            ending = done.is_set()
            rows = Order.objects.for_retailer(shop).filter(updated_at__gt=last).order_by("updated_at")[:5]
            for row in rows:
                last, seen[row.pk] = row.updated_at, row.updated_at
            if ending and not rows:
                return seen

    with nullcontext() if promised else mock.patch.object(models, "stamp", naive):
        seen = race(poll, *[lambda seed=seed: write(seed) for seed in range(WRITERS)])[0]

    truth = dict(Order.objects.values_list("pk", "updated_at"))
    assert (seen != truth) is lost
    if promised:
        assert len(set(truth.values())) == len(orders)
        assert all(moment and moment.microsecond % 1000 == 0 for moment in truth.values())


def _an_order(shop, number):
    order = Order.objects.create(retailer=shop, retailer_order_id=f"R-{number}", content_digest="")
    OrderLine.objects.create(order=order, position=0, sku="A-1", quantity=1, open=1)
    order.updated_at = stamp(shop.pk, None, ProcessingState.RECEIVED)
    order.save(update_fields=["updated_at"])
    return order
