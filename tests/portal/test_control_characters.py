"""The forms of the portal and of the admin refuse control characters in texts, as the API does."""

from __future__ import annotations

import pytest
from django.contrib.auth.forms import AuthenticationForm
from django.forms import BaseForm, CharField
from django.urls import get_resolver

from api.form_fields import refuse_control_characters
from catalog.models import Variant
from fulfillments.models import Shipment
from tests.portal.conftest import act

ODD = "A\x1bB"
MESSAGE = "Must not hold a control character: U+001B (at character 2)."


@pytest.fixture
def lamp(acme, a_variant):
    return a_variant(acme, "LAMP", stock=5, retail_price="20", title="Lamp")


@pytest.fixture
def order(pushed, shop, lamp):
    return pushed(shop, {"sku": "LAMP", "quantity": 2})


def test_a_title_in_the_portal(ana, lamp):
    page = ana.post(f"/portal/products/{lamp.pk}/", {f"{lamp.pk}-title": ODD})
    assert MESSAGE in page.text
    assert Variant.objects.get().title == "Lamp"


def test_a_title_in_the_admin(operator, lamp):
    page = operator.post(f"/admin/catalog/variant/{lamp.pk}/change/", {"title": ODD})
    assert MESSAGE in page.text
    assert Variant.objects.get().title == "Lamp"


def test_a_tracking_number(ana, order):
    work = order.fulfillments.get()
    assert MESSAGE in act(ana, f"/portal/orders/{work.pk}/do/ship/", tracking_number=ODD).text
    assert not Shipment.objects.exists()


def test_a_corrected_address(sam, operator, order):
    address = order.shipping_address
    for browser, path in ((sam, "/portal/purchases"), (operator, "/admin/orders/order")):
        page = act(browser, f"{path}/{order.pk}/do/correct-address/", **{**address, "city": ODD})
        assert MESSAGE in page.text
    order.refresh_from_db()
    assert order.shipping_address == address


def test_tabs_and_line_ends_are_texts():
    for text in ("a\tb", "a\nb", "a\r\nb", {"json": "a"}):
        refuse_control_characters(text)


def test_every_field_of_every_form_refuses_them():
    for urls in ("config.urls", "portal.site_urls"):
        assert get_resolver(urls).url_patterns  # loads the modules with forms
    fields = [
        (form, name)
        for form in _forms(BaseForm)
        if not form.__module__.startswith(("django", "allauth", "tests"))
        and not issubclass(form, AuthenticationForm)  # sign-in stores no text
        for name, field in form.base_fields.items()
        if isinstance(field, CharField) and refuse_control_characters not in field.validators
    ]
    assert fields == []


def _forms(kind):
    for form in kind.__subclasses__():
        yield from _forms(form)
        if hasattr(form, "base_fields"):
            yield form
