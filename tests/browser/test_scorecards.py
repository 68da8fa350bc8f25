"""Scorecards in a real browser, in windows of any size."""

import pytest

from events.models import Event
from fulfillments.scorecard.sums import add_up
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_scorecard_shows_how_a_supplier_performs(browser, acme, shop, a_variant, client_for):
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
    assert browser.page.locator(".ui-numbers dd").first.inner_text().splitlines()[0] == "3"
    assert browser.page.locator(".ui-chart svg rect").count() >= 1
    browser.page.locator(".ui-chart summary").first.click()
    assert browser.page.locator(".ui-chart table").first.is_visible()
    for width in (1280, 800, 390):
        browser.page.set_viewport_size({"width": width, "height": 900})
        assert browser.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_suppliers_page_is_not_wider_than_the_window(browser, acme, shop):
    browser.start_as("olga")
    for width in (1280, 390):
        browser.page.set_viewport_size({"width": width, "height": 900})
        browser.open(f"/admin/accounts/supplier/{acme.pk}/change/")
        assert browser.page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_ranking_is_one_click_from_home(browser, acme, shop, a_variant, client_for):
    a_variant(acme, "LAN-1", stock=10)
    client_for(shop).post("orders", an_order({"sku": "LAN-1", "quantity": 1}))
    Event.publish()
    add_up(seconds=10)
    browser.start_as("olga")
    browser.open("/admin/")
    browser.click(".ui-nav span:text('Performance')")
    assert browser.clicks == 1
    assert "Acme" in browser.page.inner_text("#content table")
    for width in (1440, 820, 390):
        browser.page.set_viewport_size({"width": width, "height": 900})
        assert browser.page.evaluate("document.documentElement.scrollWidth") <= width
    browser.page.set_viewport_size({"width": 1280, "height": 900})
    browser.click("#content table a:text('1')")
    assert "counted=received" in browser.page.url
