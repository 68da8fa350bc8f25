"""Concurrent pushes lock rows in the same order, and each push is carried out completely."""

from __future__ import annotations

import random
import threading

import factory
import pytest
from django.db import connection, transaction

from accounts.actors import Actor
from catalog.models import Variant
from inventory.elements import IdType
from inventory.models import ExpectedStock, StockLevel, Warehouse
from inventory.reservations import Cause, LockedStock
from inventory.services import push
from tests.factories import VariantFactory

pytestmark = pytest.mark.django_db(transaction=True)

SKUS = [f"A-{number}" for number in range(60)]


def in_threads(*works):
    failures = []

    def run(work):
        try:
            work()
        except Exception as error:  # noqa: BLE001 - errors of threads are reported below
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return failures


@pytest.fixture
def east(acme):
    VariantFactory.create_in_bulk(len(SKUS), supplier=acme, sku=factory.Iterator(SKUS))
    return Warehouse.objects.get(supplier=acme, is_default=True)


def pusher(warehouse, seed):
    def work():
        dice = random.Random(seed)
        for _ in range(12):
            skus = dice.sample(SKUS, 40)
            elements = [{"id": sku, "amount": dice.randint(1, 500)} for sku in skus]
            push(warehouse, IdType.SKU, elements, by=Actor.system("test"))

    return work


def reserver(ids, seed):
    def work():
        dice = random.Random(seed)
        for _ in range(20):
            with transaction.atomic():
                stock = LockedStock.lock(dice.sample(ids, 20), by=Actor.system("test"))
                for key in stock.levels:
                    stock.reserve(key, 1, Cause())
                stock.save()

    return work


def test_a_storm_of_pushes_and_reservations_ends_without_a_deadlock(east):
    ids = list(Variant.objects.values_list("id", flat=True))

    failures = in_threads(
        *(pusher(east, seed) for seed in range(3)), *(reserver(ids, seed) for seed in range(2))
    )

    assert failures == []
    assert StockLevel.objects.filter(warehouse=east).count() == len(SKUS)


def test_without_a_lock_order_pushes_deadlock(east):
    """Control: two changes that lock the same rows in opposite orders deadlock."""
    pusher(east, 0)()
    one, other = StockLevel.objects.order_by("pk")[:2]
    both_began = threading.Barrier(2)

    def unsorted(first, second):
        with transaction.atomic():
            StockLevel.objects.filter(pk=first.pk).update(on_hand=1)
            both_began.wait(60)
            StockLevel.objects.filter(pk=second.pk).update(on_hand=1)

    failures = in_threads(lambda: unsorted(one, other), lambda: unsorted(other, one))

    assert ["deadlock" in str(failure) for failure in failures] == [True]


def test_a_push_that_waited_for_a_reservation_keeps_it(east):
    push(east, IdType.SKU, [{"id": "A-0", "amount": 5}], by=Actor.system("test"))
    level = StockLevel.objects.get()
    reserved, go_on = threading.Event(), threading.Event()

    def reserve():
        with transaction.atomic():
            StockLevel.objects.select_for_update().get(pk=level.pk)
            StockLevel.objects.filter(pk=level.pk).update(reserved=3)
            reserved.set()
            assert go_on.wait(60)

    def push_then():
        assert reserved.wait(60)
        threading.Timer(0.2, go_on.set).start()
        push(east, IdType.SKU, [{"id": "A-0", "amount": 9}], by=Actor.system("test"))

    assert in_threads(reserve, push_then) == []
    level.refresh_from_db()
    assert (level.on_hand, level.reserved) == (9, 3)


def test_a_push_keeps_the_restock_date_of_a_level_that_another_push_made_meanwhile(acme, east):
    def other():
        element = {"id": SKUS[0], "amount": 5, "expected_at": "2099-05-01"}
        push(east, IdType.SKU, [element], by=Actor.system("other"))

    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT now()")
        assert in_threads(other) == []
        push(east, IdType.SKU, [{"id": SKUS[1], "amount": 1}], by=Actor.system("test"))

    assert str(ExpectedStock.objects.get().expected_at) == "2099-05-01"
