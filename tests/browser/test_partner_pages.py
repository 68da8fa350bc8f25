"""Onboarding a partner, and correcting a variant's price and stock, in a real browser."""

import pytest
from django.utils import timezone

from accounts.models import Supplier
from fulfillments.models import Fulfillment
from tests.client import ApiClient
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_supplier_is_onboarded_with_all_its_secrets_in_one_file(browser, shop):
    browser.start_as("olga")
    browser.open("/admin/")
    browser.click(".ui-nav span:text('Partners')")
    browser.press("Onboard supplier")
    browser.page.fill("#id_name", "Fresh")
    browser.page.fill("#id_warehouses", "North")
    browser.page.check("text=Shop")
    browser.clicks += 1
    browser.page.fill("#id_sftp_username", "fresh")
    browser.press("Onboard supplier")
    with browser.page.expect_download() as download:
        browser.page.click(".ui-button:text('Download all secrets')")
    browser.clicks += 1
    facts = dict(
        line.split(": ", 1) for line in download.value.path().read_text().splitlines() if ": " in line
    )
    supplier = Supplier.objects.get(name="Fresh")
    client = ApiClient(facts["API key, also the OAuth client_secret"], f"/v3/suppliers/{supplier.pk}")
    assert client.get("warehouses").status_code == 200
    assert facts["SFTP user name"] == "fresh"
    browser.page.locator("[data-copy]").first.click()
    browser.page.locator("[data-copy]", has_text="Cop").first.wait_for()
    browser.press("Open Fresh")
    assert "A listed variant" in browser.page.inner_text("#content")
    assert browser.clicks == 6


def test_the_tabs_of_a_partner_work_without_script(chromium, browser, acme, shop):
    browser.start_as("olga")
    context = chromium.browser.new_context(java_script_enabled=False, storage_state=chromium.storage_state())
    page = context.new_page()
    page.goto(f"{browser.base}/admin/accounts/supplier/{acme.pk}/overview/")
    for tab in ("Orders", "Stock", "Files", "Connections", "Terms", "Team", "History"):
        page.click(f".ui-tabs a:text('{tab}')")
        assert page.inner_text(".ui-tabs [aria-current]") == tab
        assert page.locator(".ui-card").count() > 0
    context.close()
    browser.open("/admin/")


def test_price_and_stock_are_corrected_and_their_history_shows_it(browser, acme, a_variant):
    a_variant(acme, "LAN-1", stock=7, retail_price="19.99")
    browser.start_as("olga")
    browser.open("/admin/search/?q=lan-1")
    browser.page.fill("#id_retail_price", "21")
    browser.click("input[name=_continue]")
    history = browser.page.locator(".bo-variant-history").inner_text()
    assert "19.99" in history
    assert "user:olga" in history
    browser.click('.field-stock a:text("Count")')
    browser.page.fill("#id_on_hand", "5")
    browser.press("Count stock")
    assert "5 (-2)" in browser.page.locator(".field-stock_movements").inner_text()
    assert browser.clicks == 3


def test_pages_of_partners_are_not_wider_than_the_window(browser, acme, shop):
    browser.start_as("olga")
    paths = (f"/admin/accounts/supplier/{acme.pk}/overview/", "/admin/accounts/supplier/onboard/")
    for width in (1280, 390):
        browser.page.set_viewport_size({"width": width, "height": 900})
        for path in paths:
            browser.open(path)
            assert browser.page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_a_name_of_two_hundred_letters_widens_no_page(browser, acme, shop, a_variant, client_for):
    a_variant(acme, "LAN-1", stock=7)
    order_id = client_for(shop).post("orders", an_order({"sku": "LAN-1", "quantity": 2})).json()["order_id"]
    Supplier.objects.filter(pk=acme.pk).update(name="W" * 200)
    Fulfillment.objects.update(state="canceling", state_before_cancel="accepted", due_at=timezone.now())
    work = Fulfillment.objects.get()
    own = f"/admin/accounts/supplier/{acme.pk}"
    paths = [f"{own}/{page}/" for page in ("overview", "scorecard", "suspend")]
    paths += [
        "/admin/",
        "/admin/desk/",
        "/admin/search/?q=WWW",
        f"/admin/fulfillments/fulfillment/{work.pk}/change/",
    ]
    paths += [
        f"/admin/fulfillments/fulfillment/{work.pk}/do/approve-cancelation/",
        f"/admin/orders/order/{order_id}/change/",
    ]
    browser.start_as("olga")
    wide = []
    for width in (1280, 390):
        browser.page.set_viewport_size({"width": width, "height": 900})
        for path in paths:
            browser.open(path)
            assert "WWW" in browser.page.content()
            shown = browser.page.evaluate("document.documentElement.scrollWidth")
            wide += [(path, width, shown)] if shown > width else []
    assert wide == []
