"""Operators at work in a real browser: what they see, press, and are told."""

import pytest

from orders.models import Order
from tests.orders.bodies import an_order

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def order(acme, shop, a_variant, client_for):
    """Two lanterns that Acme cannot deliver: nobody lives at that address."""
    a_variant(acme, "LAN-1", stock=10)
    answer = client_for(shop).post("orders", an_order({"sku": "LAN-1", "quantity": 2}))
    order = Order.objects.get(pk=answer.json()["order_id"])
    fulfillment = order.fulfillments.get()
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/wrong_address")
    return order


def test_an_operator_corrects_an_address_from_the_home_page(desk, order, client_for, acme):
    desk.log_in("olga")
    queue = desk.page.locator(".bo-queue", has_text="Orders in exception")
    assert queue.locator(".bo-count").inner_text() == "1"
    with desk.page.expect_navigation():
        queue.get_by_role("link", name=order.retailer_order_id).click()
    assert desk.page.locator("h1").inner_text().startswith(f"Order {order.retailer_order_id}")

    desk.press("Correct address")
    assert desk.page.input_value("#id_city") == "London"
    desk.page.fill("#id_address1", "1 New Street")
    desk.page.fill("#id_city", "Bath")
    desk.press("Correct address")

    assert desk.messages() == [
        f"The address was corrected; order {order.retailer_order_id} is received now.",
    ]
    assert "1 New Street" in desk.page.locator(".bo-columns").inner_text()
    assert "order.address_corrected" in desk.page.locator(".bo-history").inner_text()
    [again] = client_for(acme).get("fulfillments", {"filter": '{"fulfillment_state":"new"}'}).json()
    assert again["shipping_address"]["city"] == "Bath"


def test_an_operator_forgets_the_country_and_is_told_where(desk, order):
    desk.sit_down("olga")
    desk.open(f"/admin/orders/order/{order.pk}/do/correct-address/")
    desk.page.fill("#id_country", "")
    desk.press("Correct address")
    assert desk.page.locator(".form-row.errors").inner_text().count("This field is required.") == 1
    assert desk.page.input_value("#id_city") == "London"


def test_an_operator_holds_releases_and_cancels(desk, order):
    desk.sit_down("olga")
    desk.open(f"/admin/orders/order/{order.pk}/change/")
    desk.press("Hold")
    assert desk.messages() == [f"Order {order.retailer_order_id} is held."]
    desk.press("Release")
    assert desk.messages() == [f"Order {order.retailer_order_id} is released."]

    desk.press("Cancel order")
    desk.page.fill("#id_reason", "Nobody lives there")
    desk.press("Cancel order")
    assert "2 pieces are canceled" in desk.messages()[0]
    assert desk.page.locator("h1 .bo-state").inner_text() == "canceled"
    assert "Nobody lives there" in desk.page.locator(".bo-history").inner_text()


def test_an_operator_moves_a_fulfillment_and_acts_on_many_from_the_list(desk, order):
    desk.sit_down("olga")
    desk.open(f"/admin/fulfillments/fulfillment/{order.fulfillments.get().pk}/change/")
    desk.press("Release again")
    desk.press("Accept")
    desk.press("Accept")
    assert desk.page.locator("h1 .bo-state").inner_text() == "accepted"

    desk.open("/admin/orders/order/")
    desk.page.check("#action-toggle")
    desk.page.select_option("select[name=action]", label="Hold")
    desk.click(".actions button")
    assert desk.messages() == ["Hold: done for 1."]


def test_support_sees_and_cannot_act(desk, order):
    desk.log_in("sam")
    queue = desk.page.locator(".bo-queue", has_text="Orders in exception")
    with desk.page.expect_navigation():
        queue.get_by_role("link", name=order.retailer_order_id).click()
    assert "order.created" in desk.page.locator(".bo-history").inner_text()
    assert desk.page.locator(".bo-deed").count() == 0
    desk.open("/admin/orders/order/")
    assert desk.page.locator("select[name=action]").count() == 0


@pytest.mark.parametrize("path", ["/admin/", "/admin/orders/order/", "/admin/fulfillments/fulfillment/"])
def test_pages_keep_within_the_window(desk, order, path):
    desk.sit_down("olga")
    for width in (1280, 800, 420):
        desk.page.set_viewport_size({"width": width, "height": 900})
        desk.open(path)
        assert desk.page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_pages_of_the_api_load_nothing_from_elsewhere(desk):
    desk.open("/v3/docs")
    desk.page.wait_for_load_state("networkidle")
