"""Every move from every state, as in the table of contract 3 (interface 3.1)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from .http_client import done, fault
from .steps import REFUSED, act, answer_cancel, bring_to, fulfillment, one_fulfillment, state_of

STATES = [
    "new",
    "accepted",
    "shipped",
    "out_of_stock",
    "missing_sku",
    "wrong_address",
    "canceling",
    "canceled",
    REFUSED,
]
REJECTIONS = ["out_of_stock", "missing_sku", "wrong_address"]
OPEN = ["new", "accepted", REFUSED]

# The code and the next state for each state and trigger. All other pairs get 409 `invalid_transition`.
MOVES = {
    ("new", "accept"): ("accepted", "accepted"),
    (REFUSED, "accept"): ("accepted", "accepted"),
    ("accepted", "accept"): ("unchanged", "accepted"),
    ("accepted", "ship"): ("shipped", "shipped"),
    (REFUSED, "ship"): ("shipped", "shipped"),
    ("shipped", "ship"): ("unchanged", "shipped"),
    ("shipped", "ship another"): ("shipped", "shipped"),
    ("accepted", "ship another"): ("shipped", "shipped"),
    (REFUSED, "ship another"): ("shipped", "shipped"),
    ("canceling", "approve"): ("canceled", "canceled"),
    ("canceled", "approve"): ("unchanged", "canceled"),
    ("canceling", "refuse"): ("cancelation_not_allowed", REFUSED),
    (REFUSED, "refuse"): ("unchanged", REFUSED),
    **{(state, rejection): (rejection, rejection) for state in OPEN for rejection in REJECTIONS},
    **{(rejection, rejection): ("unchanged", rejection) for rejection in REJECTIONS},
}
TRIGGERS = ["accept", "ship", "ship another", *REJECTIONS, "approve", "refuse"]


def pull_trigger(supplier, number, trigger):
    if trigger == "accept":
        return act(supplier, number, "accepted", {})
    if trigger == "ship":
        return act(supplier, number, "shipped", {"tracking_number": "T-1"})
    if trigger == "ship another":
        return act(supplier, number, "shipped", {"tracking_number": "T-2"})
    if trigger in REJECTIONS:
        return act(supplier, number, trigger)
    return answer_cancel(supplier, number, "canceled" if trigger == "approve" else REFUSED)


def as_read(supplier, number):
    """Return the fulfillment as the supplier reads it, without `captured_at`.

    A concurrent test may list all fulfillments, which sets `captured_at`.
    """
    return {**fulfillment(supplier, number), "captured_at": None}


@pytest.mark.parametrize("trigger", TRIGGERS)
@pytest.mark.parametrize("state", STATES)
def test_every_move_from_every_state_follows_the_table(acme, shop, state, trigger):
    """Contract 3: the table has all moves. Other requests get 409 `invalid_transition`.

    A repetition of the same status gets 200 `unchanged`.
    """
    order, held = one_fulfillment(acme, shop)
    bring_to(state, acme, shop, order, held["id"])
    before = as_read(acme, held["id"])
    answer = pull_trigger(acme, held["id"], trigger)
    if (state, trigger) in MOVES:
        code, after = MOVES[state, trigger]
        done(answer, code)
        assert fulfillment(acme, held["id"])["fulfillment_state"] == after
        if code == "unchanged":
            assert as_read(acme, held["id"]) == before
            return
        again = pull_trigger(acme, held["id"], trigger)
        done(again, "unchanged")
    else:
        body = fault(answer, 409, "invalid_transition")
        assert state in body["message"], "contract 2: the message must name the state"
        allowed = {MOVES[at][1] for at in MOVES if at[0] == state and MOVES[at][0] != "unchanged"} - {state}
        assert not allowed or any(name in body["message"] for name in allowed), (
            f"the message must name an allowed status: {body}"
        )
        assert as_read(acme, held["id"]) == before, "a refused move must change nothing"


@pytest.mark.parametrize("spelling", ["approve", "refuse", "refuse with two l"])
@pytest.mark.parametrize("state", STATES)
def test_the_paths_of_older_clients_make_the_same_moves(acme, shop, state, spelling):
    """Contract 10: a path such as `setStatus/canceled` has the effect of `setStatus` with this status."""
    order, held = one_fulfillment(acme, shop)
    bring_to(state, acme, shop, order, held["id"])
    path = {"approve": "canceled", "refuse": "cancelation_not_allowed"}.get(
        spelling, "cancellation_not_allowed"
    )
    answer = act(acme, held["id"], path)
    move = MOVES.get((state, "approve" if spelling == "approve" else "refuse"))
    if move:
        done(answer, move[0])
        assert fulfillment(acme, held["id"])["fulfillment_state"] == move[1]
    else:
        fault(answer, 409, "invalid_transition")


@pytest.mark.parametrize(
    ("state", "code", "after", "order_state"),
    [
        ("new", "cancel_requested", "canceling", "canceling"),
        ("accepted", "cancel_requested", "canceling", "canceling"),
        (REFUSED, "cancel_requested", "canceling", "canceling"),
        ("canceling", "unchanged", "canceling", "canceling"),
        ("canceled", "unchanged", "canceled", "canceled"),
        ("wrong_address", "order_canceled", "canceled", "canceled"),
        ("out_of_stock", "order_canceled", "out_of_stock", "canceled"),
        ("missing_sku", "order_canceled", "missing_sku", "canceled"),
        ("shipped", None, "shipped", "completed"),
    ],
)
def test_the_retailers_cancel_follows_the_table_from_every_state(acme, shop, state, code, after, order_state):
    """Contract 3 and 4: a cancellation cancels unrouted units at once.

    An order whose units are all shipped answers 409.
    """
    order, held = one_fulfillment(acme, shop)
    bring_to(state, acme, shop, order, held["id"])
    answer = shop.post(f"orders/{order['id']}/cancel")
    if code is None:
        fault(answer, 409, "invalid_transition")
    else:
        done(answer, code)
    assert fulfillment(acme, held["id"])["fulfillment_state"] == after
    assert state_of(shop, order) == order_state


def test_only_one_of_concurrent_accepts_changes_the_fulfillment(acme, shop):
    """Contract 3: a repetition of the same status gets 200 `unchanged`, even if it is concurrent."""
    _, held = one_fulfillment(acme, shop)
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda _: act(acme, held["id"], "accepted", {}), range(3)))
    assert sorted(answer.json["code"] for answer in answers) == ["accepted", "unchanged", "unchanged"]


def test_only_one_of_a_concurrent_shipment_and_cancellation_succeeds(acme, shop):
    """Contract 3: the request that comes second gets 409. The states of order and fulfillment agree."""
    for _ in range(3):
        order, held = one_fulfillment(acme, shop)
        act(acme, held["id"], "accepted", {})
        with ThreadPoolExecutor(2) as pool:
            ship = pool.submit(act, acme, held["id"], "shipped", {"tracking_number": "T"})
            cancel = pool.submit(shop.post, f"orders/{order['id']}/cancel")
        state = fulfillment(acme, held["id"])["fulfillment_state"]
        if state == "shipped":
            done(ship.result(), "shipped")
            fault(cancel.result(), 409, "invalid_transition")
            assert state_of(shop, order) == "completed"
        else:
            fault(ship.result(), 409, "invalid_transition")
            done(cancel.result(), "cancel_requested")
            assert (state, state_of(shop, order)) == ("canceling", "canceling")


def test_a_refused_cancellation_can_be_requested_again(acme, shop):
    """Contract 3: a new request changes `cancelation not allowed` to `canceling`."""
    order, held = one_fulfillment(acme, shop)
    for _ in range(2):
        done(shop.post(f"orders/{order['id']}/cancel"), "cancel_requested")
        done(answer_cancel(acme, held["id"], REFUSED), "cancelation_not_allowed")
    done(act(acme, held["id"], "shipped", {"tracking_number": "T"}), "shipped")
    assert state_of(shop, order) == "completed"
