"""Each state with each move: every cell of the table of moves, through the API."""

from __future__ import annotations

import pytest

from accounts.actors import ActorKind
from api.errors import InvalidTransition
from events.models import Event
from fulfillments.models import Fulfillment
from fulfillments.states import (
    ACCEPT,
    APPROVE_CANCELATION,
    CANCEL_UNCAPTURED,
    CORRECT_ADDRESS,
    GIVE_UP,
    MOVES,
    REFUSE_CANCELATION,
    REJECT_MISSING_SKU,
    REJECT_OUT_OF_STOCK,
    REJECT_WRONG_ADDRESS,
    REQUEST_CANCELATION,
    SHIP,
    WITHDRAW,
    Move,
    State,
    moves_from,
)
from orders.models import Order
from orders.services import correct_address
from tests.orders.fixtures import OPERATOR, order_state, state_of, status

# The moves by which a new fulfillment gets into each state.
WAYS: dict[State, tuple[Move, ...]] = {
    State.NEW: (),
    State.ACCEPTED: (ACCEPT,),
    State.SHIPPED: (ACCEPT, SHIP),
    State.OUT_OF_STOCK: (REJECT_OUT_OF_STOCK,),
    State.MISSING_SKU: (REJECT_MISSING_SKU,),
    State.WRONG_ADDRESS: (REJECT_WRONG_ADDRESS,),
    State.CANCELING: (REQUEST_CANCELATION,),
    State.CANCELED: (REQUEST_CANCELATION, APPROVE_CANCELATION),
    State.CANCELATION_NOT_ALLOWED: (REQUEST_CANCELATION, REFUSE_CANCELATION),
}

# The supplier's calls, as the interface defines them.
CALLS: dict[Move, tuple[str, dict[str, str] | None]] = {
    ACCEPT: ("accepted", {}),
    SHIP: ("shipped", {"tracking_number": "T-1"}),
    REJECT_OUT_OF_STOCK: ("out_of_stock", None),
    REJECT_MISSING_SKU: ("missing_sku", None),
    REJECT_WRONG_ADDRESS: ("wrong_address", None),
    APPROVE_CANCELATION: ("", {"status": "canceled"}),
    REFUSE_CANCELATION: ("", {"status": "cancelation not allowed"}),
}
OTHERS = (REQUEST_CANCELATION, CORRECT_ADDRESS, GIVE_UP, CANCEL_UNCAPTURED, WITHDRAW)


def do(move: Move, work: Fulfillment, acme_api, shop_api) -> None:
    """Make a move in the role of its actor."""
    if move in CALLS:
        path, body = CALLS[move]
        answer = acme_api.put(status(work, path), body)
    elif move == CORRECT_ADDRESS:
        with Order.objects.get(pk=work.order_id).change(by=OPERATOR) as change:
            correct_address(change, {"city": "Leeds"})
        return
    else:
        answer = shop_api.post(f"orders/{work.order_id}/cancel")
    assert answer.status_code == 200, answer.content


@pytest.fixture
def in_state(work, acme_api, shop_api):
    """Return a function that brings a fulfillment of Acme into a state, and returns the fulfillment."""

    def bring(state: State) -> Fulfillment:
        for move in WAYS[state]:
            do(move, work, acme_api, shop_api)
        assert state_of(work) == state
        return Fulfillment.objects.select_related("order").get(pk=work.pk)

    return bring


def everything(work: Fulfillment) -> list[object]:
    """Return all rows that a call without effect must not change."""
    return [
        *Fulfillment.objects.filter(pk=work.pk).values(),
        *work.lines.order_by("pk").values(),
        *Order.objects.filter(pk=work.order_id).values(),
        *work.order.lines.order_by("pk").values(),
        *(work.shipments.count(), work.rejections.count(), Event.objects.count()),
    ]


def test_every_state_can_be_reached_and_every_move_has_an_actor():
    assert set(WAYS) == set(State)
    assert {*CALLS, *OTHERS} == set(MOVES)
    for state, way in WAYS.items():
        assert (way[-1].target if way else State.NEW) == state


@pytest.mark.parametrize(
    ("move", "state"),
    [pytest.param(move, state, id=f"{move.name}-{state}") for move in CALLS for state in State],
)
def test_a_suppliers_call_follows_the_table(move, state, in_state, acme_api):
    work = in_state(state)
    before = everything(work)
    path, body = CALLS[move]

    answer = acme_api.put(status(work, path), body)

    body = answer.json()
    if state == move.repeated_in or (move == SHIP and state == State.SHIPPED):
        assert (answer.status_code, body["code"], body["success"]) == (200, "unchanged", True)
        assert everything(work) == before
    elif state in move.sources:
        assert (answer.status_code, body["code"], body["success"]) == (200, move.code, True)
        assert state_of(work) == move.target
        event = Event.objects.filter(fulfillment_id=work.pk, type=move.event).latest("id")
        assert (event.from_state, event.to_state) == (state, move.target)
    else:
        assert (answer.status_code, body["code"], body["success"]) == (409, "invalid_transition", False)
        assert f"'{state}'" in body["message"]
        ways = [each.done for each in moves_from(state, ActorKind.SUPPLIER)]
        assert all(way in body["message"] for way in ways or ["nothing more can be done"])
        assert everything(work) == before


RETAILERS_ENDS = {
    **dict.fromkeys(REQUEST_CANCELATION.sources, (200, "cancel_requested", State.CANCELING)),
    State.WRONG_ADDRESS: (200, "order_canceled", State.CANCELED),
    State.OUT_OF_STOCK: (200, "order_canceled", State.OUT_OF_STOCK),  # no supplier has the units any more
    State.MISSING_SKU: (200, "order_canceled", State.MISSING_SKU),
    State.CANCELING: (200, "unchanged", State.CANCELING),
    State.CANCELED: (200, "unchanged", State.CANCELED),
    State.SHIPPED: (409, "invalid_transition", State.SHIPPED),
}


@pytest.mark.parametrize("state", State)
def test_a_retailers_cancel_follows_the_table(state, in_state, shop_api):
    work = in_state(state)
    before = everything(work)

    answer = shop_api.post(f"orders/{work.order_id}/cancel")

    assert (answer.status_code, answer.json()["code"], state_of(work)) == RETAILERS_ENDS[state]
    if answer.status_code == 409:
        assert "'completed'" in answer.json()["message"]
    if answer.json()["code"] in ("unchanged", "invalid_transition"):
        assert everything(work) == before


@pytest.mark.parametrize("state", [state for state in State if state != State.WRONG_ADDRESS])
def test_only_a_fulfillment_that_waits_for_an_address_is_released_with_a_new_one(state, in_state):
    work = in_state(state)

    with (
        pytest.raises(InvalidTransition, match=f"'{state}' cannot be released"),
        work.order.change(by=OPERATOR) as change,
    ):
        work.correct_address(change)

    assert state_of(work) == state


@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.name)
@pytest.mark.parametrize("kind", ActorKind)
def test_no_actor_makes_the_moves_of_another(move, kind):
    for state in State:
        if state in move.sources and kind in move.by:
            move.check(state, kind)
        else:
            with pytest.raises(InvalidTransition, match=f"'{state}' cannot be {move.done}"):
                move.check(state, kind)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (State.NEW, "received"),
        (State.ACCEPTED, "processing"),
        (State.SHIPPED, "completed"),
        (State.OUT_OF_STOCK, "exception"),
        (State.MISSING_SKU, "exception"),
        (State.WRONG_ADDRESS, "exception"),
        (State.CANCELING, "canceling"),
        (State.CANCELED, "canceled"),
        (State.CANCELATION_NOT_ALLOWED, "processing"),
    ],
)
def test_the_order_follows_its_only_fulfillment(state, expected, in_state):
    assert order_state(in_state(state).order) == expected


RESERVED = {
    State.SHIPPED: (7, 0),
    State.OUT_OF_STOCK: (0, 0),
    State.MISSING_SKU: (10, 0),
    State.CANCELED: (10, 0),
}


@pytest.mark.parametrize("state", State)
def test_stock_follows_the_state(state, in_state):
    """Stock stays reserved in canceling and wrong_address.

    When the work ends, its stock is released or shipped.
    """
    work = in_state(state)

    level = work.lines.get(variant__sku="LAMP").variant.stock.get()

    assert (level.on_hand, level.reserved) == RESERVED.get(state, (10, 3))


@pytest.mark.parametrize(
    "wrong",
    [
        ("accepted", {"tracking_number": "T-9"}, State.ACCEPTED, "T-9"),
        ("shipped", {"tracking_number": "T-1", "carrier": "DHL"}, State.SHIPPED, "DHL"),
    ],
    ids=["accept", "ship"],
)
def test_a_repetition_with_other_values_is_answered_with_the_difference(wrong, in_state, acme_api):
    path, body, state, differing = wrong
    work = in_state(state)
    before = everything(work)

    answer = acme_api.put(status(work, path), body)

    assert (answer.status_code, answer.json()["code"]) == (409, "invalid_transition")
    assert differing in answer.json()["message"]
    assert everything(work) == before


def test_the_same_parcel_with_other_lines_is_answered_with_its_content(in_state, acme_api):
    work = in_state(State.SHIPPED)
    line = work.lines.get(variant__sku="LAMP")

    answer = acme_api.put(
        status(work, "shipped"), {"tracking_number": "T-1", "lines": [{"id": line.pk, "quantity": 1}]}
    )

    assert (answer.status_code, answer.json()["code"]) == (409, "invalid_transition")
    assert "T-1" in answer.json()["message"]


@pytest.mark.parametrize("spelling", ["canceled", "cancelled"])
def test_both_spellings_of_an_approval_are_read(spelling, in_state, acme_api):
    work = in_state(State.CANCELING)

    assert acme_api.put(status(work), {"status": spelling}).json()["code"] == "canceled"
    assert state_of(work) == State.CANCELED


REFUSALS = (
    "cancelation not allowed",
    "cancelation_not_allowed",
    "cancellation_not_allowed",
)


@pytest.mark.parametrize("spelling", [*REFUSALS, "cancellation not allowed"])
def test_every_spelling_of_a_refusal_is_read_in_the_body(spelling, in_state, acme_api):
    work = in_state(State.CANCELING)

    answer = acme_api.put(status(work), {"status": spelling})

    assert (answer.status_code, answer.json()["code"]) == (200, "cancelation_not_allowed")
    assert state_of(work) == "cancelation not allowed"


@pytest.mark.parametrize("spelling", REFUSALS)
def test_every_spelling_of_a_refusal_is_read_in_the_path(spelling, in_state, acme_api):
    work = in_state(State.CANCELING)

    answer = acme_api.put(status(work, spelling.replace(" ", "%20")))

    assert (answer.status_code, answer.json()["code"]) == (200, "cancelation_not_allowed")
    assert state_of(work) == "cancelation not allowed"


def test_an_approval_is_read_in_the_path(in_state, acme_api):
    work = in_state(State.CANCELING)

    assert acme_api.put(f"{status(work, 'canceled')}/").json()["code"] == "canceled"
    assert state_of(work) == State.CANCELED


def test_the_ids_in_the_body_must_match_the_path(in_state, acme, acme_api):
    work = in_state(State.CANCELING)

    def answer(**ids):
        return acme_api.put(status(work), {"status": "canceled", **ids})

    for field, ids in (
        ("supplier_id", {"supplier_id": acme.pk + 1, "fulfillment_id": work.pk}),
        ("fulfillment_id", {"supplier_id": acme.pk, "fulfillment_id": work.pk + 1}),
    ):
        refused = answer(**ids)
        assert (refused.status_code, refused.json()["code"]) == (400, "id_mismatch")
        assert refused.json()["errors"][0]["field"] == field
    assert state_of(work) == State.CANCELING
    assert answer(supplier_id=str(acme.pk), fulfillment_id=work.pk).json()["code"] == "canceled"


@pytest.mark.parametrize("value", ["accepted", "shipped", "out_of_stock", "missing_sku", "wrong_address"])
@pytest.mark.parametrize("name", ["supplier_id", "fulfillment_id"])
def test_the_ids_in_the_body_of_each_status_must_match_the_path(name, value, in_state, acme_api):
    work = in_state(State.CANCELATION_NOT_ALLOWED)
    ids = {"supplier_id": work.supplier_id, "fulfillment_id": str(work.pk)}
    parcel = {"tracking_number": "T-1"} if value == "shipped" else {}

    refused = acme_api.put(status(work, value), {**parcel, **ids, name: 1_000_000})

    assert (refused.status_code, refused.json()["code"]) == (400, "id_mismatch")
    assert refused.json()["errors"][0]["field"] == name
    assert state_of(work) == State.CANCELATION_NOT_ALLOWED
    assert acme_api.put(status(work, value), {**parcel, **ids}).json()["code"] == value


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"status": "cancelation not allowed"}, "validation_error", "status"),
        ({"status": "refused"}, "validation_error", "status"),
        ({"fulfillment_id": 1_000_000}, "id_mismatch", "fulfillment_id"),
    ],
)
def test_an_answer_by_path_does_not_ignore_a_body_that_contradicts_it(body, code, field, in_state, acme_api):
    work = in_state(State.CANCELING)

    refused = acme_api.put(status(work, "canceled"), body)

    assert (refused.status_code, refused.json()["code"]) == (400, code)
    assert refused.json()["errors"][0]["field"] == field
    assert state_of(work) == State.CANCELING
    same = {"status": "cancelled", "fulfillment_id": str(work.pk), "supplier_id": ""}
    assert acme_api.put(status(work, "canceled"), same).json()["code"] == "canceled"


@pytest.mark.parametrize("body", [{}, {"status": "shipped"}, {"status": 5}, {"status": None}, {"status": []}])
def test_an_answer_needs_one_of_the_two_values(body, in_state, acme_api):
    work = in_state(State.CANCELING)

    answer = acme_api.put(status(work), body)

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "status")
    assert answer.json()["code"] == ("validation_error" if body else "missing_parameter")
    assert state_of(work) == State.CANCELING


def test_a_stale_copy_cannot_act(in_state, acme_api, shop_api):
    """A stale copy decides nothing: each move reads its rows again under the lock."""
    stale = in_state(State.NEW)
    do(REQUEST_CANCELATION, stale, acme_api, shop_api)

    with (
        pytest.raises(InvalidTransition, match="'canceling'"),
        stale.order.change(by=OPERATOR) as change,
    ):
        stale.accept(change)
