"""A partner on one page, and the wizard that lets one in with all that it needs."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import ApiKey, Partnership, Retailer, Supplier
from events.models import Event
from inventory.models import Warehouse
from sftp_ingest.models import SftpLogin
from tests.client import ApiClient
from tests.factories import IssuedKeyFactory, PartnershipFactory

SUPPLIER = "/admin/accounts/supplier/onboard/"
RETAILER = "/admin/accounts/retailer/onboard/"


def answers(**changes):
    return {
        "name": "Fresh",
        "partners": [],
        "key_name": "ERP",
        "warehouses": "North\nSouth\n",
        "sftp_username": "fresh",
        **changes,
    }


def test_a_supplier_is_onboarded_with_all_its_records(operator, shop, boutique):
    page = operator.post(SUPPLIER, answers(partners=[shop.pk, boutique.pk]))
    newcomer = page.context["newcomer"]
    supplier = Supplier.objects.get(name="Fresh")
    assert newcomer.party == supplier
    assert {each.retailer for each in Partnership.objects.filter(supplier=supplier)} == {shop, boutique}
    places = Warehouse.objects.filter(supplier=supplier).order_by("id")
    assert [(each.name, each.is_default) for each in places] == [("North", True), ("South", False)]
    assert SftpLogin.objects.get(supplier=supplier).check_password(newcomer.sftp_password)
    client = ApiClient(newcomer.secret, f"/v3/suppliers/{supplier.pk}")
    assert client.get("warehouses").status_code == 200
    assert newcomer.secret in page.text
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
    assert newcomer.secret not in str([*Event.objects.values_list("data", flat=True)])


def test_a_retailer_is_onboarded(operator, acme):
    page = operator.post(RETAILER, {"name": "Fresh", "partners": [acme.pk], "key_name": "Shop system"})
    retailer = Retailer.objects.get(name="Fresh")
    client = ApiClient(page.context["newcomer"].secret, f"/v3/retailers/{retailer.pk}")
    assert client.get("variants", {"service_type": "ecommerce"}).status_code == 200
    assert ApiKey.objects.get(retailer=retailer).name == "Shop system"


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


def test_one_page_shows_the_whole_partner(operator, acme, rival, shop):
    key, secret = IssuedKeyFactory.create(party=acme, name="Stock system")
    page = operator.get(f"/admin/accounts/supplier/{acme.pk}/overview/").text
    for shown in ("Shop", "Stock system", key.prefix, "Acme East", "Acme West", "Issue API key", "Scorecard"):
        assert shown in page
    assert secret not in page
    assert "Acme" in operator.get(f"/admin/accounts/retailer/{shop.pk}/overview/").text
    assert operator.get("/admin/accounts/supplier/999999/overview/").status_code == 404


def test_it_costs_the_same_however_many_partners_there_are(operator, acme):
    def asked():
        with CaptureQueriesContext(connection) as sent:
            operator.get(f"/admin/accounts/supplier/{acme.pk}/overview/")
        return len(sent)

    asked()
    before = asked()
    for _ in range(5):
        PartnershipFactory.create(supplier=acme)
        IssuedKeyFactory.create(party=acme)
    assert asked() == before
