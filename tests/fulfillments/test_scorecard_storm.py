"""The scorecard after random moves equals independent counts from the tables."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.actors import Actor, ActorKind
from api.errors import ApiError
from events.models import Event
from fulfillments.models import Fulfillment
from fulfillments.scorecard.sums import add_up
from fulfillments.states import State
from orders.canceling import request_cancelation
from orders.models import Order
from orders.services import correct_address, route_again
from tests.orders.fixtures import OPERATOR
from tests.orders.push_bodies import an_order

pytestmark = pytest.mark.django_db

ACME, SHOP = Actor(ActorKind.SUPPLIER, "acme"), Actor(ActorKind.RETAILER, "shop")

# Independent counts from the tables of fulfillments and events. The scorecard reads its daily sums instead.
COUNTS = {
    "fulfillments": "SELECT count(*) FROM fulfillments_fulfillment WHERE supplier_id = %s",
    "accepted": """SELECT count(DISTINCT f.id) FROM fulfillments_fulfillment f
        JOIN events_event e ON e.fulfillment_id = f.id WHERE f.supplier_id = %s AND e.to_state = 'accepted'
        AND e.from_state IN ('new', 'cancelation not allowed') AND e.type = 'fulfillment.accepted'""",
    "shipped": "SELECT count(*) FROM fulfillments_fulfillment WHERE supplier_id = %s AND state = 'shipped'",
    "asked": """SELECT count(*) FROM events_event e WHERE e.supplier_id = %s
        AND e.type = 'fulfillment.cancelation_requested' AND e.from_state <> 'canceling'""",
    **{
        reason: """SELECT count(DISTINCT f.id) FROM fulfillments_rejection r
            JOIN fulfillments_fulfillment f ON f.id = r.fulfillment_id
            WHERE f.supplier_id = %s AND r.reason = """
        + f"'{reason}'"
        for reason in ("out_of_stock", "missing_sku", "wrong_address")
    },
    "rejected": """SELECT count(DISTINCT f.id) FROM fulfillments_rejection r
        JOIN fulfillments_fulfillment f ON f.id = r.fulfillment_id
        WHERE f.supplier_id = %s AND r.reason <> 'withdrawn'""",
}


@pytest.fixture
def push(acme, shop, client_for, a_variant):
    a_variant(acme, "LAMP", stock=10_000)
    api = client_for(shop)

    def push_(quantity=5):
        answer = api.post("orders", an_order({"sku": "LAMP", "quantity": quantity}))
        return Order.objects.get(pk=answer.json()["order_id"])

    return push_


@pytest.fixture
def card(acme, client_for):
    def read():
        Event.publish()
        add_up(seconds=60)
        return client_for(acme).get("scorecard").json()

    return read


def independent(supplier) -> dict[str, int]:
    counts = {}
    with connection.cursor() as cursor:
        for name, sql in COUNTS.items():
            cursor.execute(sql, [supplier.pk])
            counts[name] = cursor.fetchone()[0]
    return counts


def of_card(card) -> dict[str, int]:
    rejected = round(card["refusal_rate"] * card["fulfillments"])
    return {
        "fulfillments": card["fulfillments"],
        "accepted": card["to_accept"]["count"],
        "shipped": card["to_ship"]["count"],
        "asked": card["cancellations"]["asked"],
        **card["refusals"],
        "rejected": rejected,
    }


def move(work: Fulfillment, dice: random.Random, number: int) -> None:
    """Make a random move with a random number of units."""
    line = work.lines.order_by("pk")[0]
    some = {line.pk: dice.randint(1, 2)}
    part = dice.choice([some, None])
    reason = dice.choice([State.OUT_OF_STOCK, State.WRONG_ADDRESS, State.WRONG_ADDRESS, State.MISSING_SKU])
    moves: list[tuple[Actor, Callable[[Any], object]]] = [
        (ACME, lambda change: work.accept(change)),
        (ACME, lambda change: work.accept(change)),
        (ACME, lambda change: work.ship(change, tracking_number=f"T{number}", quantities=some)),
        (ACME, lambda change: work.ship(change, tracking_number=f"T{number}", quantities=part)),
        (ACME, lambda change: work.ship(change, tracking_number=f"T{number}")),
        (ACME, lambda change: work.ship(change, tracking_number=f"T{number % 7}")),
        (ACME, lambda change: work.reject(change, reason, quantities=some, reject_id=str(number))),
        (ACME, lambda change: work.approve_cancelation(change)),
        (ACME, lambda change: work.refuse_cancelation(change)),
        (SHOP, lambda change: work.request_cancelation(change, quantities=part)),
        (SHOP, lambda change: request_cancelation(change)),
        (OPERATOR, lambda change: correct_address(change, {"address1": f"{number} New Street"})),
        (OPERATOR, route_again),
    ]
    actor, run = dice.choice(moves)
    with (
        suppress(ApiError),
        transaction.atomic(),
        Order.objects.get(pk=work.order_id).change(by=actor) as change,
    ):
        run(change)


@pytest.mark.parametrize("seed", [1, 2])
def test_after_a_storm_of_moves_the_card_agrees_with_the_tables(acme, push, card, seed):
    dice = random.Random(seed)
    orders = [push() for _ in range(12)]
    for number in range(150):
        order = dice.choice(orders)
        work = dice.choice([*Fulfillment.objects.filter(order=order).select_related("order", "partnership")])
        move(work, dice, number)

    counts = independent(acme)
    assert of_card(card()) == counts
    assert min(counts["accepted"], counts["shipped"], counts["asked"], counts["rejected"]) > 0


def test_more_parcels_count_one_shipped_fulfillment(push, card):
    work = push().fulfillments.get()
    with work.order.change(by=ACME) as change:
        work.accept(change)
        work.ship(change, tracking_number="T1")
    with Order.objects.get().change(by=ACME) as change:
        Fulfillment.objects.get().ship(change, tracking_number="T2", quantities=None)

    assert card()["to_ship"]["count"] == 1


def test_a_fulfillment_whose_rest_is_canceled_is_shipped_with_its_last_parcel(push, card):
    order = push()
    work = order.fulfillments.get()
    line = work.lines.get().pk
    with order.change(by=ACME) as change:
        work.accept(change)
        work.ship(change, tracking_number="T1", quantities={line: 3})
    with order.change(by=SHOP) as change:
        request_cancelation(change)
    with order.change(by=ACME) as change:
        work.approve_cancelation(change)
    # The parcel left three days after the order, and the other units were canceled a day later.
    now = timezone.now()
    Fulfillment.objects.update(created_at=now - timedelta(days=4))
    Event.objects.filter(type="fulfillment.shipped").update(occurred_at=now - timedelta(days=1))

    shipped = card()["to_ship"]

    assert (shipped["count"], shipped["average_hours"]) == (1, 72.0)


def test_a_request_that_is_widened_before_the_answer_counts_once(push, card):
    order = push()
    work = order.fulfillments.get()
    line = work.lines.get().pk
    for _ in range(2):
        with order.change(by=SHOP) as change:
            work.request_cancelation(change, quantities={line: 1})
    assert card()["cancellations"]["asked"] == 1


def test_a_second_acceptance_after_a_refused_cancellation_counts_once(push, card):
    order = push()
    work = order.fulfillments.get()
    for by, step in ((ACME, work.accept), (SHOP, request_cancelation), (ACME, work.refuse_cancelation)):
        with order.change(by=by) as change:
            step(change)
    with order.change(by=ACME) as change:
        work.accept(change)
    assert card()["to_accept"]["count"] == 1
