"""Every pair of concurrent moves, on one fulfillment or on two of the same order, keeps all rules."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from itertools import combinations_with_replacement, count
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Partnership
from api.errors import ApiError
from catalog.models import Variant
from fulfillments.change import Change
from fulfillments.models import Fulfillment
from fulfillments.states import State
from orders.change import OrderChange
from orders.models import Order
from orders.services import correct_address, hold
from tests.client import ApiClient
from tests.concurrency.test_storm import a_client
from tests.factories import set_stock
from tests.interleaving import waiting
from tests.orders.fixtures import OPERATOR, status
from tests.orders.invariants import violations
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.race]

CODES = {"LAMP": "036000291452", "RUG": "012345678905"}
parcels = count(1)


class Desk:
    """The parties and an operator, who work on an order with two fulfillments."""

    def __init__(self, retailer: ApiClient, suppliers: dict[int, ApiClient]) -> None:
        self.retailer, self.suppliers = retailer, suppliers

    def order(self, state: str) -> tuple[Fulfillment, Fulfillment]:
        """Create an order with a fulfillment of four units at each supplier.

        Bring both fulfillments into a state, and return them. Afterwards, each supplier has both variants
        listed and in stock.
        """
        Variant.objects.update(listed=True)
        set_stock(on_hand=0)
        for sku, supplier in zip(CODES, self.suppliers, strict=True):
            set_stock(on_hand=1_000, variant__sku=sku, variant__supplier=supplier)
        answer = self.retailer.post("orders", an_order(*({"sku": sku, "quantity": 4} for sku in CODES)))
        set_stock(on_hand=1_000)
        works = Fulfillment.objects.filter(order=answer.json()["order_id"]).select_related("order")
        first, sibling = works.order_by("pk")
        for work in (first, sibling):
            for step in WAY[state]:
                with work.order.change(by=OPERATOR) as change:
                    step(work, change)
        return first, sibling

    def put(self, work: Fulfillment, path: str, body: Any = None) -> int:
        code: int = self.suppliers[work.supplier_id].put(status(work, path), body).status_code
        return code

    def post(self, work: Fulfillment, path: str, body: Any) -> int:
        code: int = self.suppliers[work.supplier_id].post(f"fulfillments/{path}", body).status_code
        return code

    def cancel(self, work: Fulfillment, **item: Any) -> int:
        body = {"lines": [{"id": work.lines.get().order_line_id, **item}]}
        code: int = self.retailer.post(f"orders/{work.order_id}/cancel", body).status_code
        return code

    def ship(self, work: Fulfillment, *, units: int | None = None) -> int:
        lines = {"lines": [{"id": work.lines.get().pk, "quantity": units}]} if units else {}
        return self.put(work, "shipped", {"tracking_number": f"T-{next(parcels)}", **lines})

    def items(self, work: Fulfillment) -> list[dict[str, Any]]:
        return [{"sku": work.lines.get().variant.sku, "quantity": 1}]

    def operate(self, work: Fulfillment, action: Callable[[OrderChange[Order]], Any]) -> int:
        try:
            with Order.objects.get(pk=work.order_id).change(by=OPERATOR) as change:
                action(change)
        except ApiError as error:
            return error.status
        return 200

    def answer_late(self, work: Fulfillment) -> int:
        Fulfillment.objects.filter(pk=work.pk, due_at=None).update(due_at=timezone.now())
        return self.operate(work, Fulfillment.objects.get(pk=work.pk).answer_by_default)


MOVES: dict[str, Callable[[Desk, Fulfillment], int]] = {
    "accept": lambda desk, work: desk.put(work, "accepted"),
    "ship": lambda desk, work: desk.ship(work),
    "ship one": lambda desk, work: desk.ship(work, units=1),
    "out of stock": lambda desk, work: desk.put(work, "out_of_stock"),
    "missing sku": lambda desk, work: desk.put(work, "missing_sku"),
    "wrong address": lambda desk, work: desk.put(work, "wrong_address"),
    "refuse one": lambda desk, work: desk.post(
        work, "rejections", [{"id": work.pk, "rejectId": f"R-{next(parcels)}", "items": desk.items(work)}]
    ),
    "return one": lambda desk, work: desk.post(
        work, f"{work.pk}/returns", {"reason": "broken", "return_lines": desk.items(work)}
    ),
    "cancel all": lambda desk, work: desk.retailer.post(f"orders/{work.order_id}/cancel").status_code,
    "cancel one": lambda desk, work: desk.cancel(work, quantity=1),
    "cancel rest": lambda desk, work: desk.cancel(work),
    "approve": lambda desk, work: desk.put(work, "", {"status": "canceled"}),
    "refuse": lambda desk, work: desk.put(work, "", {"status": "cancelation not allowed"}),
    "answer late": lambda desk, work: desk.answer_late(work),
    "hold": lambda desk, work: desk.operate(work, hold),
    "correct address": lambda desk, work: desk.operate(
        work, lambda change: correct_address(change, {"city": "Bath"})
    ),
}


def accept(work: Fulfillment, change: Change) -> None:
    work.accept(change)


def ship_one(work: Fulfillment, change: Change) -> None:
    work.ship(change, tracking_number=f"T-{next(parcels)}", quantities={work.lines.get().pk: 1})


def ask_one_back(work: Fulfillment, change: Change) -> None:
    work.request_cancelation(change, quantities={work.lines.get().pk: 1})


def refuse_address(work: Fulfillment, change: Change) -> None:
    work.reject(change, State.WRONG_ADDRESS)


REFUSALS = ("out of stock", "missing sku", "wrong address", "refuse one")
# The moves that lead into each state. LEGAL has the moves that are allowed in the state.
WAY: dict[str, tuple[Callable[[Fulfillment, Change], Any], ...]] = {
    "new": (),
    "shipped in part": (accept, ship_one),
    "canceling": (accept, ship_one, ask_one_back),
    "wrong_address": (accept, ship_one, refuse_address),
}
LEGAL = {
    "new": ("accept", *REFUSALS, "cancel all", "cancel one", "hold"),
    "shipped in part": ("ship", "ship one", *REFUSALS, "return one", "cancel all", "cancel one"),
    "canceling": ("approve", "refuse", "answer late", "ship", "return one", "cancel all", "cancel rest"),
    "wrong_address": ("correct address", "cancel all", "cancel one", "return one", "wrong address"),
}


@pytest.fixture
def desk(acme, rival, shop, a_variant):
    for supplier in (acme, rival):
        for sku, upc in CODES.items():
            a_variant(supplier, sku, stock=1_000, upc=upc)
    Partnership.objects.update(cancelation_default="approve")
    return Desk(a_client(shop), {supplier.pk: a_client(supplier) for supplier in (acme, rival)})


@pytest.fixture
def hands():
    """Start three threads, each with its own connection. The connections are closed after the test."""
    together = threading.Barrier(3)

    def leave() -> None:
        together.wait(timeout=60)
        connection.close()

    with ThreadPoolExecutor(3) as pool:
        yield pool
        for each in [pool.submit(leave) for _ in range(3)]:
            each.result(timeout=300)


@pytest.mark.parametrize("state", LEGAL)
def test_two_concurrent_moves_keep_all_rules(state, desk, hands):
    for one, other in combinations_with_replacement(LEGAL[state], 2):
        first, sibling = desk.order(state)

        answers = at_once(
            hands,
            first.order_id,
            partial(MOVES[one], desk, first),
            partial(MOVES[other], desk, first),
            partial(MOVES[other], desk, sibling),
        )

        assert max(answers) < 500, (one, other)
        refused_both = (state, one, other) == ("canceling", "ship", "ship")
        assert refused_both or 200 in answers, (one, other, answers)
    assert violations() == []


def at_once(hands: Executor, order_id: int, *calls: Callable[[], Any]) -> list[Any]:
    """Run the calls, and return their results.

    All calls wait for the order's lock before the first call continues.
    """
    with transaction.atomic():
        Order.objects.select_for_update(no_key=True).get(pk=order_id)
        running = [hands.submit(call) for call in calls]
        waiting(len(calls))
    return [each.result(timeout=300) for each in running]
