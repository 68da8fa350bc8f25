"""Operators' daily tasks in a real browser, each with a maximum number of clicks."""

import pytest

from inventory.models import StockLevel
from orders.models import Order
from tests.browser.test_import_pages import _own_folder, held
from tests.factories import ImportJobFactory
from tests.orders.push_bodies import an_order

__all__ = ["_own_folder", "held"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def order(acme, shop, a_variant, client_for):
    a_variant(acme, "LAN-1", stock=10)
    answer = client_for(shop).post("orders", an_order({"sku": "LAN-1", "quantity": 2}))
    return Order.objects.get(pk=answer.json()["order_id"])


@pytest.fixture
def desk(browser):
    browser.start_as("olga")

    def open_(path="/admin/"):
        browser.open(path)
        return browser

    return open_


def at_supplier(client_for, supplier, order, move):
    client_for(supplier).put(f"fulfillments/{order.fulfillments.get().pk}/{move}")


def test_waiting_work_is_seen_without_a_click(desk, order, client_for, acme):
    at_supplier(client_for, acme, order, "setStatus/wrong_address")
    browser = desk()
    assert order.retailer_order_id in browser.page.inner_text(".bo-desk")
    assert browser.clicks == 0


def test_the_reason_why_an_order_is_stuck_takes_one_click_at_most(desk, order, client_for, acme):
    at_supplier(client_for, acme, order, "setStatus/out_of_stock")
    browser = desk()
    assert "Refused by all suppliers: 2 × LAN-1" in browser.page.inner_text(".bo-desk")
    browser.click(f".bo-desk a:text('{order.retailer_order_id}')")
    assert "this warehouse was out of stock for the line before" in browser.page.inner_text("#content")
    assert browser.clicks == 1


def test_an_order_is_found_by_its_number_without_a_click(desk, order):
    browser = desk()
    browser.page.keyboard.press("/")
    browser.page.keyboard.type(order.retailer_order_id)
    with browser.page.expect_navigation():
        browser.page.keyboard.press("Enter")
    assert order.retailer_order_id in browser.page.locator("h1").inner_text()
    assert browser.clicks == 0


def test_an_address_is_corrected_in_two_clicks_and_the_desk_is_empty(desk, order, client_for, acme):
    at_supplier(client_for, acme, order, "setStatus/wrong_address")
    browser = desk("/admin/desk/")
    browser.click(".bo-desk a:text('Correct address')")
    browser.page.fill("#id_city", "Bath")
    browser.press("Correct address")
    assert browser.clicks == 2
    assert "No open work" in browser.page.inner_text("#content")
    assert order.fulfillments.get().state == "new"


def test_an_operator_answers_for_a_silent_supplier_in_two_clicks(desk, order, client_for, shop):
    client_for(shop).post(f"orders/{order.pk}/cancel")
    browser = desk("/admin/desk/")
    browser.click(".bo-desk a:text('Approve cancellation')")
    assert "2 units are canceled on behalf of Acme." in browser.page.inner_text(".ui-effect")
    browser.page.fill("#id_reason", "By telephone")
    browser.press("Approve cancellation")
    assert browser.clicks == 2
    assert order.fulfillments.get().state == "canceled"


def test_an_order_goes_to_another_supplier_in_two_clicks(desk, order, rival, a_variant):
    a_variant(rival, "LAN-1", stock=10)
    browser = desk(f"/admin/orders/order/{order.pk}/change/")
    browser.click("#content .ui-button:text('Reassign')")
    assert "Rival" in browser.page.inner_text("#content")
    browser.page.fill("#id_reason", "Acme is on strike")
    browser.press("Reassign fulfillment")
    assert browser.clicks == 2
    assert sorted(order.fulfillments.values_list("state", flat=True)) == ["canceled", "new"]


def test_a_held_file_is_looked_at_and_approved_in_two_clicks(desk, held):
    browser = desk("/admin/desk/")
    browser.click(".bo-desk a:text('Approve')")
    assert "The file would set 119 of 120 stocked variants to 0." in browser.page.inner_text(".ui-effect")
    assert "Acme East" in browser.page.inner_text("#content")
    browser.press("Approve import")
    assert browser.clicks == 2
    held.refresh_from_db()
    assert held.approved_at


def test_reading_why_a_file_was_refused_and_writing_to_its_supplier_takes_two_clicks(desk, acme):
    job = ImportJobFactory.create(
        supplier=acme, status="failed", error={"code": "no_header", "message": "It has no header."}
    )
    browser = desk("/admin/desk/")
    assert "It has no header." in browser.page.inner_text(".bo-desk")
    browser.click(".bo-desk a:text('Message')")
    assert "It has no header." in browser.page.input_value("#id_text")
    browser.press("Message supplier")
    assert browser.clicks == 2
    assert "Acme finds the message as reports/" in browser.messages()[0]
    assert job.pk


def test_stock_is_adjusted_and_its_history_says_so_in_two_clicks(desk, order):
    level = StockLevel.objects.get(variant__sku="LAN-1")
    browser = desk(f"/admin/inventory/stocklevel/{level.pk}/change/")
    browser.press("Adjust stock")
    assert browser.page.inner_text(".ui-effect") == "LAN-1 in Acme East: 10 on hand."
    assert "2 reserved." in browser.page.inner_text("#content")
    browser.page.fill("#id_units", "-3")
    browser.page.fill("#id_reason", "Water damage")
    browser.press("Adjust stock")
    assert browser.clicks == 2
    assert "Water damage" in browser.page.inner_text("#content")
    level.refresh_from_db()
    assert level.on_hand == 7


def test_a_supplier_is_suspended_and_its_open_work_reassigned(desk, order, acme, rival, a_variant):
    a_variant(rival, "LAN-1", stock=10)
    browser = desk(f"/admin/accounts/supplier/{acme.pk}/suspend/")
    browser.page.fill("#id_reason", "Strike")
    browser.page.select_option("#id_open_work", "all")
    browser.press("Suspend supplier")
    browser.page.fill("#id_reason", "Strike")
    browser.click(".submit-row .default")
    assert browser.clicks == 2
    assert sorted(order.fulfillments.values_list("state", flat=True)) == ["canceled", "new"]


def test_a_row_is_taken_with_one_click(desk, order, client_for, acme):
    at_supplier(client_for, acme, order, "setStatus/wrong_address")
    browser = desk("/admin/desk/")
    browser.click(".bo-desk button:has-text('Assign to me')")
    assert browser.messages() == ["Assigned to you."]
    assert "olga" in browser.page.inner_text(".bo-desk")


def test_a_row_is_snoozed_from_the_desk(desk, order, client_for, acme):
    at_supplier(client_for, acme, order, "setStatus/wrong_address")
    browser = desk("/admin/desk/")
    browser.page.click(".bo-desk summary")
    browser.page.fill("[name=snooze_hours]", "4")
    browser.click(".bo-desk details button:text('Save note')")
    assert browser.messages() == ["Snoozed for 4 hours."]
    assert "No open work" in browser.page.inner_text("#content")


def test_an_operator_in_auckland_reads_both_clocks(desk, order, client_for, acme):
    at_supplier(client_for, acme, order, "setStatus/wrong_address")
    browser = desk()
    cookies = browser.page.context.cookies()
    away = browser.page.context.browser.new_context(timezone_id="Pacific/Auckland")
    away.add_cookies(cookies)
    page = away.new_page()
    page.goto(f"{browser.base}/admin/desk/")
    assert "in your time zone" in page.locator(".bo-zone").inner_text()
    away.close()


@pytest.mark.parametrize("path", ["/admin/desk/", "/admin/activity/"])
def test_pages_are_not_wider_than_the_window(desk, order, client_for, acme, path):
    at_supplier(client_for, acme, order, "setStatus/wrong_address")
    browser = desk()
    for width in (1280, 800, 390):
        browser.page.set_viewport_size({"width": width, "height": 900})
        browser.open(path)
        assert browser.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_double_click_adjusts_once_and_back_shows_the_new_stock(desk, order):
    level = StockLevel.objects.get(variant__sku="LAN-1")
    browser = desk(f"/admin/inventory/stocklevel/{level.pk}/do/adjust/")
    browser.page.fill("#id_units", "-3")
    browser.page.fill("#id_reason", "Water damage")
    with browser.page.expect_navigation():
        browser.page.dblclick(".submit-row .default")
    assert browser.messages() == ["7 on hand; before: 10."]

    browser.page.go_back()
    assert "7 on hand" in browser.page.inner_text(".ui-effect")
    level.refresh_from_db()
    assert level.on_hand == 7
