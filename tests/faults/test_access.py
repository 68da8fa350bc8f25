"""Each request reads the rights of its key, so a change takes effect at once on every host."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.actors import Actor
from accounts.models import ApiKey
from accounts.scopes import Scope
from backoffice.suspending.services import suspend
from tests.factories import IssuedKeyFactory
from tests.faults.web_server import Answer, WebServer
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]


@pytest.fixture
def hosts(start_web, own_redis) -> list[WebServer]:
    return [start_web(REDIS_URL=own_redis.url), start_web(REDIS_URL=own_redis.url)]


def everywhere(hosts: list[WebServer], path: str, secret: str, *, counted: bool = False) -> set[int]:
    """Return the statuses of several answers of all hosts."""
    answers = [asked(host, path, secret, counted=counted) for host in hosts for _ in range(3)]
    return {answer.status for answer in answers}


def asked(host: WebServer, path: str, secret: str, *, counted: bool) -> Answer:
    """Return an answer.

    With `counted`, repeat the request until Redis has counted it, because a slow Redis does not count every
    request.
    """
    for _ in range(100):
        answer = host.ask("GET", path, secret=secret)
        if not counted or "ratelimit-limit" in answer.headers:
            return answer
    raise AssertionError("Redis counts no request of this key")


def test_a_change_of_a_key_takes_effect_at_the_next_request_on_every_host(acme, hosts, own_redis):
    path = f"/v3/suppliers/{acme.pk}/variants"
    changes = {
        "scopes": ([Scope.INVENTORY_WRITE.value], 403),
        "allowed_networks": (["192.0.2.0/24"], 403),
        "rate_limit": ("1/h", 429),
        "expires_at": (timezone.now() - timedelta(seconds=1), 401),
        "revoked_at": (timezone.now(), 401),
    }
    for field, (value, status) in changes.items():
        key, secret = IssuedKeyFactory.create(party=acme)
        assert everywhere(hosts, path, secret) == {200}
        ApiKey.objects.filter(pk=key.pk).update(**{field: value})
        counted = field == "rate_limit"
        if counted:
            assert asked(hosts[0], path, secret, counted=True).status == 200  # the limit allows this request
        assert everywhere(hosts, path, secret, counted=counted) == {status}, field


@pytest.mark.parametrize("state", ["well", "flushed", "silent"])
def test_a_revoked_key_and_its_tokens_stop_at_once_without_redis(acme, hosts, own_redis, state):
    path = f"/v3/suppliers/{acme.pk}/variants"
    key, secret = IssuedKeyFactory.create(party=acme)
    asked = {"grant_type": "client_credentials", "client_id": key.prefix, "client_secret": secret}
    token = hosts[0].ask("POST", "/oauth/token", body=asked).json()["access_token"]
    assert everywhere(hosts, path, secret) == everywhere(hosts, path, token) == {200}

    key.revoke()
    if state == "silent":
        with own_redis.silent():
            assert everywhere(hosts, path, secret) == everywhere(hosts, path, token) == {401}
        return
    if state == "flushed":
        own_redis.forget()
    assert everywhere(hosts, path, secret) == everywhere(hosts, path, token) == {401}


def test_a_retailer_that_is_suspended_pushes_nothing_at_any_host(acme, shop, a_variant, hosts):
    a_variant(acme, "A-1", stock=10)
    _, secret = IssuedKeyFactory.create(party=shop)
    body = an_order({"sku": "A-1", "quantity": 1}, retailer_order_id="before")

    def push(host: WebServer, number: str) -> int:
        order = {**body, "retailer_order_id": number}
        return host.ask("POST", f"/v3/retailers/{shop.pk}/orders", secret=secret, body=order).status

    assert [push(host, f"before-{number}") for number, host in enumerate(hosts)] == [201, 201]
    suspend(shop, reason="They moved out", until=None, by=Actor.system("test"))
    assert {push(host, f"after-{number}") for number, host in enumerate(hosts)} == {409}
