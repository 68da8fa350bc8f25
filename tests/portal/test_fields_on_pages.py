"""Each field of a pushed order is declared as shown or hidden on each page of an order."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client

from orders.models import Order
from orders.push_body import NOT_SHARED, ORDER_FIELDS
from tests.factories import MemberFactory
from tests.portal.conftest import browser_of

ADDRESS = {"address1": "1 Ship Street", "city": "Leeds", "country": "GB", "zip_code": "LS1 4AP"}

PUSHED: dict[str, tuple[object, str]] = {
    "retailer_order_id": ("NUMBER-1", "NUMBER-1"),
    "type": ("replenish", "Replenish"),
    "id_in_source": ("SOURCE-2", "SOURCE-2"),
    "billing_address": ({**ADDRESS, "address1": "3 Bill Street"}, "3 Bill Street"),
    "shipping_address": (ADDRESS, "1 Ship Street"),
    "shipping_method_code": ("METHOD-4", "METHOD-4"),
    "currency": ("SEK", "SEK"),
    "shipping_paid": (75.31, "75.31"),
    "shipping_tax": (63.17, "63.17"),
    "sales_division_code": ("DIVISION-5", "DIVISION-5"),
    "sales_order_number": ("SALES-6", "SALES-6"),
    "gift_message": ("Congratulations, Ada", "Congratulations, Ada"),
    "is_gift": (True, "<dt>Gift</dt>"),
    "ship_until": ("2031-03-04", "4 Mar 2031"),
    "original_created_at": ("2020-05-06", "6 May 2020"),
    "when_short": ("wait", "Wait for stock"),
    "notes": ([{"name": "engraving", "value": "For Bob"}], "For Bob"),
}
"""The value of each field in the push, and its text on a page."""

SHOWN: dict[str, set[str]] = {
    "operator": {
        *("retailer_order_id", "type", "billing_address", "shipping_address", "shipping_method_code"),
        *("currency", "sales_order_number", "gift_message", "is_gift", "ship_until", "when_short", "notes"),
    },
    "retailer": {
        *("retailer_order_id", "shipping_address", "shipping_method_code", "currency", "gift_message"),
        *("is_gift", "ship_until", "notes"),
    },
    "supplier": {
        *("retailer_order_id", "shipping_address", "shipping_method_code", "gift_message", "is_gift"),
        *("ship_until", "notes"),
    },
}
HIDDEN: dict[str, set[str]] = {
    "operator": {
        *("id_in_source", "shipping_paid", "shipping_tax", "sales_division_code", "original_created_at")
    },
    "retailer": {
        *("type", "id_in_source", "billing_address", "shipping_paid", "shipping_tax", "when_short"),
        *("sales_division_code", "sales_order_number", "original_created_at"),
    },
    "supplier": {*NOT_SHARED, "billing_address", "sales_order_number"},
}
"""The fields that clerks do not need on each page. The clerks' systems read them over the API."""
WRITTEN_IN = {
    "operator": "orders/admin/admin.py",
    "retailer": "templates/portal/buying/order.html",
    "supplier": "templates/portal/supplying/order.html",
}


@pytest.fixture
def page_of(acme, shop, client_for, a_variant, operator) -> Callable[..., str]:
    """Return a function that pushes an order with every field, and returns the text of one of its pages.

    Its keyword arguments replace fields of the push.
    """
    a_variant(acme, "LAMP", stock=5)
    lines = [{"sku": "LAMP", "quantity": 1, "billed_amount": 9}]

    def push(**others: object) -> Order:
        body = {name: value for name, (value, _) in PUSHED.items()}
        answer = client_for(shop).post("orders", {**body, **others, "order_lines": lines})
        assert answer.status_code == 201, answer.content
        return Order.objects.get()

    def text(page: str, **others: object) -> str:
        order = push(**others)
        pages: dict[str, tuple[Callable[[], Client], str]] = {
            "operator": (lambda: operator, f"/admin/orders/order/{order.pk}/change/"),
            "retailer": (lambda: browser(retailer=shop), f"/portal/purchases/{order.pk}/"),
            "supplier": (lambda: browser(supplier=acme), f"/portal/orders/{order.fulfillments.get().pk}/"),
        }
        client, path = pages[page]
        shown = client().get(path)
        assert shown.status_code == 200
        return unescape(shown.content.decode()).partition('id="history"')[0]

    return text


def browser(**party: Any) -> Client:
    return browser_of(MemberFactory.create(member_role="owner", **party))


@pytest.mark.parametrize("page", SHOWN)
def test_each_field_is_declared_for_each_page(page):
    declared = SHOWN[page] | HIDDEN[page]
    assert set(ORDER_FIELDS) - declared == set(), "declare these in SHOWN or HIDDEN"
    assert declared - set(ORDER_FIELDS) == set()
    assert SHOWN[page] & HIDDEN[page] == set()


def test_each_field_has_a_value_here():
    assert set(ORDER_FIELDS) - set(PUSHED) == set(), "give these a value in PUSHED"
    assert set(PUSHED) - set(ORDER_FIELDS) == set(), "remove these from PUSHED"


@pytest.mark.django_db
@pytest.mark.parametrize("page", SHOWN)
def test_a_page_shows_its_declared_fields_and_no_other(page, page_of):
    text = page_of(page)
    shown = {name for name, (_, mark) in PUSHED.items() if mark.lower() in text.lower()}

    assert SHOWN[page] - shown == set(), f"the {page}'s page ({WRITTEN_IN[page]}) lacks these"
    assert shown & HIDDEN[page] == set(), (
        f"the {page}'s page ({WRITTEN_IN[page]}) shows these, but HIDDEN names them"
    )


@pytest.mark.django_db
@pytest.mark.parametrize("page", SHOWN)
def test_a_page_shows_a_gift_message_of_an_order_that_is_not_marked_as_a_gift(page, page_of):
    assert "Congratulations, Ada" in page_of(page, is_gift=False)
