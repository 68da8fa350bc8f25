"""A field that chooses a supplier or a retailer by name, with or without JavaScript."""

import pytest

from accounts.models import ApiKey, Contact
from fulfillments.models import PerformanceTarget
from tests.factories import SupplierFactory

ADD = "/admin/accounts/contact/add/"
PERSON = {"name": "Ada", "email": "ada@example.com", "telephone": ""}


@pytest.fixture
def add(operator):
    return lambda supplier: operator.post(ADD, PERSON | {"supplier": supplier, "retailer": ""})


@pytest.mark.parametrize("typed", ["{pk}", "{name} (id {pk})", "Old name (id {pk})", " {name} ", "{part}"])
def test_a_record_is_chosen_by_its_id_or_by_a_text_that_finds_only_this_record(add, typed):
    SupplierFactory.create(name="Baltic Boots")
    nordic = SupplierFactory.create(name="Nordic Mugs")
    answer = add(typed.format(pk=nordic.pk, name=nordic.name, part="mugs"))
    assert answer.status_code == 302
    assert Contact.objects.get().supplier == nordic


def test_a_name_that_matches_exactly_is_chosen_before_longer_names(add):
    short = SupplierFactory.create(name="Nordic")
    SupplierFactory.create(name="Nordic Mugs")
    assert add("nordic").status_code == 302
    assert Contact.objects.get().supplier == short


def test_a_text_that_finds_several_records_names_them(add):
    first, second = (SupplierFactory.create(name=name) for name in ("Nordic Mugs", "Nordic Boots"))
    page = add("nordic")
    assert page.status_code == 200
    assert f"Nordic Mugs (id {first.pk}), Nordic Boots (id {second.pk})" in page.text
    assert 'value="nordic"' in page.text, "the typed text must be shown again"
    assert not Contact.objects.exists()


@pytest.mark.parametrize("typed", ["Nobody", "Acme (id 999999999)", "999999999999999999", "\0", "%"])
def test_a_text_that_finds_no_record_is_refused(add, acme, typed):
    page = add(typed)
    assert page.status_code == 200
    assert not Contact.objects.exists()


def test_the_form_shows_the_name_of_the_stored_record_and_keeps_it(operator, acme, shop):
    partnership = acme.partnerships.get(retailer=shop)
    values = {"on_time_percent": 90, "most_refused_percent": 5, "ship_within_hours": 24}
    operator.post("/admin/fulfillments/performancetarget/add/", {**values, "partnership": partnership.pk})
    target = PerformanceTarget.objects.get()
    path = f"/admin/fulfillments/performancetarget/{target.pk}/change/"
    shown = f"{partnership} (id {partnership.pk})"
    assert f'value="{shown}"' in operator.get(path).text
    sent = {**values, "partnership": shown, "initial-partnership": partnership.pk}
    page = operator.post(path, sent, follow=True)
    assert "Nothing was changed" in page.text
    target.refresh_from_db()
    assert target.partnership == partnership


def test_a_link_fills_the_field_with_the_name(operator, acme):
    assert f'value="{acme.name} (id {acme.pk})"' in operator.get(f"{ADD}?supplier={acme.pk}").text
    assert 'value="x"' in operator.get(f"{ADD}?supplier=x").text


def test_a_key_is_made_for_a_party_that_was_typed(operator, acme):
    sent = {"name": "ERP", "supplier": acme.name, "retailer": ""}
    assert operator.post("/admin/accounts/apikey/add/", sent).status_code in (200, 302)
    assert ApiKey.objects.filter(name="ERP", supplier=acme).exists()
