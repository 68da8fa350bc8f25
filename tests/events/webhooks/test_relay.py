"""Committed events become deliveries, each exactly once."""

import threading
from unittest import mock

import pytest
from django.db import DataError, transaction

from accounts.actors import Actor
from events.models import Delivery, Event, RelayBookmark
from events.recording import record
from events.webhooks import relay as module
from events.webhooks.relay import relay
from tests.factories import WebhookFactory
from tests.interleaving import race

pytestmark = pytest.mark.django_db(transaction=True)

ROBOT = Actor.system("test")


def happen(shop, number):
    with transaction.atomic():
        record("order.created", by=ROBOT, retailer=shop, order_id=number)


def sent(webhook):
    return [each.event.order_id for each in Delivery.objects.filter(webhook=webhook).order_by("event_id")]


@pytest.fixture
def webhook(shop):
    return WebhookFactory.create(retailer=shop)


def test_many_relays_make_each_delivery_once(shop, webhook):
    for number in range(40):
        happen(shop, number)
    with mock.patch.object(module, "MOST_EVENTS", 7):
        race(*[lambda: [relay() for _ in range(8)]] * 4)
        while relay():
            pass
    assert sent(webhook) == list(range(40))


def test_an_event_that_commits_late_is_not_skipped(shop, webhook):
    begun, go_on = threading.Event(), threading.Event()

    def early():
        with transaction.atomic():
            record("order.created", by=ROBOT, retailer=shop, order_id=1)
            begun.set()
            assert go_on.wait(60)

    def late():
        assert begun.wait(60)
        try:
            happen(shop, 2)
            relay()
            return sent(webhook)
        finally:
            go_on.set()

    assert race(early, late)[1] == [2]
    relay()
    assert sent(webhook) == [2, 1]


def test_a_relay_that_dies_leaves_its_events_to_the_next(shop, webhook):
    happen(shop, 1)
    with mock.patch.object(module, "LIFETIME", "not a time"), pytest.raises(DataError):
        relay()
    assert sent(webhook) == []
    relay()
    assert sent(webhook) == [1]


def test_a_second_relay_does_not_wait_for_the_first(shop, webhook):
    happen(shop, 1)
    relay()
    happen(shop, 2)
    with transaction.atomic():
        RelayBookmark.lock()
        assert race(relay) == [0]
    assert relay() == 1


def test_a_new_webhook_gets_all_events_after_its_creation(shop, client_for):
    """No relay runs while a webhook is created. Otherwise a relay could skip the webhook's first events."""
    relay()
    happen(shop, 1)
    reached, go_on = threading.Event(), threading.Event()
    original = module.last_number

    def slow():
        found = original()
        reached.set()
        go_on.wait(60)
        return found

    def make():
        with mock.patch("events.webhooks.services.last_number", slow):
            return client_for(shop).post("webhooks", {"url": "https://shop.example"}).json()["id"]

    def meanwhile():
        assert reached.wait(60)
        happen(shop, 2)
        passed = relay()
        go_on.set()
        return passed

    made, passed = race(make, meanwhile)
    relay()
    assert passed == 0
    assert sent(made) == [2]


def test_events_older_than_all_webhooks_are_skipped(shop):
    for number in range(5):
        happen(shop, number)
    assert relay() == 0
    Event.publish()
    last = module.last_number()
    late = WebhookFactory.create(retailer=shop, after=last)
    happen(shop, 7)
    assert relay() == 1
    assert sent(late) == [7]
