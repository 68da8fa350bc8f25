"""Extended cancellations, held orders, and rejections of many orders in one call (contract 3 and 4)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from .admin_browser import Operator
from .http_client import done, fault, unique, well
from .steps import REFUSED, act, answer_cancel, bring_to, fulfillment, one_fulfillment, read, state_of


@pytest.fixture(scope="module")
def operator(demo):
    return Operator(demo["admin"])


@pytest.fixture
def five(acme, shop):
    """Push an order with one line of five units. Return the order and Acme's fulfillment."""
    return one_fulfillment(acme, shop, quantity=5)


def cancel(shop, order, quantity=None, **fields):
    line = {"id": order["order_lines"][0]["id"]} | ({"quantity": quantity} if quantity else {})
    return shop.post(f"orders/{order['id']}/cancel", {"lines": [line]} | fields)


def canceled(shop, order):
    return read(shop, order)["order_lines"][0]["quantity_canceled"]


def page_of(order):
    return f"/admin/orders/order/{order['id']}/change/"


@pytest.mark.parametrize("how", ["the order", "the line"])
def test_a_second_cancel_extends_the_waiting_request(acme, shop, five, how):
    """A second request with more units extends the request that still waits for an answer."""
    order, held = five
    done(cancel(shop, order, 1), "cancel_requested")
    more = shop.post(f"orders/{order['id']}/cancel") if how == "the order" else cancel(shop, order)
    done(more, "cancel_requested")
    done(cancel(shop, order), "unchanged")
    done(answer_cancel(acme, held["id"], "canceled"), "canceled")
    assert (canceled(shop, order), state_of(shop, order)) == (5, "canceled")


def test_a_named_request_is_carried_out_only_once(acme, shop, five):
    """A request with a `cancel_id` can always be repeated. Other content gets 409 `cancel_conflict`."""
    order, held = five
    name = unique("C")
    done(cancel(shop, order, 1, cancel_id=name), "cancel_requested")
    done(cancel(shop, order, 1, cancel_id=name), "unchanged")
    done(answer_cancel(acme, held["id"], "canceled"), "canceled")
    done(cancel(shop, order, 1, cancel_id=name), "unchanged")
    assert (canceled(shop, order), fulfillment(acme, held["id"])["fulfillment_state"]) == (1, "new")
    fault(cancel(shop, order, 2, cancel_id=name), 409, "cancel_conflict")
    done(cancel(shop, order, 1, cancel_id=unique("C")), "cancel_requested")
    done(answer_cancel(acme, held["id"], REFUSED), "cancelation_not_allowed")
    done(cancel(shop, order, 1, cancel_id=name), "unchanged")
    assert canceled(shop, order) == 1


WORK = {
    "accepted": {},
    "shipped": {"tracking_number": "T"},
    "out_of_stock": None,
    "missing_sku": None,
    "wrong_address": None,
}


def test_a_held_order_cannot_be_accepted_shipped_or_rejected(acme, shop, operator, five):
    """Until its release, a held order answers moves with 409 `order_held`.

    A cancellation can be requested and answered nevertheless.
    """
    order, held = five
    item = {"sku": held["lines"][0]["sku"], "quantity": 1}
    operator.press(page_of(order), "hold")
    before = fulfillment(acme, held["id"])

    for status, body in WORK.items():
        if status != "shipped":
            fault(act(acme, held["id"], status, body), 409, "order_held")
    refusal = [{"id": held["id"], "rejectId": unique("J"), "items": [item]}]
    fault(acme.post("fulfillments/rejections", refusal), 409, "order_held")
    assert fulfillment(acme, held["id"]) == before

    done(cancel(shop, order, 1), "cancel_requested")
    done(answer_cancel(acme, held["id"], "canceled"), "canceled")
    fault(act(acme, held["id"], "accepted", {}), 409, "order_held")
    operator.press(page_of(order), "release")
    bring_to("accepted", acme, shop, order, held["id"])
    operator.press(page_of(order), "hold")
    fault(act(acme, held["id"], "shipped", WORK["shipped"]), 409, "order_held")
    parcels = {"id": held["id"], "shipments": [{"trackingNumber": "T", "items": [item]}]}
    fault(acme.post("fulfillments/shipments", parcels), 409, "order_held")
    operator.press(page_of(order), "release")
    done(act(acme, held["id"], "shipped", WORK["shipped"]), "shipped")


def test_a_finished_order_cannot_be_held(acme, shop, operator, five):
    """An order without open work cannot be held."""
    order, held = five
    bring_to("shipped", acme, shop, order, held["id"])
    before = read(shop, order)
    answer = operator.send(f"/admin/orders/order/{order['id']}/do/hold/")
    assert "cannot be held" in answer
    assert read(shop, order) == before


def test_concurrent_rejections_of_the_same_orders_in_opposite_order_do_not_deadlock(acme, shop):
    """Each element of `rejections` is one transaction, with or without an `Idempotency-Key`."""
    works = [one_fulfillment(acme, shop, quantity=10)[1] for _ in range(8)]

    def refuse(caller):
        elements = [
            {
                "id": work["id"],
                "rejectId": f"J-{caller}",
                "items": [{"sku": work["lines"][0]["sku"], "quantity": 1}],
            }
            for work in (works if caller % 2 else reversed(works))
        ]
        return acme.post("fulfillments/rejections", elements, Idempotency_Key=unique("key"))

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(refuse, range(4)))

    for answer in answers:
        assert [each["code"] for each in well(answer)["results"]] == ["lines_rejected"] * 8, answer
    assert {fulfillment(acme, work["id"])["lines"][0]["quantity_rejected"] for work in works} == {4}
