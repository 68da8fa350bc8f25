"""Answers that a rate limit refuses show the limit, also before the key is known."""

from __future__ import annotations

import pytest
from django.test import Client

from accounts import failed_keys
from tests.client import ApiClient
from tests.factories import IssuedKeyFactory

pytestmark = pytest.mark.django_db


def ask(key: str, secret: str):
    form = {"grant_type": "client_credentials", "client_id": key, "client_secret": secret}
    return Client().post("/oauth/token", form, content_type="application/json")


def shown(answer) -> tuple[int, str, str, str]:
    headers = answer.headers
    assert headers["RateLimit-Reset"] == headers["Retry-After"]
    limit, remaining = headers["RateLimit-Limit"], headers["RateLimit-Remaining"]
    return answer.status_code, limit, remaining, headers["RateLimit-Policy"]


@pytest.fixture
def prefix(acme):
    return IssuedKeyFactory.create(party=acme)[0].prefix


def test_a_refused_guess_shows_the_limit_of_its_address(settings, monkeypatch):
    settings.FAILED_KEYS_LIMIT = "1/min"
    monkeypatch.setattr(failed_keys, "_known", set())
    client = ApiClient(f"fxk_wrong0001_{'x' * 30}")
    client.get("/v3/suppliers/1/variants")

    assert shown(client.get("/v3/suppliers/1/variants")) == (429, "1", "0", '"address";q=1;w=60')


def test_a_refused_token_shows_the_limit_of_its_key(acme):
    key, secret = IssuedKeyFactory.create(party=acme, rate_limit="1/min")
    ask(key.prefix, secret)

    assert shown(ask(key.prefix, secret)) == (429, "1", "0", '"key";q=1;w=60')


def test_a_refused_wrong_secret_shows_the_limit_of_its_client(prefix):
    for _ in range(10):
        ask(prefix, "wrong")

    assert shown(ask(prefix, "wrong")) == (429, "10", "0", '"client";q=10;w=60')


def tries(answer) -> tuple[int, str, str, str]:
    limit, remaining = answer.headers["RateLimit-Limit"], answer.headers["RateLimit-Remaining"]
    return answer.status_code, limit, remaining, answer.headers["RateLimit-Policy"]


def test_answers_without_a_known_key_show_how_many_wrong_keys_the_address_may_try(settings, prefix):
    settings.FAILED_KEYS_LIMIT = "5/min"
    settings.BEHIND_PROXY = True  # give this test an address of its own
    at = {"X-Forwarded-For": "2001:db8:5:5::1"}
    path, policy = "/v3/suppliers/1/variants", '"address";q=5;w=60'

    assert tries(Client().get(path, headers=at)) == (401, "5", "5", policy)
    wrong = {**at, "Authorization": f"Bearer fxk_wrong0002_{'x' * 30}"}
    assert tries(Client().get(path, headers=wrong)) == (401, "5", "4", policy)
    form = {"grant_type": "client_credentials", "client_id": prefix, "client_secret": "wrong"}
    assert tries(Client().post("/oauth/token", form, content_type="application/json", headers=at)) == (
        401,
        "5",
        "3",
        policy,
    )
