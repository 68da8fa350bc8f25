"""Operators see the orders that wait for stock, with their items, ages and suppliers."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

LIST = "/admin/orders/orderline/"


@pytest.fixture
def waiting(acme, shop, a_variant, pushed):
    """Create three orders for Acme's two lamps.

    The first order gets the lamps, the second order is short, and the third order waits.
    """
    a_variant(acme, "LAMP", stock=2)
    return [
        pushed(shop, {"sku": "LAMP", "quantity": 2}),
        pushed(shop, {"sku": "LAMP", "quantity": 3}),
        pushed(shop, {"sku": "LAMP", "quantity": 4}, when_short="wait"),
    ]


def listed(operator, **query) -> list[int]:
    page = operator.get(LIST, {"waiting": "1", **query})
    assert page.status_code == 200
    return [line.order_id for line in page.context["cl"].result_list]


def test_the_list_shows_waiting_orders_and_their_suppliers(operator, waiting):
    _, short, unrouted = waiting

    assert listed(operator) == [unrouted.pk, short.pk]
    text = operator.get(LIST, {"waiting": "1"}).text
    assert "3 at Acme" in text
    assert "no supplier" in text


def test_the_list_is_searched_by_sku_and_by_order(operator, waiting, acme, shop, a_variant, pushed):
    rug = a_variant(acme, "RUG", upc="036000291452")
    by_variant = pushed(shop, {"variant_id": rug.pk, "quantity": 1})
    by_upc = pushed(shop, {"upc": "036000291452", "quantity": 1})
    _, short, unrouted = waiting

    assert listed(operator, q="LAMP") == [unrouted.pk, short.pk]
    assert listed(operator, q="RUG") == [by_upc.pk, by_variant.pk]
    assert listed(operator, q=f"order:{short.pk}") == [short.pk]
    assert listed(operator, q=short.retailer_order_id) == [short.pk]


def test_the_list_takes_the_same_queries_for_any_number_of_orders(operator, waiting, shop, pushed):
    def asked() -> int:
        with CaptureQueriesContext(connection) as statements:
            listed(operator)
        return len(statements)

    before = asked()
    for _ in range(5):
        pushed(shop, {"sku": "LAMP", "quantity": 1})

    assert asked() == before


def test_a_lines_page_leads_to_its_order(operator, waiting):
    line = waiting[1].lines.get()

    assert f"/admin/orders/order/{waiting[1].pk}/change/" in operator.get(f"{LIST}{line.pk}/change/").text


@pytest.mark.parametrize("page", ["catalog/variant", "inventory/stocklevel"])
def test_the_pages_of_the_variant_and_of_its_stock_show_its_backorders(operator, waiting, acme, page):
    variant = acme.variants.get(sku="LAMP")
    pk = variant.pk if page.startswith("catalog") else variant.stock.get().pk

    text = operator.get(f"/admin/{page}/{pk}/change/").text

    shown = text.lower().partition("backorders")[2]
    for order in waiting[1:]:
        assert f"/admin/orders/order/{order.pk}/change/" in shown
    assert "no supplier yet" in text


def test_without_waiting_orders_the_pages_say_so(operator, order):
    variant = order.fulfillments.get().lines.get().variant

    assert "No backorders." in operator.get(f"/admin/catalog/variant/{variant.pk}/change/").text


def test_the_orders_page_shows_waiting_units(operator, waiting):
    text = operator.get(f"/admin/orders/order/{waiting[2].pk}/change/").text

    assert re.search(r"<small[^>]*>\d+ waiting for stock</small>", text)
    assert "wait for stock" in text


def test_support_sees_the_list_of_waiting_orders_too(support, waiting):
    assert len(listed(support)) == 2
