"""A commit wakes the senders. A lost wake delays a delivery, and never loses it."""

import math
import threading
from datetime import timedelta
from ipaddress import ip_network
from unittest import mock

import pytest
from django.db import transaction
from django.utils import timezone
from redis.exceptions import ConnectionError as ConnectionLost

from events import waking
from events.models import Event
from events.recording import record
from events.webhooks.sending import process
from events.webhooks.sending.due import seconds_until_due
from tests.events.webhooks.conftest import ROBOT
from tests.events.webhooks.receiving import receiver
from tests.factories import DeliveryFactory, SenderFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """Remove the pauses: every commit wakes senders, and a sender without work sleeps at once."""
    monkeypatch.setattr(waking, "_quiet_until", 0.0)
    monkeypatch.setattr(waking, "AGAIN_AFTER", 0.0)
    monkeypatch.setattr(process, "LINGER_SECONDS", 0.0)


@pytest.fixture
def asleep(monkeypatch, settings):
    """Make senders sleep for an hour unless woken. Return an event that is set when a sender sleeps."""
    settings.WEBHOOK_NETWORKS = [ip_network("127.0.0.0/8")]
    monkeypatch.setattr(process, "IDLE_SECONDS", 3600.0)
    sleeping, original = threading.Event(), process.SendingProcess._until_next_look

    def until_next_look(self):
        seconds = original(self)
        if seconds > process.POLL_SECONDS:
            sleeping.set()
        return seconds

    monkeypatch.setattr(process.SendingProcess, "_until_next_look", until_next_look)
    return sleeping


def test_a_commit_wakes_a_sender_that_sleeps(happen, sending, a_webhook, asleep):
    with receiver() as server:
        a_webhook(server.url)
        with sending():
            assert asleep.wait(20)
            happen(1)
            server.wait_for(1)


def test_without_redis_the_sender_looks_by_itself(happen, sending, a_webhook, asleep, monkeypatch):
    monkeypatch.setattr(process, "IDLE_SECONDS", 0.3)
    lost = mock.Mock()
    lost.publish.side_effect = ConnectionLost
    monkeypatch.setattr(waking, "_client", lambda: lost)
    with receiver() as server:
        a_webhook(server.url)
        with sending():
            assert asleep.wait(20)
            happen(1)
            server.wait_for(1)
    assert lost.publish.call_count == 1


def test_after_a_failure_redis_is_left_alone_for_a_while(monkeypatch):
    lost = mock.Mock()
    lost.publish.side_effect = ConnectionLost
    monkeypatch.setattr(waking, "_client", lambda: lost)
    waking.wake()
    waking.wake()
    assert lost.publish.call_count == 1


def test_many_commits_wake_once(monkeypatch, shop):
    heard = mock.Mock()
    monkeypatch.setattr(waking, "AGAIN_AFTER", 3600.0)
    monkeypatch.setattr(waking, "_client", lambda: heard)
    for order in (1, 2, 3):
        with transaction.atomic():
            record("order.created", by=ROBOT, retailer=shop, order_id=order)
    assert heard.publish.call_count == 1


def test_a_change_that_is_rolled_back_wakes_no_one(monkeypatch, shop):
    heard = mock.Mock()
    monkeypatch.setattr(waking, "_client", lambda: heard)
    with transaction.atomic():
        record("order.created", by=ROBOT, retailer=shop, order_id=1)
        transaction.set_rollback(True)
    assert heard.publish.call_count == 0


def test_a_sender_sleeps_no_longer_than_until_its_next_delivery(a_webhook, happen):
    sender = SenderFactory.create()
    webhook = a_webhook("https://receiver.example/", sender=sender)
    assert seconds_until_due(sender.pk, {}, []) == math.inf
    events, deliveries = [happen(1), happen(2)], []
    Event.publish()
    for event, seconds in zip(events, (90, 30), strict=True):
        event.refresh_from_db()
        due = timezone.now() + timedelta(seconds=seconds)
        deliveries.append(DeliveryFactory.create(webhook=webhook, event=event, next_attempt_at=due))
    assert 0 < seconds_until_due(sender.pk, {}, []) <= 30
    assert seconds_until_due(sender.pk, {}, [deliveries[1].pk]) > 30
    assert seconds_until_due(sender.pk, {webhook.pk: 0}, []) == math.inf
    assert seconds_until_due(sender.pk + 1, {}, []) == math.inf
