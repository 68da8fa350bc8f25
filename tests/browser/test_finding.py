"""The search box finds a record by its number, from any page, without the mouse."""

import pytest

from orders.models import Order
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def orders(acme, shop, a_variant, client_for):
    a_variant(acme, "LAN-1", stock=10, title="Storm Lantern")
    for number in ("SO-1", "SO-10"):
        body = an_order({"sku": "LAN-1", "quantity": 1}, retailer_order_id=number)
        assert client_for(shop).post("orders", body).status_code == 201
    return list(Order.objects.order_by("id"))


def type_into_the_box(browser, text):
    browser.page.keyboard.press("/")
    browser.page.keyboard.type(text)
    with browser.page.expect_navigation():
        browser.page.keyboard.press("Enter")


def test_a_whole_number_leads_to_its_order_without_a_click(browser, orders):
    browser.start_as("olga")
    browser.open("/admin/catalog/variant/")
    type_into_the_box(browser, "so-1")
    assert browser.page.locator("h1").inner_text().split("\n")[0] == "Order SO-1"


def test_arrow_keys_move_through_the_hits(browser, orders):
    browser.start_as("sam")
    browser.open("/admin/")
    type_into_the_box(browser, "so")
    assert browser.page.locator(".bo-hit strong").all_inner_texts() == ["SO-1", "SO-10"]
    browser.page.keyboard.press("ArrowDown")
    browser.page.keyboard.press("ArrowDown")
    with browser.page.expect_navigation():
        browser.page.keyboard.press("Enter")
    assert browser.page.locator("h1").inner_text().split("\n")[0] == "Order SO-10"


def test_the_box_fits_into_any_window(browser, orders):
    browser.start_as("olga")
    for width in (1280, 800, 390):
        browser.page.set_viewport_size({"width": width, "height": 900})
        browser.open("/admin/search/?q=a")
        assert browser.page.evaluate("document.documentElement.scrollWidth") <= width
        assert browser.page.locator("#ui-search-term").is_visible()
