"""The desk with only a keyboard: dialogs can be closed, and after an action the next row has the focus."""

import pytest

from orders.models import Order
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FOCUSED = "document.activeElement.innerText"


@pytest.fixture
def rows(browser, acme, shop, a_variant, client_for):
    """Create three orders with wrong addresses, and open the desk. Return their numbers, as sorted there."""
    a_variant(acme, "LAN-1", stock=10, wholesale_price=10)
    numbers = []
    for quantity in (3, 2, 1):
        answer = client_for(shop).post("orders", an_order({"sku": "LAN-1", "quantity": quantity}))
        order = Order.objects.get(pk=answer.json()["order_id"])
        client_for(acme).put(f"fulfillments/{order.fulfillments.get().pk}/setStatus/wrong_address")
        numbers.append(order.retailer_order_id)
    browser.start_as("olga")
    browser.open("/admin/desk/")
    return numbers


def focus(browser, row, label):
    named = browser.page.locator(".bo-desk tbody tr").nth(row).get_by_text(label).first
    named.evaluate("text => text.closest('a, button, summary').focus()")


def test_escape_closes_the_menu_of_a_row_and_focuses_its_button(browser, rows):
    focus(browser, 1, "More actions")
    browser.page.keyboard.press("Enter")
    browser.page.keyboard.press("Tab")
    assert browser.page.evaluate(FOCUSED) == "Cancel fulfillment"

    browser.page.keyboard.press("Escape")
    assert browser.page.locator(".bo-desk details[open]").count() == 0
    assert "More actions" in browser.page.evaluate(FOCUSED)


def test_taking_a_row_keeps_the_focus_on_it(browser, rows):
    focus(browser, 1, "Assign to me")
    with browser.page.expect_navigation():
        browser.page.keyboard.press("Enter")

    assert browser.page.evaluate(FOCUSED) == rows[1]


def test_after_solving_a_row_the_focus_is_on_the_next_one(browser, rows):
    focus(browser, 1, "Correct address")
    with browser.page.expect_navigation():
        browser.page.keyboard.press("Enter")
    browser.page.fill("#id_city", "Bath")
    with browser.page.expect_navigation():
        browser.page.keyboard.press("Enter")

    assert browser.page.locator(".bo-desk tbody tr").count() == 2
    assert browser.page.evaluate(FOCUSED) == rows[2]
