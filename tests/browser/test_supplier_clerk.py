"""Tasks of a supplier's clerk in a real browser, each with a maximum number of clicks."""

import pytest
from django.utils import timezone

from accounts.member_roles import MemberRole
from catalog.models import Variant
from fulfillments.models import Fulfillment
from tests.factories import MemberFactory
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def clerk(browser, acme):
    member = MemberFactory.create(supplier=acme, member_role=MemberRole.OWNER)
    browser.start_as(member.user.get_username())
    browser.open("/portal/")
    return browser


@pytest.fixture
def work(acme, shop, a_variant, client_for):
    a_variant(acme, "LAMP", stock=10, title="Brass lamp", retail_price="20")
    for _ in range(3):
        assert client_for(shop).post("orders", an_order({"sku": "LAMP", "quantity": 1})).status_code == 201
    return Fulfillment.objects.order_by("pk")


def test_a_price_is_fixed_in_three_clicks(work, clerk):
    clerk.click(".ui-nav a:has-text('Products')")
    clerk.clicks += 1
    clerk.page.get_by_label("Retail price of LAMP").click()
    clerk.page.get_by_label("Retail price of LAMP").fill("21.5")
    clerk.clicks += 1
    clerk.page.get_by_role("button", name="Save products").click()  # the page is not loaded again
    clerk.page.locator(".ui-messages li").wait_for()

    assert clerk.messages() == ["1 product changed."]
    assert clerk.clicks == 3
    assert str(Variant.objects.get().retail_price) == "21.5000"


def test_all_new_orders_are_accepted_in_two_clicks(work, clerk):
    clerk.press("Accept all new orders")
    clerk.press("Accept orders (3)")

    assert clerk.clicks == 2
    assert {each.state for each in work.all()} == {"accepted"}


def test_finding_the_reason_why_an_order_is_late_takes_one_click(work, clerk, shop):
    work.update(due_at=timezone.now())
    clerk.page.reload()
    clerk.click(".ui-table tbody th a")

    text = clerk.page.inner_text("#content")
    assert "This order is late" in text
    assert "You had to accept it by" in text
    assert clerk.clicks == 1
