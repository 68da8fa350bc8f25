"""The portal's lists with a keyboard, and its grids that work like a spreadsheet.

Lists and grids also work without JavaScript.
"""

from __future__ import annotations

import pytest

from accounts.models import Supplier
from catalog.models import Variant
from fulfillments.models import Fulfillment
from inventory.models import StockLevel
from tests.factories import MemberFactory
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FOCUSED = "document.activeElement"
PASTE = """(text) => {
    const data = new DataTransfer();
    data.setData("text", text);
    const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(event);
}"""


@pytest.fixture
def clerk(browser, acme: Supplier):
    browser.start_as(MemberFactory.create(supplier=acme).user.get_username())
    return browser


@pytest.fixture
def numbers(acme, shop, a_variant, client_for) -> list[str]:
    """Create three new orders, and return their numbers, the newest first."""
    a_variant(acme, "LAMP", stock=10)
    for _ in range(3):
        client_for(shop).post("orders", an_order({"sku": "LAMP", "quantity": 1}))
    newest = Fulfillment.objects.order_by("-pk")
    return list(newest.values_list("order__retailer_order_id", flat=True))


@pytest.fixture
def grid(acme, a_variant, clerk):
    """Open the grid of stock, with the variants A, B and C and one unit of each."""
    for sku in "ABC":
        a_variant(acme, sku, stock=1)
    clerk.open("/portal/stock/")
    return clerk


def counts() -> dict[str, int]:
    return dict(StockLevel.objects.order_by("-pk").values_list("variant__sku", "on_hand"))


def test_rows_can_be_focused_selected_and_opened_by_keys(clerk, numbers):
    clerk.open("/portal/orders/")
    keyboard = clerk.page.keyboard
    keyboard.press("j")
    keyboard.press("j")
    assert clerk.page.evaluate(f"{FOCUSED}.innerText") == numbers[1]
    keyboard.press("x")
    assert clerk.page.locator("[name=chosen]:checked").count() == 1
    keyboard.press("/")
    assert clerk.page.evaluate(f"{FOCUSED}.type") == "search"
    clerk.page.locator(f'a:text-is("{numbers[1]}")').focus()
    keyboard.press("k")
    with clerk.page.expect_navigation():
        keyboard.press("o")
    assert clerk.page.inner_text("h1").startswith(f"Order {numbers[0]}")


def test_arrows_move_through_a_column_and_a_pasted_column_fills_it(grid):
    grid.page.get_by_label("On hand of C").focus()
    grid.page.keyboard.press("ArrowDown")
    assert grid.page.evaluate(f"{FOCUSED}.getAttribute('aria-label')") == "On hand of B"
    grid.page.keyboard.press("ArrowUp")
    grid.page.evaluate(PASTE, "7\tC\r\n8\tB\r\n9\tA\r\n10\tmore\r\n")
    grid.page.get_by_role("button", name="Save stock").click()
    grid.page.locator(".ui-messages li").wait_for()

    assert counts() == {"C": 7, "B": 8, "A": 9}


def test_saving_updates_the_rows_in_place_and_keeps_the_focus(grid):
    grid.page.evaluate("window.wasHere = true")
    grid.page.get_by_label("On hand of B").fill("")
    grid.page.get_by_label("On hand of C").fill("5")
    grid.page.keyboard.press("Enter")
    grid.page.get_by_text("Enter 0 if nothing is left.").wait_for()

    assert grid.page.evaluate("window.wasHere") is True
    assert grid.page.evaluate(f"{FOCUSED}.getAttribute('aria-label')") == "On hand of C"
    assert counts() == {"C": 5, "B": 1, "A": 1}


def test_a_save_that_empties_the_list_still_shows_its_result(grid):
    grid.open("/portal/stock/?tab=available")
    for sku in "ABC":
        grid.page.get_by_label(f"On hand of {sku}").fill("0")
    grid.page.keyboard.press("Enter")
    grid.page.get_by_text("Nothing matches").wait_for()

    assert "3 counts saved." in " ".join(grid.messages())


@pytest.mark.parametrize(
    ("fail", "reason"),
    [
        (lambda route: route.fulfill(status=503, body="busy"), "the service answered 503"),
        (lambda route: route.abort(), "the service cannot be reached"),
    ],
)
def test_typed_numbers_stay_if_the_service_does_not_save_them(grid, fail, reason):
    grid.page.route("**/portal/stock/**", fail, times=1)
    grid.page.get_by_label("On hand of C").fill("5")
    grid.page.keyboard.press("Enter")
    grid.page.get_by_text(f"Not saved: {reason}. Your changes are still here. Save them again.").wait_for()
    assert grid.page.get_by_label("On hand of C").input_value() == "5"
    grid.complaints.clear()

    grid.page.get_by_role("button", name="Save stock").click()
    grid.page.get_by_text("1 count saved.").wait_for()
    assert counts() == {"C": 5, "B": 1, "A": 1}
    assert grid.page.get_by_text("Not saved").count() == 0


def test_a_clerk_works_without_javascript(chromium, clerk, numbers):
    context = chromium.browser.new_context(java_script_enabled=False, storage_state=chromium.storage_state())
    page = context.new_page()
    page.goto(f"{clerk.base}/portal/")
    page.click("text=Accept all new orders")
    page.click('button:text("Accept orders (3)")')
    page.goto(f"{clerk.base}/portal/quick-ship/")
    page.fill("#rows", "\n".join(f"{number}\tPARCEL-{place}" for place, number in enumerate(numbers)))
    page.click('button:text("Check rows")')
    page.click('button:text("Ship 3 orders")')
    page.goto(f"{clerk.base}/portal/products/")
    page.get_by_label("Retail price of LAMP").fill("12.5")
    page.click('button:text("Save products")')
    assert page.inner_text(".ui-messages li") == "1 product changed."
    context.close()

    assert set(Fulfillment.objects.values_list("state", flat=True)) == {"shipped"}
    assert str(Variant.objects.get().retail_price) == "12.5000"
    clerk.open("/portal/")
