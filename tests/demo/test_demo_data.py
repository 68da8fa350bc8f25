"""The demo's parties, and demo.json with every value that a client needs."""

from __future__ import annotations

import json
import stat

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from accounts.models import ApiKey, Partnership, Retailer, Supplier
from catalog.models import Variant
from inventory.models import StockLevel, Warehouse
from orders.models import Order
from sftp_ingest.models import SftpLogin
from tests.client import ApiClient
from tools.demo import credentials, passwords

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def data_dir(settings, tmp_path):
    settings.DATA_DIR = settings.SECRETS_DIR = tmp_path
    return tmp_path


def write():
    call_command("demo_data", "--write-demo-json", verbosity=0)
    return json.loads(credentials.path().read_text())


def rows():
    models = (Supplier, Retailer, Partnership, Warehouse, Variant, StockLevel, SftpLogin, ApiKey, User)
    return {model.__name__: model.objects.count() for model in models}


def test_the_demo_has_the_parties_of_the_contract():
    write()
    partners = {(each.retailer.name, each.supplier.name) for each in Partnership.objects.all()}
    assert partners == {("Shop", "Acme"), ("Shop", "Rival"), ("Boutique", "Rival")}
    for supplier in Supplier.objects.all():
        assert supplier.warehouses.count() == 2
        assert supplier.warehouses.filter(is_default=True).count() == 1
        assert StockLevel.objects.for_supplier(supplier).filter(on_hand__gt=0).count() >= 3
    both = [
        set(Variant.objects.filter(supplier__name=name).values_list("upc", flat=True))
        for name in ("Acme", "Rival")
    ]
    assert (both[0] & both[1]) - {""}, "no product has two suppliers"


def test_a_second_run_changes_nothing():
    first, counted = write(), rows()
    assert (write(), rows()) == (first, counted)


def test_demo_json_has_the_shape_of_the_contract(settings):
    demo = write()
    assert list(demo) == ["base_url", "admin", "sftp", "suppliers", "retailers", "members"]
    assert list(demo["admin"]) == ["url", "username", "password"]
    assert demo["admin"]["url"] == f"{settings.BASE_URL}/admin/"
    assert demo["sftp"]["host_key"].startswith("ssh-ed25519 AAAA")
    party = ["id", "name", "api_key", "client_id", "client_secret"]
    assert [list(each) for each in demo["retailers"]] == [party, party]
    for supplier in demo["suppliers"]:
        assert list(supplier) == [*party, "sftp_username", "sftp_password", "warehouses"]
        assert [list(each) for each in supplier["warehouses"]] == [["id", "name"]] * 2


def test_each_party_has_an_owner_who_can_sign_in_to_the_portal(client):
    members = write()["members"]

    assert [list(each) for each in members] == [["email", "password", "party", "role"]] * 4
    assert {each["role"] for each in members} == {"owner"}
    assert [each["party"].partition(":")[0] for each in members] == ["supplier"] * 2 + ["retailer"] * 2
    sent = {"username": members[0]["email"], "password": members[0]["password"]}
    assert client.post("/portal/login/", sent).url == "/portal/"


def test_only_its_owner_may_read_demo_json():
    write()
    assert stat.S_IMODE(credentials.path().stat().st_mode) == 0o600


def test_every_secret_works():
    demo = write()
    for role in ("suppliers", "retailers"):
        for party in demo[role]:
            path = "inventory" if role == "suppliers" else "order-filters"
            client = ApiClient(party["api_key"], f"/v3/{role}/{party['id']}")
            assert client.get(path).status_code == 200
            assert party["api_key"] == party["client_secret"]
            assert party["client_id"] == ApiKey.objects.get(**{f"{role[:-1]}_id": party["id"]}).prefix
    for supplier in demo["suppliers"]:
        login = SftpLogin.objects.get(username=supplier["sftp_username"])
        assert login.check_password(supplier["sftp_password"])
    assert Client().login(username=demo["admin"]["username"], password=demo["admin"]["password"])


def test_an_operator_of_the_demo_sees_the_admin_and_acts():
    demo = write()
    client = Client()
    client.login(username=demo["admin"]["username"], password=demo["admin"]["password"])
    assert client.get("/admin/").status_code == 200
    user = User.objects.get(username=demo["admin"]["username"])
    assert user.has_perm("orders.change_order")
    assert not user.is_superuser


def test_a_lost_demo_json_makes_the_old_secrets_invalid():
    lost = write()
    credentials.path().unlink()
    found = write()
    for role in ("suppliers", "retailers"):
        for old, new in zip(lost[role], found[role], strict=True):
            path = "inventory" if role == "suppliers" else "order-filters"
            assert ApiClient(old["api_key"], f"/v3/{role}/{old['id']}").get(path).status_code == 401
            assert ApiClient(new["api_key"], f"/v3/{role}/{new['id']}").get(path).status_code == 200
    assert lost["admin"]["password"] != found["admin"]["password"]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"suppliers": []}', '{"admin": {}, "retailers": [{"id": 1}]}']
)
def test_a_damaged_file_is_written_again(content):
    credentials.path().write_text(content)
    assert write()["suppliers"][0]["api_key"].startswith("fxk_")


def test_a_revoked_key_is_replaced():
    old = write()["retailers"][0]["api_key"]
    ApiKey.objects.get(prefix=ApiKey.prefix_of(old)).revoke()
    assert write()["retailers"][0]["api_key"] != old


def test_without_the_flag_the_parties_are_created_and_no_secret():
    call_command("demo_data", verbosity=0)
    assert Supplier.objects.count() == 2
    assert not ApiKey.objects.exists()
    assert not credentials.path().exists()


def test_sample_orders_are_made_once_in_many_states():
    call_command("demo_data", "--with-orders", verbosity=0)
    states = set(Order.objects.values_list("processing_state", flat=True))
    assert states >= {"received", "processing", "completed", "exception", "canceling"}
    before = Order.objects.count()
    call_command("demo_data", "--with-orders", verbosity=0)
    assert Order.objects.count() == before


def test_a_start_checks_the_passwords_quickly(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    stored = passwords.hashed("secret")
    assert stored.split("$")[1] == str(passwords.ROUNDS)
    assert passwords.fits("secret", stored)
    assert not passwords.fits("other", stored)
    assert not passwords.fits("", stored)
    assert not passwords.fits("secret", "")
