"""Orders and fulfillments in a real browser: operators open pages, press buttons and read the messages."""

import pytest

from orders.models import Order
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def order(acme, shop, a_variant, client_for):
    """Create an order of two lanterns that Acme rejected because of a wrong address."""
    a_variant(acme, "LAN-1", stock=10)
    answer = client_for(shop).post("orders", an_order({"sku": "LAN-1", "quantity": 2}))
    order = Order.objects.get(pk=answer.json()["order_id"])
    fulfillment = order.fulfillments.get()
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/wrong_address")
    return order


def test_an_operator_corrects_an_address_from_the_home_page(browser, order, client_for, acme):
    browser.log_in("olga")
    kind = browser.page.locator(".bo-kinds li", has_text="Wrong address")
    assert kind.inner_text().split()[-1] == "1"
    with browser.page.expect_navigation():
        browser.page.locator(".bo-desk").get_by_role("link", name=order.retailer_order_id, exact=True).click()
    assert browser.page.locator("h1").inner_text().startswith("Fulfillment")

    browser.press("Correct address")
    assert browser.page.input_value("#id_city") == "London"
    browser.page.fill("#id_address1", "1 New Street")
    browser.page.fill("#id_city", "Bath")
    browser.press("Correct address")

    assert browser.messages() == [
        f"The address was corrected; order {order.retailer_order_id} is received now.",
    ]
    browser.open(f"/admin/orders/order/{order.pk}/change/")
    assert "1 New Street" in browser.page.locator("aside").inner_text()
    assert "order.address_corrected" in browser.page.locator(".ui-history").text_content()
    [again] = client_for(acme).get("fulfillments", {"filter": '{"fulfillment_state":"new"}'}).json()
    assert again["shipping_address"]["city"] == "Bath"


def test_the_form_shows_which_field_lacks_the_country(browser, order):
    browser.start_as("olga")
    browser.open(f"/admin/orders/order/{order.pk}/do/correct-address/")
    browser.page.fill("#id_country", "")
    browser.press("Correct address")
    assert browser.page.locator(".form-row.errors").inner_text().count("This field is required.") == 1
    assert browser.page.input_value("#id_city") == "London"


def test_an_operator_holds_releases_and_cancels(browser, order):
    browser.start_as("olga")
    browser.open(f"/admin/orders/order/{order.pk}/change/")
    browser.press("Hold order")
    assert "No supplier can work on it until it is released." in browser.page.inner_text(".ui-effect")
    browser.page.fill("#id_reason", "Looks like fraud")
    browser.press("Hold order")
    assert browser.messages() == [f"Order {order.retailer_order_id} is held."]
    assert "Looks like fraud" in browser.page.locator(".ui-history").inner_text()
    browser.press("Release order")
    browser.press("Release order")
    assert browser.messages() == [f"Order {order.retailer_order_id} is released."]

    browser.press("Cancel order")
    browser.press("Cancel order")
    assert browser.page.locator(".form-row.errors").inner_text().count("This field is required.") == 1
    browser.page.fill("#id_reason", "Nobody lives there")
    browser.press("Cancel order")
    assert "2 units are canceled" in browser.messages()[0]
    assert browser.page.locator("h1 .ui-badge").inner_text() == "Canceled"
    assert "Nobody lives there" in browser.page.locator(".ui-history").inner_text()


def test_an_operator_moves_a_fulfillment_and_acts_on_many_from_the_list(browser, order):
    browser.start_as("olga")
    browser.open(f"/admin/fulfillments/fulfillment/{order.fulfillments.get().pk}/change/")
    browser.press("Correct address")
    browser.page.fill("#id_city", "Bath")
    browser.press("Correct address")
    browser.press("Accept fulfillment")
    browser.press("Accept fulfillment")
    assert browser.page.locator("h1 .ui-badge").inner_text() == "Accepted"

    browser.open("/admin/orders/order/")
    browser.page.check("#action-toggle")
    browser.click(".ui-bulk button:text('Hold')")
    assert "1 will be done." in browser.page.inner_text(".ui-effect")
    browser.page.fill("#id_reason", "The supplier asked for it")
    browser.click(".submit-row .default")
    assert "1 done." in browser.page.inner_text(".ui-effect")
    browser.press("Undo with Release order: 1")
    browser.click(".submit-row .default")
    assert not Order.objects.get().held


def test_support_sees_and_cannot_act(browser, order):
    browser.log_in("sam")
    with browser.page.expect_navigation():
        browser.page.locator(".bo-desk").get_by_role("link", name=order.retailer_order_id, exact=True).click()
    assert "fulfillment.created" in browser.page.locator(".ui-history").text_content()
    assert browser.page.locator("#content .ui-button").all_inner_texts() == ["Print packing slip"]
    browser.open("/admin/orders/order/")
    assert browser.page.locator(".ui-bulk").count() == 0


@pytest.mark.parametrize("path", ["/admin/", "/admin/orders/order/", "/admin/fulfillments/fulfillment/"])
def test_pages_are_not_wider_than_the_window(browser, order, path):
    browser.start_as("olga")
    for width in (1280, 800, 420):
        browser.page.set_viewport_size({"width": width, "height": 900})
        browser.open(path)
        assert browser.page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_pages_of_the_api_load_nothing_from_other_hosts(browser):
    browser.open("/v3/docs")
    browser.page.wait_for_load_state("networkidle")
