"""How is this supplier doing? In a real browser, in any window."""

import pytest

from events.models import Event
from fulfillments.scorecard.sums import add_up
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_how_is_this_supplier_doing(browser, acme, shop, a_variant, client_for):
    a_variant(acme, "LAN-1", stock=10)
    for _ in range(3):
        client_for(shop).post("orders", an_order({"sku": "LAN-1", "quantity": 1}))
    Event.publish()
    add_up(seconds=10)
    browser.start_as("sam")
    browser.open("/admin/search/?q=acme")
    browser.press("Scorecard")
    assert browser.page.locator("h1").inner_text() == "Scorecard: Acme"
    assert browser.clicks == 1
    assert browser.page.locator(".bo-numbers dd").first.inner_text() == "3"
    assert browser.page.locator(".bo-chart svg rect").count() >= 1
    browser.page.locator(".bo-chart summary").first.click()
    assert browser.page.locator(".bo-chart table").first.is_visible()
    for width in (1280, 800, 390):
        browser.page.set_viewport_size({"width": width, "height": 900})
        assert browser.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_suppliers_page_keeps_within_the_window(browser, acme, shop):
    browser.start_as("olga")
    for width in (1280, 390):
        browser.page.set_viewport_size({"width": width, "height": 900})
        browser.open(f"/admin/accounts/supplier/{acme.pk}/change/")
        assert browser.page.evaluate("document.documentElement.scrollWidth") <= width
