"""A supplier's daily tasks in the portal, in a real browser, each with a maximum number of clicks."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import ApiKey, Invitation
from fulfillments.models import Fulfillment
from fulfillments.states import State
from imports.pipeline.job_runner import run_job
from orders.models import Order
from tests.factories import MemberFactory
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def work(acme, shop, a_variant, client_for):
    """Return a function that creates orders of two lamps each, and returns their fulfillments."""
    a_variant(acme, "LAMP", stock=50)

    def make(count=1):
        answers = [
            client_for(shop).post("orders", an_order({"sku": "LAMP", "quantity": 2})) for _ in range(count)
        ]
        orders = [Order.objects.get(pk=answer.json()["order_id"]) for answer in answers]
        return [order.fulfillments.get() for order in orders]

    return make


@pytest.fixture
def today(browser, acme):
    """Return a function that opens *Today* as Acme's owner."""
    MemberFactory.create(supplier=acme, user__username="ana@acme.example", user__email="ana@acme.example")

    def open_():
        browser.start_as("ana@acme.example")
        browser.open("/portal/")
        return browser

    return open_


def number(work):
    return work.order.retailer_order_id


def menu(browser, title):
    browser.click(f'nav a:has-text("{title}")')


def open_order(browser, work):
    browser.click(f'a:text("{number(work)}")')


def state(work):
    return Fulfillment.objects.get(pk=work.pk).state


def test_new_orders_are_seen_without_a_click_and_their_slips_take_two(work, today):
    [first] = work()
    browser = today()
    assert number(first) in browser.page.inner_text("#content")
    assert browser.clicks == 0

    menu(browser, "Orders")
    link = browser.page.locator('.ui-button:text("Print slips of new orders")').get_attribute("href")
    # Download the PDF file instead of opening it: a headless browser does not show PDF files.
    slips = browser.page.request.get(f"{browser.base}{link}")

    assert slips.headers["content-type"] == "application/pdf"
    assert browser.clicks + 1 == 2


def test_an_order_is_shipped_in_three_clicks(work, today):
    [first] = work()
    browser = today()
    open_order(browser, first)
    browser.press("Ship parcel")
    browser.page.fill("#id_tracking_number", "PARCEL-1")
    browser.press("Ship parcel")
    assert state(first) == "shipped"
    assert browser.clicks == 3


def test_ten_orders_are_shipped_by_paste_in_three_clicks(work, today):
    works = work(10)
    browser = today()
    menu(browser, "Quick ship")
    rows = "\n".join(f"{number(each)}\tPARCEL-{each.pk}" for each in works)
    browser.page.fill("#rows", rows)
    browser.press("Check rows")
    browser.press("Ship 10 orders")
    assert {state(each) for each in works} == {"shipped"}
    assert browser.clicks == 3


def test_a_part_of_a_line_is_shipped_in_four_clicks(work, today):
    [first] = work()
    browser = today()
    open_order(browser, first)
    browser.press("Ship parcel")
    browser.page.fill("#id_tracking_number", "PART-1")
    browser.page.fill(f"#id_line_{first.lines.get().pk}", "1")
    browser.press("Ship parcel")
    assert first.lines.get().shipped == 1
    assert browser.clicks <= 4


def test_an_order_is_refused_with_a_restock_date_in_four_clicks(work, today):
    [first] = work()
    browser = today()
    open_order(browser, first)
    browser.press("Reject: out of stock")
    browser.page.fill("#id_expected_at", (timezone.now() + timedelta(days=9)).date().isoformat())
    browser.press("Reject: out of stock")
    assert state(first) == State.OUT_OF_STOCK
    assert browser.clicks <= 4


def test_a_cancellation_is_answered_in_two_clicks(work, today, client_for, shop):
    [first] = work()
    client_for(shop).post(f"orders/{first.order_id}/cancel")
    browser = today()
    browser.press("Approve cancellation")
    browser.press("Approve cancellation")
    assert state(first) == State.CANCELED
    assert browser.clicks == 2


def test_a_tracking_number_is_corrected_in_four_clicks(work, today, client_for, acme):
    [first] = work()
    api = client_for(acme)
    for status, body in (("accepted", {}), ("shipped", {"tracking_number": "TYPO"})):
        assert api.put(f"fulfillments/{first.pk}/setStatus/{status}", body).status_code == 200
    browser = today()
    menu(browser, "Orders")
    browser.page.fill("[type=search]", "TYPO")
    with browser.page.expect_navigation():
        browser.page.keyboard.press("Enter")
    open_order(browser, first)
    browser.click('a:text("Correct tracking number")')
    browser.page.fill("#id_tracking_number", "RIGHT")
    browser.press("Correct tracking number")
    assert first.shipments.get().tracking_number == "RIGHT"
    assert browser.clicks == 4


def test_a_key_is_made_in_three_clicks(today, acme):
    browser = today()
    menu(browser, "Connections")
    browser.press("Create API key")
    browser.page.fill("#id_name", "ERP of Ana")
    browser.press("Create API key")
    key = ApiKey.objects.get(supplier=acme, name="ERP of Ana")
    assert key.prefix in browser.page.inner_text("#content")
    assert browser.clicks == 3


def test_a_colleague_is_invited_in_three_clicks(today, acme):
    browser = today()
    menu(browser, "Team")
    browser.press("Invite member")
    browser.page.fill("#id_email", "bo@acme.example")
    browser.press("Invite member")
    assert Invitation.objects.get(supplier=acme).email == "bo@acme.example"
    assert browser.clicks == 3


def test_stock_is_uploaded_and_a_rejected_row_corrected_in_six_clicks(
    today, acme, a_variant, settings, tmp_path, monkeypatch
):
    settings.UPLOADS_DIR = tmp_path
    monkeypatch.setattr("imports.wake.wake", run_job)
    lamp, vase = a_variant(acme, "LAMP", stock=1), a_variant(acme, "VASE", stock=1)
    browser = today()
    menu(browser, "Files")
    browser.page.select_option("#id_kind", "inventory")
    file = {"name": "stock.csv", "mimeType": "text/csv", "buffer": b"sku,quantity\nLAMP,12\nVASE,many\n"}
    browser.page.set_input_files("#id_file", file)
    browser.press("Upload file")
    browser.press("Try file")
    browser.press("Import file")
    browser.press("Correct rejected rows")
    browser.page.fill('[aria-invalid="true"]', "7")
    browser.press("Send corrected rows")

    assert [each.stock.get().on_hand for each in (lamp, vase)] == [12, 7]
    assert browser.clicks == 6
