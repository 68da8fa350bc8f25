"""The suspension of a supplier and its end, in a real browser."""

import pytest

from accounts.models import Suspension

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_supplier_is_suspended_and_resumed(browser, acme, shop):
    browser.start_as("olga")
    browser.open("/admin/")
    browser.page.keyboard.press("/")
    browser.page.keyboard.type("acme")
    with browser.page.expect_navigation():
        browser.page.keyboard.press("Enter")

    browser.press("Suspend supplier")  # the first click
    assert "Trade stops with: Shop" in browser.page.locator(".bo-meaning").inner_text()
    browser.page.fill("#id_reason", "Their warehouse burnt down")
    browser.press("Suspend supplier")  # the second click
    assert "Their warehouse burnt down" in browser.page.locator(".ui-note").inner_text()

    browser.press("Resume trading")  # the third click
    assert browser.messages() == ["Acme trades again."]
    assert browser.clicks == 3
    assert not Suspension.objects.in_force().exists()
