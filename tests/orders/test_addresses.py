"""Addresses of orders: countries become codes, and doubtful values give warnings."""

from __future__ import annotations

import pytest

from orders.models import Order
from tests.orders.push_bodies import ADDRESS, an_order


@pytest.fixture
def pushed(acme, a_variant, shop_api):
    """Return a function that pushes an order of one lamp to an address, and returns the answer."""
    a_variant(acme, "LAMP", stock=10)

    def push(number: str = "R-1", *, billing: dict[str, str] | None = None, **address: str):
        body = an_order({"sku": "LAMP", "quantity": 1}, retailer_order_id=number)
        body["shipping_address"] = ADDRESS | address
        if billing:
            body["billing_address"] = ADDRESS | billing
        return shop_api.post("orders", body)

    return push


@pytest.mark.parametrize("country", ["GB", "gbr", "UK", "Great Britain", "United Kingdom"])
def test_a_country_is_kept_by_its_code(pushed, shop_api, country):
    answer = pushed(country=country, billing={"country": "Deutschland", "zip_code": "10115"})

    assert answer.json()["warnings"] == []
    order = shop_api.get(f"orders/{answer.json()['order_id']}").json()
    assert order["shipping_address"]["country"] == "GB"
    assert order["billing_address"]["country"] == "DE"


def test_an_unknown_country_is_kept_with_a_warning_that_suggests_one(pushed, shop_api):
    answer = pushed(country="Germny", zip_code="10115")

    assert answer.status_code == 201
    assert answer.json()["warnings"] == [
        "shipping_address.country: There is no country 'Germny'. Did you mean DE (Germany)? "
        "It was stored unchanged."
    ]
    order = shop_api.get(f"orders/{answer.json()['order_id']}").json()
    assert order["shipping_address"]["country"] == "Germny"
    assert Order.objects.get().has_unknown_country


def test_a_postcode_that_does_not_fit_its_country_gives_a_warning(pushed):
    [warning] = pushed(country="DE", zip_code="SW1Y 4JH").json()["warnings"]

    assert warning.startswith(
        "shipping_address.zip_code: 'SW1Y 4JH' cannot be a postcode in DE, where one looks"
    )


def test_a_ship_until_in_the_past_is_a_warning(acme, a_variant, shop_api):
    a_variant(acme, "LAMP", stock=10)

    answer = shop_api.post("orders", an_order({"sku": "LAMP", "quantity": 1}, ship_until="2020-01-31"))

    assert answer.json()["warnings"] == ["ship_until: 2020-01-31 is in the past."]


def test_the_same_order_with_another_spelling_of_its_country_is_the_same(pushed):
    first, again = pushed(country="UK"), pushed(country="United Kingdom")

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["order_id"] == first.json()["order_id"]


def test_an_order_from_before_country_codes_is_recognized(pushed):
    first = pushed(country="UK")
    Order.objects.update(
        content_digest="as it was",
        shipping_address=ADDRESS | {"country": "UK", "address2": "", "state": "", "company_name": ""},
    )

    again = pushed(country="UK")

    assert again.json()["code"] == "order_exists"
    assert again.json()["order_id"] == first.json()["order_id"]
    assert pushed(country="FR").json()["code"] == "order_conflict"


def test_a_strict_partner_takes_no_order_to_an_unknown_country(pushed, shop):
    shop.partnerships.update(strict_addresses=True)

    answer = pushed(country="Narnia")

    assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")
    [error] = answer.json()["errors"]
    assert (error["field"], error["code"]) == ("shipping_address.country", "unknown_country")
    assert error["message"].startswith("There is no country 'Narnia'. Partners that have these goods")
    assert not Order.objects.exists()
    assert pushed(country="GB").status_code == 201


def test_goods_go_to_a_partner_that_is_not_strict(pushed, shop, acme, rival, a_variant):
    a_variant(rival, "LAMP", stock=10, wholesale_price="99")
    shop.partnerships.filter(supplier=acme).update(strict_addresses=True)

    pushed(country="Narnia")

    assert Order.objects.get().fulfillments.get().supplier == rival
