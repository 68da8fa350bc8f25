"""A field for the name of a record proposes names while an operator types."""

from __future__ import annotations

import pytest

from accounts.models import Contact
from tests.factories import SupplierFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_typing_proposes_names_and_a_chosen_name_is_saved(browser, acme):
    nordic = SupplierFactory.create(name="Nordic Mugs")
    browser.start_as("olga")
    browser.open("/admin/accounts/contact/add/")
    page = browser.page
    page.locator("[name=supplier]").press_sequentially("nord")
    proposals = page.locator("#supplier-choices option")
    # The first names, which the focus proposes, may come before the names for the typed text.
    page.wait_for_selector("#supplier-choices option:only-child", state="attached")
    assert proposals.evaluate_all("all => all.map(each => each.value)") == [f"Nordic Mugs (id {nordic.pk})"]

    page.fill("[name=supplier]", proposals.first.get_attribute("value"))
    page.fill("[name=name]", "Ada")
    browser.press("Save")
    assert Contact.objects.get().supplier == nordic


def test_a_field_proposes_the_first_names_when_it_gets_the_focus(browser, acme, shop):
    browser.start_as("olga")
    browser.open("/admin/accounts/partnership/add/")
    browser.page.focus("[name=retailer]")
    browser.page.wait_for_selector("#retailer-choices option", state="attached")
