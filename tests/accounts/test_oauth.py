"""`POST /oauth/token`: client credentials, as RFC 6749 defines them (contract 1)."""

import base64
import json
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import AccessToken
from accounts.tasks import expire
from tests.client import ApiClient
from tests.factories import IssuedKeyFactory

pytestmark = pytest.mark.django_db

ALL = "catalog:read catalog:write fulfillments:read fulfillments:write inventory:read inventory:write"
FORM, JSON = "application/x-www-form-urlencoded", "application/json"


@pytest.fixture
def issued(acme):
    return IssuedKeyFactory.create(party=acme)


def ask(fields, content_type=FORM, address="127.0.0.1", **headers):
    body = fields if isinstance(fields, str) else urlencode(fields) if content_type == FORM else fields
    return Client(raise_request_exception=False).post(
        "/oauth/token", body, content_type=content_type, headers=headers, REMOTE_ADDR=address
    )


def credentials(issued, **more):
    key, secret = issued
    return {"grant_type": "client_credentials", "client_id": key.prefix, "client_secret": secret, **more}


def basic(client_id, secret):
    return {"Authorization": "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()}


def test_a_form_json_and_basic_all_get_a_token_that_opens_the_api(issued, acme):
    key, secret = issued
    answers = [
        ask(credentials(issued)),
        ask(credentials(issued), JSON),
        ask({"grant_type": "client_credentials"}, **basic(key.prefix, secret)),
        ask({"grant_type": "client_credentials", "client_id": key.prefix}, **basic(key.prefix, secret)),
        ask(
            {"grant_type": "client_credentials", "client_id": "", "client_secret": "", "scope": ""},
            **basic(key.prefix, secret),
        ),
        ask(credentials(issued), f"{JSON}; charset=utf-8"),
        ask(credentials(issued) | {"expires_in": 3600, "audience": ["x"], "scope": None}, JSON),
    ]
    for answer in answers:
        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "no-store"
        body = answer.json()
        assert (body["token_type"], body["expires_in"]) == ("Bearer", 3599)
        assert "catalog:read" in body["scope"].split()
        token = ApiClient(body["access_token"], f"/v3/suppliers/{acme.pk}")
        assert token.get("").json()["name"] == "Acme"


@pytest.mark.parametrize(
    ("asked", "granted"),
    [
        ("read:variants", "catalog:read"),
        ("catalog:read  write:inventory", "catalog:read inventory:write"),
        ("read:suppliers", "catalog:read fulfillments:read inventory:read"),
        ("read:suppliers write:suppliers", ALL),
        ("read:retailers update:fulfillments", "catalog:read fulfillments:write inventory:read"),
        (
            "",
            "catalog:read catalog:write fulfillments:read fulfillments:write inventory:read inventory:write",
        ),
    ],
)
def test_a_token_may_have_fewer_scopes_and_the_answer_lists_them(issued, asked, granted):
    assert ask(credentials(issued, scope=asked)).json()["scope"] == granted


@pytest.mark.parametrize("scope", ["orders:read", "read:orders", "nonsense", "catalog:read nonsense", "\x00"])
def test_a_scope_beyond_the_role_is_invalid_scope(issued, scope):
    answer = ask(credentials(issued, scope=scope))
    body = answer.json()
    assert (answer.status_code, body["error"], body["code"]) == (400, "invalid_scope", "validation_error")
    assert body["success"] is False
    assert body["request_id"]
    assert body["message"] == body["error_description"]


@pytest.mark.parametrize(
    ("scope", "hint"),
    [
        (
            "catalog:read,inventory:read",
            "Scopes are separated by blanks: did you mean catalog:read inventory:read?",
        ),
        ("read:variants, inventory:read", "did you mean read:variants inventory:read?"),
        ("inventry:read", "Did you mean inventory:read?"),
    ],
)
def test_a_misspelled_scope_is_answered_with_the_right_name(issued, scope, hint):
    assert hint in ask(credentials(issued, scope=scope)).json()["message"]


def test_a_scope_beyond_the_key_is_invalid_scope(acme):
    narrow = IssuedKeyFactory.create(party=acme, scopes=["catalog:read"])
    assert ask(credentials(narrow, scope="catalog:write")).json()["error"] == "invalid_scope"
    assert ask(credentials(narrow)).json()["scope"] == "catalog:read"
    assert ask(credentials(narrow, scope="read:suppliers")).json()["scope"] == "catalog:read"
    assert ask(credentials(narrow, scope="write:suppliers")).json()["error"] == "invalid_scope"


def test_a_token_carries_no_more_than_its_scopes(issued, acme):
    secret = ask(credentials(issued, scope="inventory:read")).json()["access_token"]
    token = AccessToken.objects.get()
    assert token.scopes == ["inventory:read"]
    assert secret not in repr(AccessToken.objects.values().get())


def test_a_body_with_nan_is_unreadable(issued):
    fields = json.dumps(credentials(issued))
    answer = ask(fields[:-1] + ', "x": NaN}', JSON)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_json")
    assert answer.json()["error"] == "invalid_request"
    assert not AccessToken.objects.exists()


CLIENT = {"grant_type": "client_credentials", "client_id": "x"}


@pytest.mark.parametrize(
    ("fields", "status", "error", "code"),
    [
        ({}, 400, "invalid_request", "missing_parameter"),
        ({"grant_type": "client_credentials"}, 400, "invalid_request", "missing_parameter"),
        (CLIENT, 400, "invalid_request", "missing_parameter"),
        ({**CLIENT, "grant_type": "password"}, 400, "unsupported_grant_type", "validation_error"),
        ({**CLIENT, "client_secret": "y"}, 401, "invalid_client", "unauthorized"),
        ("grant_type=a&grant_type=b", 400, "invalid_request", "validation_error"),
        ("grant_type=%ff", 400, "invalid_request", "validation_error"),
        ("&".join(f"a{n}=1" for n in range(100)), 400, "invalid_request", "validation_error"),
    ],
)
def test_errors_have_the_members_of_the_rfc_and_of_the_envelope(fields, status, error, code):
    answer = ask(fields)
    body = answer.json()
    assert (answer.status_code, body["error"], body["code"]) == (status, error, code)
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("raw", "content_type", "status"),
    [
        ("{", JSON, 400),
        ("[]", JSON, 400),
        ('{"grant_type": 5}', JSON, 400),
        ('{"grant_type": "\\ud800"}', JSON, 400),
        (json.dumps({**CLIENT, "client_id": "\ud800", "client_secret": "\udfff"}), JSON, 400),
        (json.dumps({**CLIENT, "client_id": "a\0", "client_secret": "\0"}), JSON, 401),
        ("<a/>", "application/xml", 415),
    ],
)
def test_unreadable_bodies_are_refused_as_such(raw, content_type, status):
    answer = ask(raw, content_type)
    assert (answer.status_code, answer.json()["success"]) == (status, False)
    assert answer.json()["error"]


@pytest.mark.parametrize("header", ["Basic", "Basic !!", "Basic bm9jb2xvbg==", "Basic Og=="])
def test_an_unreadable_basic_header_is_invalid_client(header):
    answer = ask({"grant_type": "client_credentials"}, Authorization=header)
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
    assert answer.headers["WWW-Authenticate"].startswith("Basic")


def test_a_secret_sent_twice_is_an_invalid_request(issued):
    key, secret = issued
    answer = ask(credentials(issued), **basic(key.prefix, secret))
    assert answer.json()["error"] == "invalid_request"


def test_a_secret_with_the_id_of_another_client_is_refused(issued, rival):
    other, _ = IssuedKeyFactory.create(party=rival)
    assert ask(credentials(issued, client_id=other.prefix)).status_code == 401


def test_a_token_cannot_be_exchanged_for_another(issued):
    token = ask(credentials(issued)).json()["access_token"]
    prefix = "_".join(token.split("_")[:2])
    fields = {"grant_type": "client_credentials", "client_id": prefix, "client_secret": token}
    assert ask(fields).status_code == 401


def test_a_token_expires_and_ends_at_once_with_its_key(issued, acme):
    token = ApiClient(ask(credentials(issued)).json()["access_token"], f"/v3/suppliers/{acme.pk}")
    assert token.get("").status_code == 200
    AccessToken.objects.update(expires_at=timezone.now())
    assert token.get("").status_code == 401

    token = ApiClient(ask(credentials(issued)).json()["access_token"], f"/v3/suppliers/{acme.pk}")
    issued[0].revoke()
    assert token.get("").status_code == 401
    assert ask(credentials(issued)).status_code == 401


def test_a_token_never_outlives_its_key(acme):
    soon = IssuedKeyFactory.create(party=acme, expires_at=timezone.now() + timedelta(seconds=90))
    assert ask(credentials(soon)).json()["expires_in"] in (88, 89)


def test_a_token_is_limited_to_the_networks_of_its_key(acme):
    bound = IssuedKeyFactory.create(party=acme, allowed_networks=["10.0.0.0/8"])
    assert ask(credentials(bound)).status_code == 401
    assert ask(credentials(bound), address="10.1.2.3").status_code == 200


def test_guessing_secrets_is_limited_for_each_client_and_address(issued):
    wrong = credentials(issued, client_secret="wrong")
    statuses = [ask(wrong, address="198.51.100.7").status_code for _ in range(12)]
    assert statuses == [401] * 10 + [429] * 2

    refused = ask(credentials(issued), address="198.51.100.7")
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert int(refused.headers["Retry-After"]) >= 1
    assert ask(credentials(issued), address="198.51.100.8").status_code == 200


def test_tokens_count_against_the_keys_rate(acme):
    slow = IssuedKeyFactory.create(party=acme, rate_limit="1/min")
    first, second = ask(credentials(slow)), ask(credentials(slow))
    assert (first.status_code, first.headers["RateLimit-Remaining"]) == (200, "0")
    assert (second.status_code, second.json()["code"]) == (429, "rate_limited")


def test_only_post_is_accepted():
    answer = Client().get("/oauth/token")
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")


def test_options_lists_the_method_without_a_description_of_the_code():
    answer = Client().options("/oauth/token")
    assert (answer.status_code, answer.content, answer["Allow"]) == (204, b"", "POST, OPTIONS")


def test_ended_tokens_are_removed(issued):
    ask(credentials(issued))
    expire()
    assert AccessToken.objects.count() == 1
    AccessToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    expire()
    assert not AccessToken.objects.exists()
