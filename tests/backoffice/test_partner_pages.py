"""The page of a partner, and the wizard that creates a partner with its keys and logins."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import ApiKey, Partnership, Retailer, Supplier
from backoffice.groups import OPERATORS
from backoffice.partners.forms import OnboardingForm
from backoffice.partners.pages import SENT, TAKEN
from events.models import Event
from inventory.models import Warehouse
from sftp_ingest.models import SftpLogin
from tests.backoffice.conftest import messages
from tests.client import ApiClient
from tests.factories import ImportJobFactory, IssuedKeyFactory, PartnershipFactory, StaffFactory

SUPPLIER = "/admin/accounts/supplier/onboard/"
RETAILER = "/admin/accounts/retailer/onboard/"


def answers(**changes):
    return {
        "name": "Fresh",
        "partners": [],
        "key_name": "ERP",
        "currency": "EUR",
        "warehouses": "North\nSouth\n",
        "sftp_username": "fresh",
        **changes,
    }


def test_a_supplier_is_onboarded_with_all_its_records(operator, shop, boutique):
    page = operator.post(SUPPLIER, answers(partners=[shop.pk, boutique.pk]), follow=True)
    handover = page.context["handover"]
    supplier = Supplier.objects.get(name="Fresh")
    assert (handover.party_id, supplier.currency) == (supplier.pk, "EUR")
    assert {each.retailer for each in Partnership.objects.filter(supplier=supplier)} == {shop, boutique}
    places = Warehouse.objects.filter(supplier=supplier).order_by("id")
    assert [(each.name, each.is_default) for each in places] == [("North", True), ("South", False)]
    assert SftpLogin.objects.get(supplier=supplier).check_password(handover.sftp_password)
    client = ApiClient(handover.api_key, f"/v3/suppliers/{supplier.pk}")
    assert client.get("warehouses").status_code == 200
    assert handover.api_key in page.text
    assert "no-store" in page.headers["Cache-Control"]
    happened = [each.type for each in Event.objects.order_by("id")]
    assert happened == [
        "supplier.created",
        "partnership.created",
        "partnership.created",
        "api_key.created",
        "warehouse.created",
        "warehouse.created",
        "sftp_login.created",
    ]
    assert handover.api_key not in str([*Event.objects.values_list("data", flat=True)])


def test_a_retailer_is_onboarded(operator, acme):
    form = {"name": "Fresh", "currency": "EUR", "partners": [acme.pk], "key_name": "Shop system"}
    page = operator.post(RETAILER, form, follow=True)
    retailer = Retailer.objects.get(name="Fresh")
    client = ApiClient(page.context["handover"].api_key, f"/v3/retailers/{retailer.pk}")
    assert client.get("variants", {"service_type": "ecommerce"}).status_code == 200
    assert ApiKey.objects.get(retailer=retailer).name == "Shop system"


def test_all_secrets_are_in_one_file_for_ten_minutes_and_one_operator(operator, support):
    page = operator.post(SUPPLIER, answers(), follow=True)
    handover, [(path, _)] = page.context["handover"], page.redirect_chain
    answer = operator.get(f"{path}access.txt")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="fresh-access.txt"'
    assert "no-store" in answer.headers["Cache-Control"]
    secrets = (handover.api_key, handover.client_id, "fresh", handover.sftp_password, "North")
    assert all(secret in answer.text for secret in secrets)
    assert handover.api_key in operator.get(path).text
    user_id, token = User.objects.get(username="olga").pk, path.split("/")[-2]
    assert handover.api_key not in cache.get(f"backoffice:handover:{user_id}:{token}")

    colleague = Client()
    colleague.force_login(StaffFactory.create(group=OPERATORS))
    for address in (path, f"{path}access.txt"):
        assert handover.api_key not in colleague.get(address, follow=True).text
    assert support.get(path).status_code == 403
    cache.delete(f"backoffice:handover:{user_id}:{token}")
    assert "Rotate the key" in operator.get(path, follow=True).text


def test_a_form_that_is_sent_twice_shows_the_secrets_of_its_only_partner_again(operator):
    form_id = operator.get(SUPPLIER).context["form"]["form_id"].value()
    first, again = (operator.post(SUPPLIER, answers(form_id=form_id), follow=True) for _ in range(2))
    assert [messages(page) for page in (first, again)] == [[], [SENT]]

    assert again.context["handover"] == first.context["handover"]
    assert Supplier.objects.filter(name="Fresh").count() == 1


def test_a_name_that_is_taken_after_the_check_of_the_form_is_refused(operator, acme, monkeypatch):
    monkeypatch.setattr(OnboardingForm, "clean_name", lambda form: form.cleaned_data["name"])

    page = operator.post(SUPPLIER, answers(name="Acme"))

    assert page.status_code == 200
    assert page.context["form"].non_field_errors() == [TAKEN]
    assert page.context["form"]["sftp_username"].value() == "fresh"
    assert not Warehouse.objects.filter(name="North").exists()


def test_without_a_cache_the_secrets_are_shown_once(operator, monkeypatch):
    def fail(*args):
        raise ConnectionError

    monkeypatch.setattr("backoffice.partners.handover.cache.set", fail)
    page = operator.post(SUPPLIER, answers())
    assert page.context["handover"].api_key in page.text
    assert "Copy the secrets now" in page.text
    assert "access.txt" not in page.text


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": "Acme"}, "A supplier with this name already exists."),
        ({"name": ""}, "This field is required."),
        ({"warehouses": " \n"}, "This field is required."),
        ({"warehouses": "A\nA"}, "Enter each name once"),
        ({"warehouses": "x" * 101}, "more than 100 characters"),
        ({"sftp_username": "taken"}, "Another login has this name."),
        ({"sftp_username": "no spaces"}, "valid"),
    ],
)
def test_a_wrong_form_creates_nothing(operator, acme, wrong, message):
    operator.post(SUPPLIER, answers(name="First", sftp_username="taken"))
    before = Supplier.objects.count(), ApiKey.objects.count()
    assert message in operator.post(SUPPLIER, answers(**wrong)).text
    assert (Supplier.objects.count(), ApiKey.objects.count()) == before


def test_support_reads_and_onboards_no_partner(support, acme):
    assert support.get(SUPPLIER).status_code == 403
    page = support.get(f"/admin/accounts/supplier/{acme.pk}/overview/")
    assert page.status_code == 200
    assert "Issue API key" not in page.text
    assert "onboard" not in support.get("/admin/accounts/supplier/").text


TABS = {
    "overview": "Not ready to trade",
    "orders": "Newest",
    "connections": "Stock system",
    "terms": "Partnerships",
    "team": "Mail address",
    "history": "History",
}


def of(party, tab):
    return f"/admin/accounts/{party.role}/{party.pk}/{tab}/"


def test_each_tab_of_a_partner_has_its_own_url(operator, acme, shop):
    key, secret = IssuedKeyFactory.create(party=acme, name="Stock system")
    IssuedKeyFactory.create(party=shop, name="Stock system")
    for party in (acme, shop):
        for tab, shown in TABS.items():
            page = operator.get(of(party, tab))
            assert shown in page.text, (party, tab)
            assert secret not in page.text
            assert [each.url for each in page.context["tabs"] if each.is_current] == [of(party, tab)]
    assert key.prefix in operator.get(of(acme, "connections")).text
    assert "Acme West" in operator.get(of(acme, "stock")).text
    assert "No imports yet" in operator.get(of(acme, "files")).text
    assert operator.get(of(shop, "files")).status_code == 404
    assert operator.get("/admin/accounts/supplier/999999/overview/").status_code == 404


def test_a_panel_needs_its_permission(acme, shop):
    reader, clerk = Client(), StaffFactory.create()
    clerk.user_permissions.add(Permission.objects.get(codename="view_supplier"))
    reader.force_login(clerk)
    assert reader.get(of(acme, "overview")).status_code == 200
    assert reader.get(of(acme, "orders")).status_code == 404
    assert "/connections/" not in reader.get(of(acme, "overview")).text


def test_a_partner_shows_what_is_missing_before_it_can_trade(operator, support, acme, shop, a_variant):
    IssuedKeyFactory.create(party=acme)
    page = operator.get(of(acme, "overview")).text
    assert "A listed variant" in page
    assert f"/admin/import-file/?supplier={acme.pk}" in page
    assert f"/admin/import-file/?supplier={acme.pk}" not in support.get(of(acme, "overview")).text
    a_variant(acme, "LAN-1", stock=1)
    assert "Not ready to trade" not in operator.get(of(acme, "overview")).text
    assert "A usable API key" in operator.get(of(shop, "overview")).text


@pytest.mark.parametrize("tab", ["overview", "orders", "stock", "files", "connections", "terms", "history"])
def test_a_tab_with_more_rows_costs_no_more_queries(operator, acme, shop, a_variant, pushed, tab):
    def asked():
        with CaptureQueriesContext(connection) as sent:
            operator.get(of(acme, tab))
        return len(sent)

    a_variant(acme, "LAN-1", stock=50)
    pushed(shop, {"sku": "LAN-1", "quantity": 1})
    ImportJobFactory.create(supplier=acme)
    asked()
    before = asked()
    for _ in range(3):
        pushed(shop, {"sku": "LAN-1", "quantity": 1})
        IssuedKeyFactory.create(party=acme)
        ImportJobFactory.create(supplier=acme)
        PartnershipFactory.create(supplier=acme)
    assert asked() == before
