"""Authentication finds the party by the `Authorization` header, or refuses the request."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import ApiKey
from accounts.scopes import Role, Scope, parse_scope, scopes_of
from tests.client import ApiClient
from tests.factories import IssuedKeyFactory

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.api.probe")]


def profile(secret, party, **headers):
    return ApiClient(secret, f"/v3/{party.role}s/{party.pk}").get("", **headers)


@pytest.fixture
def issued(acme):
    return IssuedKeyFactory.create(party=acme)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "Token abc",
        "Bearer nonsense",
        "Bearer fxk_000000000000_x",
        "Bearer fxt_000000000000_x",
        "Bearer \xe9\xff",
        "Bearer " + "x" * 10_000,
        "Bearer a b c",
    ],
)
def test_a_request_without_a_valid_key_gets_401(acme, anonymous, header):
    answer = anonymous.get(f"/v3/suppliers/{acme.pk}", **({"Authorization": header} if header else {}))

    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_the_scheme_may_have_lower_or_upper_case_letters(issued, anonymous):
    key, secret = issued
    path = f"/v3/suppliers/{key.supplier_id}"
    assert anonymous.get(path, Authorization=f"bearer  {secret} ").status_code == 200


def test_a_key_that_differs_in_one_letter_is_refused(issued, acme):
    _, secret = issued
    wrong = secret[:-1] + ("a" if secret[-1] != "a" else "b")
    assert [profile(each, acme).status_code for each in (secret, wrong, secret + "a")] == [200, 401, 401]


def test_an_expired_key_is_refused(issued, acme):
    key, secret = issued
    ApiKey.objects.filter(pk=key.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert profile(secret, acme).status_code == 401


def test_a_revoked_key_is_refused_at_once(issued, acme):
    key, secret = issued
    assert profile(secret, acme).status_code == 200
    key.revoke()
    assert profile(secret, acme).status_code == 401


def test_both_keys_work_during_the_grace_of_a_rotation(issued, acme):
    key, old = issued
    fresh, new = key.rotate()
    assert [profile(each, acme).status_code for each in (old, new)] == [200, 200]

    key.refresh_from_db()
    assert key.expires_at - timezone.now() <= ApiKey.GRACE
    ApiKey.objects.filter(pk=key.pk).update(expires_at=timezone.now())
    assert [profile(each, acme).status_code for each in (old, new)] == [401, 200]
    assert (fresh.name, fresh.granted) == (key.name, key.granted)


def test_a_rotation_never_lengthens_a_keys_life(acme):
    end = timezone.now() + timedelta(hours=1)
    key, _ = IssuedKeyFactory.create(party=acme, expires_at=end)
    key.rotate()
    key.refresh_from_db()
    assert key.expires_at == end


def test_the_successor_of_a_key_with_an_end_has_the_same_end(acme):
    end = timezone.now() + timedelta(days=90)
    key, _ = IssuedKeyFactory.create(party=acme, expires_at=end)

    successor, _ = key.rotate()

    assert successor.expires_at == end


@pytest.mark.parametrize(
    ("networks", "status"),
    [
        ([], 200),
        (["127.0.0.0/8"], 200),
        (["10.0.0.0/8", "127.0.0.1/32"], 200),
        (["::ffff:127.0.0.0/104"], 200),
        (["10.0.0.0/8", "::1/128"], 403),
        (["::/0", "::ffff:10.0.0.0/104"], 403),
    ],
)
def test_a_key_may_be_bound_to_networks(acme, networks, status):
    _, secret = IssuedKeyFactory.create(party=acme, allowed_networks=networks)
    assert profile(secret, acme).status_code == status


@pytest.mark.parametrize(
    ("behind_proxy", "forwarded", "status"),
    [
        (False, "10.1.1.1", 403),
        (True, "10.1.1.1", 200),
        (True, "::ffff:10.1.1.1", 200),
        (True, "::ffff:192.0.2.7", 403),
        (True, "10.1.1.1, 192.0.2.7", 403),
        (True, "192.0.2.7, 10.1.1.1", 200),
        (True, "nonsense", 403),
        (True, "", 403),
    ],
)
def test_only_the_address_that_the_proxy_adds_counts(acme, settings, behind_proxy, forwarded, status):
    settings.BEHIND_PROXY = behind_proxy
    _, secret = IssuedKeyFactory.create(party=acme, allowed_networks=["10.0.0.0/8"])
    assert profile(secret, acme, X_Forwarded_For=forwarded).status_code == status


def test_the_use_is_noted_at_most_once_a_minute(issued, acme, django_assert_num_queries):
    key, secret = issued
    profile(secret, acme)
    key.refresh_from_db()
    first = key.last_used_at
    assert first is not None

    # Three queries: the key, its party, the partnerships. `last_used_at` is not updated within a minute.
    with django_assert_num_queries(3):
        profile(secret, acme)
    ApiKey.objects.filter(pk=key.pk).update(last_used_at=first - timedelta(seconds=61))
    profile(secret, acme)
    key.refresh_from_db()
    assert key.last_used_at > first


def test_a_key_without_a_list_of_scopes_has_all_scopes_of_its_role(acme, shop):
    assert IssuedKeyFactory.create(party=acme)[0].granted == scopes_of(Role.SUPPLIER)
    assert IssuedKeyFactory.create(party=shop)[0].granted == scopes_of(Role.RETAILER)
    # A scope that the role does not allow is ignored, even if the row of the key lists it.
    assert IssuedKeyFactory.create(party=shop, scopes=["fulfillments:write"])[0].granted == frozenset()


def test_writing_does_not_include_reading(acme, client_for):
    writer = client_for(acme, scopes=["catalog:write"])
    assert writer.get("probe").status_code == 403
    assert writer.post("probe", {"name": "a"}).status_code == 201
    reader = client_for(acme, scopes=["catalog:read"])
    assert reader.get("probe").status_code == 200
    answer = reader.post("probe", {"name": "b"})
    assert answer.status_code == 403
    assert "catalog:write" in answer.json()["message"]


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("catalog:read", Scope.CATALOG_READ),
        ("read:catalog", Scope.CATALOG_READ),
        ("read:variants", Scope.CATALOG_READ),
        ("WRITE:Products", Scope.CATALOG_WRITE),
        ("stock:write", Scope.INVENTORY_WRITE),
        ("write:fulfillments", Scope.FULFILLMENTS_WRITE),
        ("create:orders", Scope.ORDERS_WRITE),
        ("update:fulfillments", Scope.FULFILLMENTS_WRITE),
        ("read_products", Scope.CATALOG_READ),
        ("inventory.write", Scope.INVENTORY_WRITE),
    ],
)
def test_scopes_are_read_in_both_orders_and_as_clients_spell_them(text, scope):
    assert parse_scope(text) == {scope}


def test_a_scope_may_have_the_name_of_a_role():
    assert parse_scope("read:suppliers") == {
        Scope.CATALOG_READ,
        Scope.INVENTORY_READ,
        Scope.FULFILLMENTS_READ,
    }
    assert parse_scope("write:retailers") == {Scope.ORDERS_WRITE}


@pytest.mark.parametrize(
    "text",
    ["", "read", "catalog", "catalog:delete", "read:write", "a:read", ":", "read:catalog:x", "suppliers"],
)
def test_an_unknown_scope_is_refused(text):
    with pytest.raises(ValueError, match="not a scope|not a valid Scope"):
        parse_scope(text)


def test_secrets_are_neither_stored_nor_printed(issued):
    key, secret = issued
    row = ApiKey.objects.filter(pk=key.pk).values().get()
    assert secret not in repr(row) + str(key) + repr(key)
    assert secret.split("_", 2)[2] not in repr(row)
