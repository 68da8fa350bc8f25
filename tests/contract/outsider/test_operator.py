"""Actions of an operator, and their effects in the API (contract 3, 4 and 11)."""

from __future__ import annotations

import json
import re

import pytest

from .admin_browser import Operator
from .http_client import done, unique, well
from .steps import (
    act,
    bring_to,
    fulfillment,
    held_by,
    new_variant,
    numbers,
    one_fulfillment,
    push,
    put_stock,
    read,
    state_of,
)

WORK = json.dumps({"retailer_state": "ordered", "fulfillment_state": "new"})


@pytest.fixture(scope="module")
def operator(demo):
    return Operator(demo["admin"])


def page_of(order):
    return f"/admin/orders/order/{order['id']}/change/"


def captured(supplier):
    answer, found = supplier.get("fulfillments", {"filter": WORK, "limit": 500}), []
    while True:
        found += [each["id"] for each in well(answer)]
        if not answer.next:
            return found
        answer = supplier.get(answer.next)


def test_the_operators_home_page_opens(operator):
    """Contract 11: demo.json has the login of an operator for the admin."""
    assert "/admin/orders/order/" in operator.start
    for part in sorted(set(re.findall(r'href="(/admin/[a-z_]+/[a-z_]+/)"', operator.start))):
        assert operator.open(part), part


def test_a_held_order_is_not_captured_until_it_is_released(acme, shop, operator):
    """Contract 3 and 12: an order held by an operator has `retailer_state: pending` until its release."""
    order, held = one_fulfillment(acme, shop)
    operator.press(page_of(order), "hold")
    assert fulfillment(acme, held["id"])["retailer_state"] == "pending"
    assert held["id"] not in captured(acme)
    assert well(shop.get("order-filters"))["pending"] >= 1
    operator.press(page_of(order), "release")
    assert fulfillment(acme, held["id"])["retailer_state"] == "ordered"
    assert held["id"] in captured(acme)
    bring_to("shipped", acme, shop, order, held["id"])
    assert state_of(shop, order) == "completed"


def test_a_held_order_can_be_cancelled(acme, shop, operator):
    """Contract 4: the retailer can cancel an order that an operator holds."""
    order, held = one_fulfillment(acme, shop)
    operator.press(page_of(order), "hold")
    answer = shop.post(f"orders/{order['id']}/cancel")
    assert well(answer)["code"] in ("cancel_requested", "order_canceled"), answer
    assert fulfillment(acme, held["id"])["fulfillment_state"] in ("canceling", "canceled")


def test_a_corrected_address_brings_the_fulfillment_back_to_new(acme, shop, operator):
    """Contract 3: after an operator corrects the address, `wrong_address` becomes `new`."""
    order, held = one_fulfillment(acme, shop)
    done(act(acme, held["id"], "wrong_address"), "wrong_address")
    operator.press(page_of(order), "correct-address", address1="13 St James's Square")
    page = f"/admin/fulfillments/fulfillment/{held['id']}/change/"
    if fulfillment(acme, held["id"])["fulfillment_state"] == "wrong_address":
        operator.press(page, "correct-address")
    after = fulfillment(acme, held["id"])
    assert after["fulfillment_state"] == "new"
    assert after["shipping_address"]["address1"] == "13 St James's Square"
    assert read(shop, order)["shipping_address"]["address1"] == "13 St James's Square"
    assert state_of(shop, order) == "received"
    assert held["id"] in captured(acme)
    bring_to("shipped", acme, shop, order, held["id"])
    assert state_of(shop, order) == "completed"


def test_a_wrong_address_without_a_correction_can_be_canceled(acme, shop, operator):
    """Contract 3: an operator can change `wrong_address` to `canceled`.

    Contract 12: the reserved units are then released.
    """
    order, held = one_fulfillment(acme, shop)
    done(act(acme, held["id"], "wrong_address"), "wrong_address")
    operator.press(f"/admin/fulfillments/fulfillment/{held['id']}/change/", "give-up")
    assert fulfillment(acme, held["id"])["fulfillment_state"] == "canceled"
    assert state_of(shop, order) == "canceled"
    assert numbers(acme, held["lines"][0]["sku"]) == (10, 0)


def test_an_operator_decides_about_refused_lines(acme, shop, operator):
    """Contract 4: an order with rejected units that no other supplier can fill is in `exception`."""
    order, held = one_fulfillment(acme, shop)
    done(act(acme, held["id"], "out_of_stock"), "out_of_stock")
    assert state_of(shop, order) == "exception"
    operator.press(page_of(order), "drop-refused")
    after = read(shop, order)
    assert after["processing_state"] == "canceled"
    assert after["order_lines"][0]["quantity_canceled"] == 2


def test_an_operator_routes_again_when_stock_has_come_in(acme, rival, shop, operator):
    """Contract 3 and 4: rejected units are routed to another supplier that has stock."""
    sku = unique("TWIN")
    new_variant(acme, stock=5, sku=sku, wholesale_price=1)
    new_variant(rival, stock=0, sku=sku, wholesale_price=2)
    order = push(shop, {"sku": sku, "quantity": 2})
    done(act(acme, held_by(acme, order)[0]["id"], "out_of_stock"), "out_of_stock")
    put_stock(rival, sku, 5)
    if state_of(shop, order) == "exception":
        operator.press(page_of(order), "route-again")
    order = read(shop, order)
    assert held_by(rival, order)[0]["fulfillment_state"] == "new"
    assert order["processing_state"] == "received"


def test_a_cancellation_by_an_operator_works_like_one_by_the_retailer(acme, shop, operator):
    """Contract 3: the cancellation changes `new` to `canceling`."""
    order, held = one_fulfillment(acme, shop)
    operator.press(page_of(order), "cancel", reason="by telephone")
    assert fulfillment(acme, held["id"])["fulfillment_state"] == "canceling"
    assert state_of(shop, order) == "canceling"
