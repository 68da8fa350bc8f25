"""A call with many rejections locks one order at a time, with or without an Idempotency-Key (contract 13)."""

from __future__ import annotations

import threading

import pytest
from django.db import OperationalError, connections

from accounts import idempotency
from accounts.models import IdempotencyKey
from fulfillments.models import Fulfillment, Rejection
from fulfillments.views import FulfillmentViewSet
from tests.concurrency.test_storm import a_client
from tests.interleaving import meeting_after, race
from tests.orders.fixtures import status
from tests.orders.invariants import violations
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.race]

PATH = "fulfillments/rejections"


@pytest.fixture
def works(acme, shop, a_variant):
    """Create two fulfillments of Acme, each with its own order and its own variant."""
    client = a_client(shop)
    for sku in ("LAMP", "RUG"):
        a_variant(acme, sku, stock=10)
        assert client.post("orders", an_order({"sku": sku, "quantity": 4})).status_code == 201
    return list(Fulfillment.objects.order_by("pk"))


@pytest.fixture
def supplier(acme):
    return a_client(acme)


def refusals(works, name):
    """Return a body that rejects one unit of each fulfillment, in this order."""
    return [
        {"id": work.pk, "rejectId": name, "items": [{"sku": work.lines.get().variant.sku, "quantity": 1}]}
        for work in works
    ]


def codes(answer):
    return answer.status_code, [each["code"] for each in answer.json().get("results", [])]


def as_one_transaction(monkeypatch):
    """Let a call with an Idempotency-Key do all elements in one transaction, which can deadlock."""
    monkeypatch.setattr(FulfillmentViewSet, "piecemeal", frozenset())


@pytest.mark.parametrize("piecemeal", [True, False])
def test_refusals_of_the_same_orders_in_opposite_order_do_not_deadlock(
    piecemeal, works, supplier, monkeypatch
):
    there, back = refusals(works, "J-1"), refusals(reversed(works), "J-2")
    if not piecemeal:
        as_one_transaction(monkeypatch)

    with meeting_after(FulfillmentViewSet, "_reject_element"):  # both calls have done their first element
        answers = race(
            lambda: supplier.post(PATH, there, Idempotency_Key="K-1"),
            lambda: supplier.post(PATH, back, Idempotency_Key="K-2"),
        )

    done = [codes(each) for each in answers]
    if piecemeal:
        assert done == [(200, ["lines_rejected"] * 2)] * 2
        assert Rejection.objects.count() == 4
    else:
        assert 503 in [answer.status_code for answer in answers]
    assert violations() == []


def test_no_request_waits_for_an_order_whose_element_is_done(works, supplier):
    """When an element is done, another request can lock the element's order, although the call still runs."""
    first, _ = works
    half, go_on = threading.Event(), threading.Event()
    original = FulfillmentViewSet._reject_element

    def slow(self, element):
        if element["id"] != first.pk:
            half.set()
            assert go_on.wait(60)
        return original(self, element)

    def accept():
        assert half.wait(60)
        try:
            return supplier.put(status(first, "accepted"))
        finally:
            go_on.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FulfillmentViewSet, "_reject_element", slow)
        call, accepted = race(
            lambda: supplier.post(PATH, refusals(works, "J-1"), Idempotency_Key="K-1"), accept
        )

    assert accepted.json()["code"] == "accepted"
    assert codes(call) == (200, ["lines_rejected"] * 2)


def test_the_work_done_before_the_database_failed_is_reported(works, supplier, monkeypatch):
    original = FulfillmentViewSet._reject_element

    def fail_at_the_second(self, element):
        if element["id"] == works[1].pk:
            raise OperationalError("gone")
        return original(self, element)

    with monkeypatch.context() as patch:
        patch.setattr(FulfillmentViewSet, "_reject_element", fail_at_the_second)
        half = supplier.post(PATH, refusals(works, "J-1"), Idempotency_Key="K-1")
        none = supplier.post(PATH, refusals([works[1]], "J-2"))

    assert (half.status_code, half.json()["code"], half.headers["Retry-After"]) == (503, "unavailable", "5")
    assert "The first 1 of 2 elements are done" in half.json()["message"]
    assert (none.status_code, "elements are done" in none.json()["message"]) == (503, False)
    again = supplier.post(PATH, refusals(works, "J-1"), Idempotency_Key="K-1")
    assert codes(again) == (200, ["unchanged", "lines_rejected"])


@pytest.mark.parametrize("end", [SystemExit, MemoryError], ids=["killed", "failed"])
def test_a_call_that_failed_half_way_is_continued_by_its_repetition(end, works, supplier, monkeypatch):
    body = refusals(works, "J-1")
    original = FulfillmentViewSet._reject_element

    def die_at_the_second(self, element):
        if element["id"] == works[1].pk:
            raise end
        return original(self, element)

    with monkeypatch.context() as patch:
        patch.setattr(FulfillmentViewSet, "_reject_element", die_at_the_second)
        if end is SystemExit:
            with pytest.raises(SystemExit):
                supplier.post(PATH, body, Idempotency_Key="K-1")
        else:
            assert supplier.post(PATH, body, Idempotency_Key="K-1").status_code == 500
    assert Rejection.objects.count() == 1
    assert not IdempotencyKey.objects.exists()

    again = supplier.post(PATH, body, Idempotency_Key="K-1")
    replayed = supplier.post(PATH, body, Idempotency_Key="K-1")

    assert codes(again) == (200, ["unchanged", "lines_rejected"])
    assert "Idempotent-Replayed" not in again.headers
    assert (codes(replayed), replayed.headers["Idempotent-Replayed"]) == (codes(again), "true")
    assert Rejection.objects.count() == 2
    assert violations() == []


def test_the_lock_of_a_key_ends_before_the_answer(works, supplier, monkeypatch):
    """PostgreSQL notices a closed connection only some time later."""
    not_yet_noticed = []
    with monkeypatch.context() as patch:
        patch.setattr(type(connections["default"]), "close", lambda self: not_yet_noticed.append(self))
        answers = [supplier.post(PATH, refusals(works, "J-1"), Idempotency_Key="K-1") for _ in range(2)]
    for connection in not_yet_noticed:
        connection.close()

    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[1].headers["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize("locked", [True, False])
def test_one_of_two_calls_under_one_key_runs(locked, works, supplier, monkeypatch):
    """With the lock on the key, one call runs. Without the lock, both calls run, and only the `rejectId` of
    each element prevents a second rejection.
    """
    if not locked:
        monkeypatch.setattr(idempotency, "_try_lock", lambda *_: True)
    inside, go_on = threading.Event(), threading.Event()
    original = FulfillmentViewSet._reject_element

    def slow(self, element):
        first = not inside.is_set()
        inside.set()
        if first:
            assert go_on.wait(60)
        return original(self, element)

    def post():
        return supplier.post(PATH, refusals(works, "J-1"), Idempotency_Key="K-1")

    def second():
        assert inside.wait(60)
        try:
            return post()
        finally:
            go_on.set()

    monkeypatch.setattr(FulfillmentViewSet, "_reject_element", slow)
    first, twin = race(post, second)

    if locked:
        assert codes(first) == (200, ["lines_rejected"] * 2)
        assert (twin.status_code, twin.json()["code"]) == (409, "in_progress")
    else:
        assert "in_progress" not in (first.json()["code"], twin.json()["code"])
    assert Rejection.objects.count() == 2


def test_a_key_is_not_locked_after_its_call_has_ended(works, supplier):
    """The answer is stored and the lock is released even if no element could be done."""
    wrong = [{"id": works[0].pk, "items": [{"sku": "NONE", "quantity": 1}]}]

    first, again = (supplier.post(PATH, wrong, Idempotency_Key="K-1") for _ in range(2))
    other = supplier.post(PATH, refusals(works, "J-1"), Idempotency_Key="K-1")

    assert (first.status_code, again.status_code) == (400, 400)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_conflict")
