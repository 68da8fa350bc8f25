"""An address that tries too many wrong keys gets 429 without a query to the database."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from accounts import failed_keys
from accounts.models import ApiKey
from tests.client import ApiClient
from tests.factories import IssuedKeyFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _two_a_minute(settings, monkeypatch):
    settings.FAILED_KEYS_LIMIT = "2/min"
    monkeypatch.setattr(failed_keys, "_known", set())


def guess(number: int, **headers: str) -> Any:
    return ApiClient(f"fxk_wrong{number:04}_{'x' * 30}").get("/v3/suppliers/1/variants", None, **headers)


def test_an_address_with_too_many_wrong_keys_gets_429_without_a_query(django_assert_num_queries):
    assert [guess(number).status_code for number in range(2)] == [401, 401]
    with django_assert_num_queries(0):
        answer = guess(3)
    assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")
    assert 0 < int(answer.headers["Retry-After"]) <= 60
    assert answer.json()["message"].startswith("Too many wrong keys came from this address.")


def test_a_key_that_was_accepted_before_is_still_accepted(acme, client_for):
    good, fresh = client_for(acme), client_for(acme)
    assert good.get("variants").status_code == 200
    for number in range(3):
        guess(number)
    assert good.get("variants").status_code == 200
    assert fresh.get("variants").status_code == 429


def test_a_known_key_that_is_revoked_counts_as_wrong(acme, client_for):
    client = client_for(acme)
    assert client.get("variants").status_code == 200
    ApiKey.objects.all().delete()
    assert [client.get("variants").status_code for _ in range(3)] == [401, 401, 429]


def test_each_address_has_its_own_count(settings):
    settings.BEHIND_PROXY = True
    for number in range(3):
        guess(number, **{"X-Forwarded-For": "2001:db8::1"})
    # The first two addresses are in one /64 network, which has one count. The third address is in another
    # network.
    assert guess(4, **{"X-Forwarded-For": "2001:db8::2"}).status_code == 429
    assert guess(5, **{"X-Forwarded-For": "2001:db8:0:1::1"}).status_code == 401


@pytest.mark.parametrize("address", ["192.0.2.7", "[2001:db8::1]"])
def test_the_port_of_an_address_is_not_part_of_the_client(acme, settings, address):
    settings.BEHIND_PROXY = True
    ports = iter(range(50_000, 50_010))

    def forwarded() -> dict[str, str]:
        return {"X-Forwarded-For": f"198.51.100.1, {address}:{next(ports)}"}

    key, secret = IssuedKeyFactory.create(party=acme, allowed_networks=["192.0.2.0/24", "2001:db8::/64"])
    path = f"/v3/suppliers/{acme.pk}/variants"
    assert ApiClient(secret).get(path, None, **forwarded()).status_code == 200
    assert [guess(number, **forwarded()).status_code for number in range(3)] == [401, 401, 429]


def test_wrong_client_secrets_count_as_wrong_keys(acme):
    _, secret = IssuedKeyFactory.create(party=acme)
    basic = base64.b64encode(b"fxk_none:wrong").decode()
    for _ in range(2):
        answer = ApiClient().post(
            "/oauth/token",
            b"grant_type=client_credentials",
            Content_Type="application/x-www-form-urlencoded",
            Authorization=f"Basic {basic}",
        )
        assert answer.status_code == 401
    assert ApiClient(secret).get(f"/v3/suppliers/{acme.pk}/variants").status_code == 429


def test_without_a_limit_nothing_is_counted(settings):
    settings.FAILED_KEYS_LIMIT = "off"
    assert {guess(number).status_code for number in range(5)} == {401}
