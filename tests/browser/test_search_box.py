"""The search box: records and commands that it shows while someone types, and the keyboard keys of lists."""

import pytest

from tests.factories import OrderFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HITS = "#ui-hits [data-hit]"
FOCUSED = "document.activeElement.innerText.trim()"


@pytest.fixture
def orders(browser, shop):
    for number in ("SH-100874", "SH-100875"):
        OrderFactory.create(retailer=shop, retailer_order_id=number)
    browser.start_as("olga")
    browser.open("/admin/orders/order/")


def keys(browser, *pressed):
    for key in pressed:
        browser.page.keyboard.press(key)


def test_hits_appear_while_someone_types_and_open_by_keyboard(browser, orders):
    keys(browser, "/")
    browser.page.keyboard.type("00874")
    browser.page.wait_for_selector(HITS)
    assert browser.page.locator(HITS).first.inner_text().startswith("SH-100874")
    keys(browser, "ArrowDown")
    with browser.page.expect_navigation():
        keys(browser, "Enter")
    assert "SH-100874" in browser.page.locator("h1").inner_text()


@pytest.mark.parametrize(("term", "announced"), [("Targets", "1 result"), ("SH-10087", "3 results")])
def test_the_number_of_results_is_announced_in_the_singular_and_the_plural(browser, orders, term, announced):
    keys(browser, "/")
    browser.page.keyboard.type(term)
    browser.page.wait_for_selector(f"#ui-hits-count:text-is('{announced}')", state="attached")


def test_escape_closes_the_hits(browser, orders):
    keys(browser, "/")
    browser.page.keyboard.type("SH-1")
    browser.page.wait_for_selector(HITS)
    keys(browser, "Escape")
    assert not browser.page.locator("#ui-hits").is_visible()


def test_commands_lead_to_any_page_and_show_the_actions_of_this_one(browser, orders):
    keys(browser, "j", "o")
    browser.page.wait_for_selector("text=Hold order")
    keys(browser, "Control+k")
    browser.page.wait_for_selector("#ui-hits >> text=System status")
    assert browser.page.locator("#ui-hits button", has_text="Hold order").count() == 1
    browser.page.keyboard.type("saved map")
    browser.page.locator("#ui-hits >> text=System status").wait_for(state="detached")
    keys(browser, "ArrowDown")
    with browser.page.expect_navigation():
        keys(browser, "Enter")
    assert browser.page.url.endswith("/admin/imports/savedmapping/")


def test_keys_move_through_a_list_and_do_nothing_while_someone_types(browser, orders):
    keys(browser, "j")
    assert browser.page.evaluate(FOCUSED) == "SH-100875"
    keys(browser, "j", "k", "j", "x")
    assert browser.page.evaluate(FOCUSED) == "SH-100874"
    assert browser.page.locator("tr:has(:focus) input:checked").count() == 1
    keys(browser, "?")
    assert browser.page.locator("#ui-keys").is_visible()
    keys(browser, "Escape")

    browser.page.fill("#searchbar", "")
    browser.page.locator("#searchbar").press_sequentially("jo?")
    assert browser.page.input_value("#searchbar") == "jo?"
    assert not browser.page.locator("#ui-keys").is_visible()
