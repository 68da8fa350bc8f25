"""The operators' page with the state of each part of the service."""

from __future__ import annotations

import time

import pytest

from api import signs_of_life
from backoffice.templatetags.durations import lasting
from tests.factories import DeliveryFactory, WebhookFactory
from tests.orders.push_bodies import an_order

pytestmark = pytest.mark.django_db

PAGE = "/admin/status/"


@pytest.fixture(autouse=True)
def _nobody_was_heard_of():
    signs_of_life._client().delete(signs_of_life.KEY)


@pytest.fixture
def heard(monkeypatch):
    """Return a function that writes the sign of life of a part on a host. `seconds` is its age."""

    def give(part: str, host: str = "one", seconds: float = 0.0, **facts: float) -> None:
        now = time.time()
        with monkeypatch.context() as then:
            then.setattr("api.signs_of_life.time.time", lambda: now - seconds)
            then.setattr("api.signs_of_life.socket.gethostname", lambda: host)
            signs_of_life.give(part, **facts)

    return give


def test_operators_see_each_part_and_its_waiting_work(heard, operator, acme, shop, a_variant, client_for):
    heard("web", threads=8, busy=3)
    heard("sftp", "two", seconds=40)
    a_variant(acme, "LAN-1", stock=1)
    client_for(shop).post("orders", an_order({"sku": "LAN-1", "quantity": 1}))
    event = client_for(shop).get("events").json()["results"][0]
    DeliveryFactory.create(webhook=WebhookFactory.create(retailer=shop), event_id=event["id"])

    status = operator.get(PAGE).context["status"]
    assert [(each.on_host.part, each.state, each.busy) for each in status.parts] == [
        ("sftp", "silent", ""),
        ("web", "alive", "3 of 8 threads"),
    ]
    assert set(status.never_heard) == {"worker", "fetcher", "ticker", "beat", "webhooks"}
    assert [each.waiting for each in status.backlogs] == ["0", "1", "0", "0"]


def test_operators_see_that_redis_is_away(operator, settings, monkeypatch):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(signs_of_life, "_client", signs_of_life._client.__wrapped__)
    assert "Redis does not answer" in operator.get(PAGE).text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (119, "119 s"), (2144, "36 min"), (7200, "2 h"), (200_000, "2 days")]
)
def test_a_duration_is_shown_in_its_largest_unit(seconds, text):
    assert lasting(seconds) == text
