"""Held orders: suppliers cannot work on them in any way, but can answer cancellations (contract 3)."""

from __future__ import annotations

import pytest

from accounts.actors import ActorKind
from api.errors import InvalidTransition
from events.models import Event
from fulfillments.models import Fulfillment
from fulfillments.states import MOVES, WORKABLE, OrderHeld
from orders.models import Order
from orders.services import release
from tests.orders.fixtures import OPERATOR, line_units, order_state, state_of, status

LAMP = {"sku": "LAMP", "quantity": 1}

# Each request by which a supplier works on a fulfillment: its method, path and body.
WORK = {
    "accept": lambda work: ("PUT", status(work, "accepted"), None),
    "accept with a number": lambda work: ("PUT", status(work, "accepted"), {"data": "T"}),
    "ship": lambda work: ("PUT", status(work, "shipped"), {"tracking_number": "T"}),
    "ship a part": lambda work: (
        "PUT",
        status(work, "shipped"),
        {"data": "T", "lines": [line_units(work, "LAMP", 1)]},
    ),
    "ship parcels": lambda work: (
        "POST",
        "fulfillments/shipments",
        {"id": work.pk, "shipments": [{"trackingNumber": "T", "items": [LAMP]}]},
    ),
    "out of stock": lambda work: ("PUT", status(work, "out_of_stock"), None),
    "missing sku": lambda work: ("PUT", status(work, "missing_sku"), None),
    "wrong address": lambda work: ("PUT", status(work, "wrong_address"), None),
    "reject lines": lambda work: (
        "POST",
        "fulfillments/rejections",
        [{"id": work.pk, "rejectId": "J-1", "items": [LAMP]}],
    ),
    "reject all so far": lambda work: ("POST", "fulfillments/rejections", [{"id": work.pk, "items": [LAMP]}]),
}


def outcome(answer) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


@pytest.mark.parametrize("way", WORK)
def test_a_held_order_waits_until_it_is_released(way, work, an_order_at_acme, acme_api, hold_it):
    """A supplier that knows the fulfillment's number must not ship a held order."""
    if "ship" in way:
        acme_api.put(status(work, "accepted"))
    before = state_of(work)
    hold_it(an_order_at_acme)
    events, stamp = Event.objects.count(), Order.objects.get().updated_at

    refused = acme_api.request(*WORK[way](work))

    assert outcome(refused) == (409, "order_held")
    assert "released" in refused.json()["message"]
    assert (state_of(work), Event.objects.count()) == (before, events)
    assert Order.objects.get().updated_at == stamp
    assert not any(line.shipped or line.rejected for line in work.lines.all())

    hold_it(an_order_at_acme, release)
    assert acme_api.request(*WORK[way](work)).status_code == 200


@pytest.mark.parametrize("way", [way for way in WORK if "ship" in way])
def test_the_hold_is_named_before_the_missing_accept(way, work, an_order_at_acme, acme_api, hold_it):
    hold_it(an_order_at_acme)

    assert outcome(acme_api.request(*WORK[way](work))) == (409, "order_held")


def test_each_element_of_rejections_is_answered_for_itself(
    work, an_order_at_acme, push, work_of, acme, acme_api, hold_it
):
    free = work_of(push({"sku": "LAMP", "quantity": 1}), acme)
    hold_it(an_order_at_acme)

    elements = [{"id": each.pk, "rejectId": "J", "items": [LAMP]} for each in (work, free)]
    answer = acme_api.post("fulfillments/rejections", elements)

    assert (answer.status_code, answer.json()["success"]) == (200, False)
    assert [(each["success"], each["code"]) for each in answer.json()["results"]] == [
        (False, "order_held"),
        (True, "lines_rejected"),
    ]


def test_a_repetition_on_a_held_order_is_unchanged(work, an_order_at_acme, acme_api, hold_it):
    parcel = {"tracking_number": "T", "lines": [line_units(work, "LAMP", 1)]}
    refusal = [{"id": work.pk, "rejectId": "J", "items": [{"sku": "MAT", "quantity": 1}]}]
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), parcel)
    acme_api.post("fulfillments/rejections", refusal)
    hold_it(an_order_at_acme)

    repeated = [
        acme_api.put(status(work, "accepted")),
        acme_api.put(status(work, "shipped"), parcel),
        acme_api.post("fulfillments/rejections", refusal),
    ]

    assert [outcome(each) for each in repeated] == [(200, "unchanged")] * 3


def test_a_forbidden_move_is_reported_before_the_hold(work, an_order_at_acme, acme_api, shop_api, hold_it):
    hold_it(an_order_at_acme)
    shop_api.post(f"orders/{an_order_at_acme.pk}/cancel")

    assert outcome(acme_api.put(status(work, "accepted"))) == (409, "invalid_transition")


@pytest.mark.parametrize(
    ("answer", "code", "order_ends"),
    [
        ("canceled", "canceled", "canceled"),
        ("cancelation not allowed", "cancelation_not_allowed", "processing"),
    ],
)
def test_a_cancellation_is_requested_and_answered(
    answer, code, order_ends, work, an_order_at_acme, acme_api, shop_api, hold_it
):
    hold_it(an_order_at_acme)

    part = {"lines": [LAMP]}
    assert outcome(shop_api.post(f"orders/{an_order_at_acme.pk}/cancel", part)) == (200, "cancel_requested")
    assert outcome(shop_api.post(f"orders/{an_order_at_acme.pk}/cancel")) == (200, "cancel_requested")
    assert [
        each["id"] for each in acme_api.get("fulfillments", {"fulfillment_state": "canceling"}).json()
    ] == [work.pk]
    assert outcome(acme_api.put(status(work), {"status": answer})) == (200, code)

    assert order_state(an_order_at_acme) == order_ends
    if answer != "canceled":
        assert outcome(acme_api.put(status(work, "accepted"))) == (409, "order_held")


def test_a_fulfillment_that_waits_for_an_address_is_canceled_while_held(
    work, an_order_at_acme, acme_api, shop_api, hold_it
):
    acme_api.put(status(work, "wrong_address"))
    hold_it(an_order_at_acme)

    assert outcome(shop_api.post(f"orders/{an_order_at_acme.pk}/cancel")) == (200, "order_canceled")


def test_a_hold_does_not_stop_the_reports_of_a_supplier_that_has_shipped(
    acme, rival, a_variant, push, work_of, acme_api, rival_api, hold_it
):
    """One supplier has shipped all its units, so it can still report parcels, returns and invoices."""
    a_variant(acme, "LAMP", stock=5)
    a_variant(rival, "RUG", stock=5)
    order = push({"sku": "LAMP", "quantity": 2}, {"sku": "RUG", "quantity": 1})
    gone, waiting = work_of(order, acme), work_of(order, rival)
    acme_api.put(status(gone, "accepted"))
    acme_api.put(status(gone, "shipped"), {"tracking_number": "T-1"})
    hold_it(order)

    back = {"reason": "broken", "return_lines": [LAMP]}
    done = [
        acme_api.put(status(gone, "shipped"), {"tracking_number": "T-2"}),
        acme_api.post(f"fulfillments/{gone.pk}/returns", back),
        acme_api.put(f"fulfillments/{gone.pk}", {"invoice_id": "I-1"}),
    ]

    assert [outcome(each) for each in done] == [
        (200, "shipped"),
        (200, "return_recorded"),
        (200, "invoice_saved"),
    ]
    assert outcome(rival_api.put(status(waiting, "accepted"))) == (409, "order_held")
    assert [each["id"] for each in acme_api.get("fulfillments", {"retailer_state": "ordered"}).json()] == [
        gone.pk
    ]
    assert rival_api.get("fulfillments").json() == []


def test_operators_cannot_work_on_a_held_fulfillment_for_the_supplier(work, an_order_at_acme, hold_it):
    hold_it(an_order_at_acme)

    with pytest.raises(OrderHeld), work.order.change(by=OPERATOR) as change:
        work.accept(change)


def test_only_a_suppliers_work_waits():
    """Check that a hold stops only the moves that the contract names: accept, ship and refuse."""
    held = {
        move.name for move in MOVES for state in WORKABLE if state in move.sources and _waits(move, state)
    }

    assert held == {"accept", "ship", "reject_out_of_stock", "reject_missing_sku", "reject_wrong_address"}


def _waits(move, state) -> bool:
    try:
        move.check(state, ActorKind.OPERATOR, held=True)
    except OrderHeld:
        return True
    return False


@pytest.mark.parametrize("end", ["completed", "canceled"])
def test_a_finished_order_cannot_be_held(end, work, an_order_at_acme, acme_api, shop_api, hold_it):
    if end == "completed":
        acme_api.put(status(work, "accepted"))
        acme_api.put(status(work, "shipped"), {"tracking_number": "T"})
    else:
        shop_api.post(f"orders/{an_order_at_acme.pk}/cancel")
        acme_api.put(status(work), {"status": "canceled"})
    events, before = Event.objects.count(), shop_api.get(f"orders/{an_order_at_acme.pk}").json()

    with pytest.raises(InvalidTransition, match="cannot be held"):
        hold_it(an_order_at_acme)

    assert not Order.objects.get().held
    assert Event.objects.count() == events
    assert shop_api.get(f"orders/{an_order_at_acme.pk}").json() == before


def test_an_order_that_ends_is_no_longer_held(work, an_order_at_acme, acme_api, shop_api, hold_it):
    hold_it(an_order_at_acme)
    shop_api.post(f"orders/{an_order_at_acme.pk}/cancel")
    assert Order.objects.get().held

    acme_api.put(status(work), {"status": "canceled"})

    assert not Order.objects.get().held
    assert Fulfillment.objects.get().state == "canceled"
