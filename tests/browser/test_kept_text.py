"""After the sign-in, a script puts the kept text back into the form whose session had ended."""

from __future__ import annotations

import pytest
from django.contrib.sessions.models import Session

from accounts.models import Member
from inventory.models import StockLevel
from tests.factories import MemberFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "long enough for anybody"


@pytest.fixture
def typed(acme, a_variant, browser):
    """Open the grid of stock as a clerk, and type a count of CHAIR."""
    a_variant(acme, "LAMP", stock=5)
    a_variant(acme, "CHAIR", stock=1)
    user = MemberFactory.create(supplier=acme).user
    user.set_password(PASSWORD)
    user.save()
    browser.start_as(user.get_username())
    browser.open("/portal/stock/")
    browser.page.get_by_label("On hand of CHAIR").fill("9")
    return browser


@pytest.fixture
def ended(typed):
    """End the session, change the stock of LAMP, send the form, and sign in again."""
    Session.objects.all().delete()
    StockLevel.objects.filter(variant__sku="LAMP").update(on_hand=2)
    typed.press("Save stock")
    typed.page.fill("[name=username]", Member.objects.get().user.get_username())
    typed.page.fill("[name=password]", PASSWORD)
    return typed


def counts() -> dict[str, int]:
    return dict(StockLevel.objects.values_list("variant__sku", "on_hand"))


def save(page):
    page.get_by_role("button", name="Save stock").click()


def test_an_untouched_row_shows_and_keeps_the_present_stock(ended):
    ended.click("main [type=submit], main button")
    assert ended.page.get_by_label("On hand of LAMP").input_value() == "2"
    assert ended.page.get_by_label("On hand of CHAIR").input_value() == "9"
    save(ended.page)
    ended.page.get_by_text("1 count saved.").wait_for()

    assert counts() == {"LAMP": 2, "CHAIR": 9}


def test_a_typed_row_whose_stock_changed_meanwhile_is_not_overwritten(ended):
    StockLevel.objects.filter(variant__sku="CHAIR").update(on_hand=3)
    ended.click("main [type=submit], main button")
    save(ended.page)
    ended.page.get_by_text("Someone changed '1' to '3' in the meantime.").wait_for()

    assert counts() == {"LAMP": 2, "CHAIR": 3}


def test_a_grid_whose_token_is_too_old_shows_the_typed_number_again(typed):
    typed.page.evaluate("document.querySelector('form.ui-grid').csrfmiddlewaretoken.value = 'a'.repeat(32)")
    typed.press("Save stock")
    typed.page.get_by_text("Your text was kept. It is not sent yet.").wait_for()

    assert typed.page.get_by_label("On hand of CHAIR").input_value() == "9"
    assert counts() == {"LAMP": 5, "CHAIR": 1}
    typed.complaints.clear()
