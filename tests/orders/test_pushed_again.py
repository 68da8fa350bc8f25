"""A push that is repeated in other words, or after a change of the order."""

from __future__ import annotations

import pytest

from accounts.models import Retailer
from orders.erasing import erase_all
from orders.models import Order
from orders.services import correct_address
from tests.orders.fixtures import OPERATOR
from tests.orders.push_bodies import an_order


@pytest.fixture
def body(acme, a_variant):
    a_variant(acme, "LAMP", stock=10)
    return an_order({"sku": "LAMP", "quantity": 1, "billed_amount": 10})


@pytest.mark.parametrize("first", [{}, {"currency": "USD"}])
@pytest.mark.parametrize("second", [{}, {"currency": "USD"}])
def test_the_default_currency_may_be_named_or_left_out_even_after_a_correction(body, shop_api, first, second):
    order = shop_api.post("orders", body | first).json()["order_id"]
    with Order.objects.get(pk=order).change(by=OPERATOR) as change:
        correct_address(change, {"address1": "9 New Street"})

    again = shop_api.post("orders", body | second)

    assert (again.status_code, again.json()["code"]) == (200, "order_exists")


def test_a_push_is_repeated_after_the_default_currency_became_one_without_fractions(body, shop, shop_api):
    """A retry after a lost answer would otherwise look like an order that was never created."""
    body["order_lines"][0]["billed_amount"] = 10.5
    order = shop_api.post("orders", body).json()["order_id"]
    Retailer.objects.filter(pk=shop.pk).update(currency="JPY")

    again = shop_api.post("orders", body).json()

    assert (again["code"], again["order_id"]) == ("order_exists", order)


def test_another_currency_is_other_content(body, shop_api):
    shop_api.post("orders", body)

    again = shop_api.post("orders", {**body, "currency": "EUR"})

    assert (again.status_code, again.json()["code"]) == (409, "order_conflict")
    assert [each["field"] for each in again.json()["errors"]] == ["currency"]


def test_a_fraction_that_the_currency_has_not_is_refused_before_the_number_is_looked_up(body, shop_api):
    body["currency"] = "JPY"
    assert shop_api.post("orders", body).status_code == 201
    body["order_lines"][0]["billed_amount"] = 10.5

    again = shop_api.post("orders", body)

    assert (again.status_code, again.json()["code"]) == (400, "validation_error")


def test_a_conflict_with_a_completed_order_does_not_advise_to_cancel_it(body, shop_api):
    shop_api.post("orders", body)
    work = Order.objects.get().fulfillments.get()
    with work.order.change(by=OPERATOR) as change:
        work.accept(change)
        work.ship(change, tracking_number="T-1")
    body["order_lines"][0]["quantity"] = 2

    message = shop_api.post("orders", body).json()["message"]

    assert "use another number" in message
    assert "cancel it" not in message


NOTE = [{"name": "Color", "value": "red"}]
ADDRESS = {"first_name": "Jane", "address1": "7 Secret Street", "country": "DE"}
PERSONAL = {"shipping_address": ADDRESS, "notes": NOTE, "gift_message": "With love"}


@pytest.fixture
def erased(body, shop_api):
    """Return the body of an order that was canceled and erased."""
    body |= PERSONAL
    body["order_lines"][0]["notes"] = NOTE
    order = shop_api.post("orders", body).json()["order_id"]
    shop_api.post(f"orders/{order}/cancel")
    work = Order.objects.get().fulfillments.get()
    with work.order.change(by=OPERATOR) as change:
        work.approve_cancelation(change)
    assert erase_all(Order.objects.all(), by=OPERATOR) == (1, [])
    return body


def test_an_erased_order_is_repeated_with_the_same_content(erased, shop_api):
    assert shop_api.post("orders", erased).json()["code"] == "order_exists"


def test_a_conflict_with_an_erased_order_names_no_erased_field(erased, shop_api):
    erased["order_lines"][0]["quantity"] = 2

    again = shop_api.post("orders", erased)

    assert (again.status_code, again.json()["code"]) == (409, "order_conflict")
    assert [each["field"] for each in again.json()["errors"]] == ["order_lines[0].quantity"]
    assert "personal data is erased" in again.json()["message"]


def test_another_address_is_other_content_also_after_the_erasure(erased, shop_api):
    erased["shipping_address"] = ADDRESS | {"address1": "9 New Street"}

    again = shop_api.post("orders", erased)

    assert (again.status_code, again.json()["code"]) == (409, "order_conflict")
    assert "differs in" not in again.json()["message"]
