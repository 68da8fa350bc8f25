"""The admin pages of keys, parties and idempotency keys: the rights of each role, and hidden secrets."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ApiKey, IdempotencyKey, OperatorActionRow
from events.models import Event
from tests.backoffice.conftest import confirm
from tests.client import ApiClient
from tests.factories import IdempotencyKeyFactory, IssuedKeyFactory, StaffFactory

pytestmark = pytest.mark.django_db

KEYS = "/admin/accounts/apikey/"


def staff(group: str) -> Client:
    client = Client()
    client.force_login(StaffFactory.create(username=group.lower(), group=group))
    return client


@pytest.fixture
def operator(db):
    return staff("Operators")


@pytest.fixture
def support(db):
    return staff("Support")


def issue(client, **fields):
    form = {"name": "ERP", "allowed_networks": "", "rate_limit": "", "expires_at": ""}
    return client.post(f"{KEYS}add/", {**form, **fields})


def test_a_key_is_issued_and_its_secret_shown_once(operator, acme):
    page = issue(operator, supplier=acme.pk, scopes=["catalog:read"])
    key = ApiKey.objects.get()
    secret = next(text for text in page.content.decode().split("<code>") if text.startswith("fxk_"))
    secret = secret.partition("<")[0]

    assert "no-store" in page.headers["Cache-Control"]
    assert ApiClient(secret, f"/v3/suppliers/{acme.pk}").get("").status_code == 200
    assert key.scopes == ["catalog:read"]
    for path in (KEYS, f"{KEYS}{key.pk}/change/", f"{KEYS}{key.pk}/history/"):
        later = operator.get(path).content.decode()
        assert secret not in later
        assert key.digest not in later
    assert secret not in str(operator.cookies)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "Choose one supplier or one retailer"),
        ({"supplier": "S", "retailer": "R"}, "Choose one supplier or one retailer"),
        ({"retailer": "R", "scopes": ["fulfillments:write"]}, "cannot have fulfillments:write"),
        ({"supplier": "S", "allowed_networks": "nonsense"}, "is not a network"),
        ({"supplier": "S", "rate_limit": "many"}, "is not a rate"),
    ],
)
def test_an_invalid_form_issues_no_key(operator, acme, shop, fields, message):
    ids = {"S": acme.pk, "R": shop.pk}
    page = issue(operator, **{name: ids.get(str(value), value) for name, value in fields.items()})
    assert message in page.content.decode()
    assert not ApiKey.objects.exists()


def test_a_keys_party_and_secret_cannot_be_edited(operator, acme, rival):
    key, secret = IssuedKeyFactory.create(party=acme)
    form = {"name": "WMS", "supplier": rival.pk, "prefix": "fxk_x", "digest": "x", "rate_limit": "9/min"}
    operator.post(f"{KEYS}{key.pk}/change/", {**form, "allowed_networks": ""})
    key.refresh_from_db()
    assert (key.name, key.rate_limit, key.supplier) == ("WMS", "9/min", acme)
    assert key.matches(secret)


def test_rotating_shows_the_successor_and_starts_a_grace_period(operator, acme):
    key, old = IssuedKeyFactory.create(party=acme)
    url = f"{KEYS}{key.pk}/do/rotate/"
    asked = operator.get(url).text
    assert "gets a new key with the same scopes" in asked
    assert ApiKey.objects.count() == 1  # the key is rotated only after the confirmation
    page = operator.post(url, {"reason": ""}).text
    fresh = ApiKey.objects.exclude(pk=key.pk).get()
    key.refresh_from_db()
    assert fresh.prefix in page
    assert key.usable(at=timezone.now())
    assert not key.usable(at=timezone.now() + ApiKey.GRACE + timedelta(minutes=1))
    assert old not in page


@pytest.mark.parametrize(
    ("end", "shown"),
    [
        (None, "which has no end"),
        (datetime(2099, 12, 31, tzinfo=UTC), "which ends on 31 Dec 2099 (UTC)"),
        (timezone.now() + timedelta(hours=9), "which has no end"),
    ],
)
def test_the_preview_of_a_rotation_shows_the_end_of_the_new_key(operator, acme, end, shown):
    key, _ = IssuedKeyFactory.create(party=acme, expires_at=end)
    assert shown in operator.get(f"{KEYS}{key.pk}/do/rotate/").text


def test_a_revoked_key_cannot_be_rotated(operator, acme):
    key, _ = IssuedKeyFactory.create(party=acme)
    url = f"{KEYS}{key.pk}/do/"
    assert operator.post(f"{url}revoke/", {"reason": ""}).status_code == 200  # a reason is required
    assert ApiKey.objects.get().revoked_at is None
    operator.post(f"{url}revoke/", {"reason": "It was in a mail"})
    operator.post(f"{url}rotate/", {})
    assert list(ApiKey.objects.all()) == [key]
    assert ApiKey.objects.get().revoked_at
    assert Event.objects.get(type="api_key.revoked").data["operator_reason"] == "It was in a mail"


def test_many_keys_are_revoked_after_a_preview_and_revoked_keys_keep_their_time(operator, acme):
    keys = [IssuedKeyFactory.create(party=acme)[0] for _ in range(3)]
    keys[0].revoke()
    ended = ApiKey.objects.get(pk=keys[0].pk).revoked_at
    chosen = operator.post(KEYS, {"action": "revoke", "_selected_action": [each.pk for each in keys]})
    preview = operator.get(chosen["Location"])
    assert "2 will be done; 1 left out" in preview.text
    confirm(operator, preview)
    assert not ApiKey.objects.filter(revoked_at=None).exists()
    assert ApiKey.objects.get(pk=keys[0].pk).revoked_at == ended


def test_a_rotation_stores_no_secret(operator, acme):
    key, _ = IssuedKeyFactory.create(party=acme)
    page = operator.post(f"{KEYS}{key.pk}/do/rotate/", {}).text
    secret = re.search(r"fxk_[0-9a-f]{12}_[\w-]{40,}", page)
    assert secret, page
    for table in (OperatorActionRow, Event):
        assert secret.group() not in str([*table.objects.values_list()])


def test_support_sees_keys_but_cannot_change_them(support, acme):
    key, secret = IssuedKeyFactory.create(party=acme)
    assert key.prefix in support.get(KEYS).content.decode()
    assert support.get(f"{KEYS}{key.pk}/change/").status_code == 200
    assert issue(support, supplier=acme.pk).status_code == 403
    for action in ("rotate", "revoke"):
        assert support.post(f"{KEYS}{key.pk}/do/{action}/", {"reason": "x"}).status_code == 403
    assert support.post(f"{KEYS}{key.pk}/change/", {"name": "x"}).status_code == 403
    assert ApiClient(secret, f"/v3/suppliers/{acme.pk}").get("").status_code == 200
    assert ApiKey.objects.count() == 1


@pytest.mark.parametrize(
    "model", ["supplier", "retailer", "partnership", "apikey", "accesstoken", "idempotencykey"]
)
def test_every_list_and_page_opens_and_no_record_can_be_deleted(operator, acme, shop, model):
    key, _ = IssuedKeyFactory.create(party=acme)
    IdempotencyKeyFactory.create(body=b"SECRET")
    path = f"/admin/accounts/{model}/"
    page = operator.get(f"{path}?q=k")
    assert page.status_code == 200
    assert operator.get(path).status_code == 200
    first = {
        "supplier": acme,
        "retailer": shop,
        "apikey": key,
        "idempotencykey": IdempotencyKey.objects.get(),
    }
    if model in first:
        record = operator.get(f"{path}{first[model].pk}/change/")
        assert record.status_code == 200
        assert "SECRET" not in record.content.decode()
        assert operator.post(f"{path}{first[model].pk}/delete/", {"post": "yes"}).status_code == 403
