"""The cancellation of orders, whole and in part (interface endpoint 16; contract 3 and 4)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from .http_client import done, fault, well
from .steps import (
    REFUSED,
    act,
    answer_cancel,
    bring_to,
    fulfillment,
    held_by,
    new_variant,
    numbers,
    one_fulfillment,
    order_body,
    push,
    read,
    state_of,
)


def cancel(retailer, order, body=None):
    return retailer.post(f"orders/{order['id']}/cancel", body)


@pytest.mark.parametrize("body", [None, {}, b"", {"reason": "out of stock"}], ids=repr)
def test_a_whole_order_is_cancelled(acme, shop, body):
    """Interface 16; contract 4: the body is optional and may have a `reason`.

    Without `lines`, the whole order is canceled.
    """
    order, held = one_fulfillment(acme, shop)
    done(cancel(shop, order, body), "cancel_requested")
    assert fulfillment(acme, held["id"])["fulfillment_state"] == "canceling"
    assert fulfillment(acme, held["id"])["retailer_state"] == "canceling"
    assert state_of(shop, order) == "canceling"
    done(answer_cancel(acme, held["id"], "canceled"), "canceled")
    after = read(shop, order)
    assert after["processing_state"] == "canceled"
    assert after["order_lines"][0]["quantity_canceled"] == 2


def test_shipped_fulfillments_stay_and_the_message_says_so(acme, rival, shop):
    """Contract 4: shipped fulfillments stay, and the message says this.

    The order is `completed` when all other fulfillments are canceled.
    """
    mine, theirs = new_variant(acme, stock=5), new_variant(rival, stock=5)
    order = push(shop, {"variant_id": mine["id"], "quantity": 1}, {"variant_id": theirs["id"], "quantity": 1})
    first, second = held_by(acme, order)[0], held_by(rival, order)[0]
    bring_to("shipped", acme, shop, order, first["id"])
    assert "shipped" in done(cancel(shop, order), "cancel_requested")["message"]
    assert fulfillment(acme, first["id"])["fulfillment_state"] == "shipped"
    done(answer_cancel(rival, second["id"], "canceled"), "canceled")
    assert state_of(shop, order) == "completed"


def test_two_suppliers_answer_for_themselves(acme, rival, shop):
    """Contract 3: each supplier approves or refuses the cancellation of its own fulfillment."""
    mine, theirs = new_variant(acme, stock=5), new_variant(rival, stock=5)
    order = push(shop, {"variant_id": mine["id"], "quantity": 1}, {"variant_id": theirs["id"], "quantity": 1})
    first, second = held_by(acme, order)[0], held_by(rival, order)[0]
    done(cancel(shop, order), "cancel_requested")
    done(answer_cancel(acme, first["id"], "canceled"), "canceled")
    assert state_of(shop, order) == "canceling"
    done(answer_cancel(rival, second["id"], REFUSED), "cancelation_not_allowed")
    assert state_of(shop, order) == "processing"
    assert fulfillment(acme, first["id"])["fulfillment_state"] == "canceled"
    bring_to_shipped = act(rival, second["id"], "shipped", {"tracking_number": "T"})
    done(bring_to_shipped, "shipped")
    assert state_of(shop, order) == "completed"


@pytest.mark.parametrize("by", ["id", "sku", "variant_id"])
@pytest.mark.parametrize("state", ["new", "accepted"])
def test_a_part_of_a_line_is_canceled_and_the_rest_continues(acme, shop, by, state):
    """Contract 4: `lines` has elements `{"id"|"sku"|"variant_id", "quantity"}`.

    Contract 3: after the approval, the fulfillment has the state from before the request. The code of the
    answer is `canceled` nevertheless.
    """
    order, held = one_fulfillment(acme, shop, quantity=5)
    bring_to(state, acme, shop, order, held["id"])
    line = order["order_lines"][0]
    which = {"id": line["id"], "sku": held["lines"][0]["sku"], "variant_id": held["lines"][0]["variant_id"]}[
        by
    ]
    done(cancel(shop, order, {"lines": [{by: which, "quantity": 2}]}), "cancel_requested")
    assert fulfillment(acme, held["id"])["fulfillment_state"] == "canceling"
    done(answer_cancel(acme, held["id"], "canceled"), "canceled")
    after = fulfillment(acme, held["id"])
    assert after["fulfillment_state"] == state
    assert after["retailer_state"] == "ordered"
    assert after["lines"][0]["quantity_canceled"] == 2
    assert read(shop, order)["order_lines"][0]["quantity_canceled"] == 2
    assert numbers(acme, held["lines"][0]["sku"]) == (10, 3)
    assert state_of(shop, order) == ("received" if state == "new" else "processing")


def test_the_rest_of_a_partial_cancel_is_shipped(acme, shop):
    """Contract 4: an order is `completed` when nothing is open and something was shipped."""
    order, held = one_fulfillment(acme, shop, quantity=5)
    cancel(shop, order, {"lines": [{"id": order["order_lines"][0]["id"], "quantity": 2}]})
    answer_cancel(acme, held["id"], "canceled")
    act(acme, held["id"], "accepted", {})
    done(act(acme, held["id"], "shipped", {"tracking_number": "T"}), "shipped")
    after = fulfillment(acme, held["id"])
    assert (after["fulfillment_state"], after["lines"][0]["quantity_shipped"]) == ("shipped", 3)
    assert state_of(shop, order) == "completed"
    assert numbers(acme, held["lines"][0]["sku"]) == (7, 0)


def test_a_refused_partial_cancel_leaves_all_open(acme, shop):
    """Contract 3: after a refusal, the supplier captures the fulfillment again, with all quantities."""
    order, held = one_fulfillment(acme, shop, quantity=5)
    cancel(shop, order, {"lines": [{"id": order["order_lines"][0]["id"], "quantity": 2}]})
    done(answer_cancel(acme, held["id"], REFUSED), "cancelation_not_allowed")
    assert fulfillment(acme, held["id"])["lines"][0]["quantity_canceled"] == 0
    assert numbers(acme, held["lines"][0]["sku"]) == (10, 5)
    done(act(acme, held["id"], "shipped", {"tracking_number": "T"}), "shipped")
    assert fulfillment(acme, held["id"])["lines"][0]["quantity_shipped"] == 5


def test_the_rest_of_a_split_shipment_is_cancelled(acme, shop):
    """Contract 3: if nothing is open and something was shipped, the state is `shipped`.

    The code of the answer is `canceled` nevertheless.
    """
    order, held = one_fulfillment(acme, shop, quantity=5)
    act(acme, held["id"], "accepted", {})
    act(
        acme,
        held["id"],
        "shipped",
        {"tracking_number": "T", "lines": [{"id": held["lines"][0]["id"], "quantity": 2}]},
    )
    done(cancel(shop, order), "cancel_requested")
    done(answer_cancel(acme, held["id"], "canceled"), "canceled")
    after = fulfillment(acme, held["id"])
    assert after["fulfillment_state"] == "shipped"
    line = after["lines"][0]
    assert (line["quantity_shipped"], line["quantity_canceled"]) == (2, 3)
    assert state_of(shop, order) == "completed"
    assert numbers(acme, held["lines"][0]["sku"]) == (8, 0)


def test_canceling_each_line_cancels_the_whole_order(acme, shop):
    """Contract 3: if nothing is open and nothing was shipped, the state is `canceled`."""
    order, held = one_fulfillment(acme, shop, quantity=2)
    done(
        cancel(shop, order, {"lines": [{"id": order["order_lines"][0]["id"], "quantity": 2}]}),
        "cancel_requested",
    )
    done(answer_cancel(acme, held["id"], "canceled"), "canceled")
    assert fulfillment(acme, held["id"])["fulfillment_state"] == "canceled"
    assert state_of(shop, order) == "canceled"


def test_one_line_of_two_is_cancelled(acme, rival, shop):
    """Contract 4: if lines have different suppliers, only the fulfillment of the named line is canceling."""
    mine, theirs = new_variant(acme, stock=5), new_variant(rival, stock=5)
    order = push(shop, {"variant_id": mine["id"], "quantity": 1}, {"variant_id": theirs["id"], "quantity": 1})
    done(cancel(shop, order, {"lines": [{"sku": mine["sku"], "quantity": 1}]}), "cancel_requested")
    assert held_by(acme, order)[0]["fulfillment_state"] == "canceling"
    assert held_by(rival, order)[0]["fulfillment_state"] == "new"


def test_units_without_a_supplier_are_cancelled_at_once(acme, rival, shop):
    """Contract 4: units without a supplier are canceled at once."""
    mine, theirs = new_variant(acme, stock=5), new_variant(rival, stock=5)
    order = push(
        shop,
        {"sku": mine["sku"], "supplier_id": acme.id, "quantity": 1},
        {"sku": theirs["sku"], "supplier_id": rival.id, "quantity": 1},
    )
    act(acme, held_by(acme, order)[0]["id"], "out_of_stock")
    assert state_of(shop, order) == "exception"
    answer = cancel(shop, order, {"lines": [{"sku": mine["sku"], "quantity": 1}]})
    assert well(answer)["code"] in ("order_canceled", "cancel_requested"), answer
    after = read(shop, order)
    assert after["processing_state"] in ("received", "processing")
    assert [line["quantity_canceled"] for line in after["order_lines"] if line["sku"] == mine["sku"]] == [1]
    assert held_by(rival, order)[0]["fulfillment_state"] == "new"


@pytest.mark.parametrize(
    "lines",
    [
        "x",
        5,
        {},
        [5],
        [None],
        [{}],
        [{"quantity": 1}],
        [{"id": 2_000_000_000, "quantity": 1}],
        [{"sku": "NO", "quantity": 1}],
        [{"id": "LINE"}],
        [{"id": "LINE", "quantity": 0}],
        [{"id": "LINE", "quantity": -1}],
        [{"id": "LINE", "quantity": "x"}],
        [{"id": "LINE", "quantity": Decimal("0.5")}],
        [{"id": "LINE", "quantity": True}],
        [{"id": "LINE", "quantity": 10**25}],
    ],
    ids=repr,
)
def test_wrong_lines_are_refused(acme, shop, lines):
    """Contract 2: the answer is 400 and names the field, and nothing changes."""
    order, held = one_fulfillment(acme, shop)
    if isinstance(lines, list):
        own = order["order_lines"][0]["id"]
        lines = [
            each | {"id": own} if isinstance(each, dict) and each.get("id") == "LINE" else each
            for each in lines
        ]
    answer = cancel(shop, order, {"lines": lines})
    if isinstance(lines, list) and lines[0] == {"id": order["order_lines"][0]["id"]} and answer.status == 200:
        return  # a line without a quantity may mean all units
    found = fault(answer, 400, ("validation_error", "missing_parameter"))
    assert found["errors"][0]["field"].startswith("lines"), answer
    assert fulfillment(acme, held["id"])["fulfillment_state"] == "new"


@pytest.mark.parametrize("name", ["lines", "line", "Lines", "line_items"])
def test_a_cancel_of_part_that_is_not_understood_never_cancels_all(acme, shop, name):
    """Contract, head: the service neither guesses the meaning of unclear input nor ignores it silently."""
    order, held = one_fulfillment(acme, shop)
    part = [] if name == "lines" else [{"sku": held["lines"][0]["sku"], "quantity": 1}]
    answer = cancel(shop, order, {name: part})
    if name == "line_items" and answer.status == 200:
        assert name in str(answer.json.get("warnings")), answer
        return
    fault(answer, 400, ("validation_error", "missing_parameter"))
    assert fulfillment(acme, held["id"])["fulfillment_state"] == "new"


def test_more_than_is_open_cannot_be_cancelled(acme, shop):
    """Contract, head: the service is exact, so it does not cancel fewer units than requested."""
    order, held = one_fulfillment(acme, shop, quantity=2)
    answer = cancel(shop, order, {"lines": [{"id": order["order_lines"][0]["id"], "quantity": 3}]})
    assert answer.status in (400, 409), answer
    fault(answer, answer.status, ("validation_error", "invalid_transition"))
    assert fulfillment(acme, held["id"])["fulfillment_state"] == "new"


@pytest.mark.parametrize("reason", [5, [], {}])
def test_a_reason_that_is_not_a_text_is_refused(acme, shop, reason):
    """Contract 2: the answer is 400 and names the field."""
    order, _ = one_fulfillment(acme, shop)
    fault(cancel(shop, order, {"reason": reason}), 400, "validation_error", "reason")


def test_cancelling_again_is_unchanged(acme, shop):
    """Contract 4: for an order that is already canceling or canceled, the answer is 200 `unchanged`."""
    order, held = one_fulfillment(acme, shop)
    done(cancel(shop, order), "cancel_requested")
    before = read(shop, order)
    done(cancel(shop, order), "unchanged")
    assert read(shop, order) == before
    answer_cancel(acme, held["id"], "canceled")
    done(cancel(shop, order), "unchanged")


def test_an_order_number_is_used_up_by_a_cancelled_order(acme, shop):
    """Contract 4: `retailer_order_id` is unique for each retailer, even among canceled orders."""
    variant = new_variant(acme, stock=5)
    body = order_body({"variant_id": variant["id"], "quantity": 1})
    number = done(shop.post("orders", body), "order_created", 201)["order_id"]
    cancel(shop, {"id": number})
    assert done(shop.post("orders", body), "order_exists")["order_id"] == number
