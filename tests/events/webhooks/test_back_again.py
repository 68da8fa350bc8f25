"""Deliveries after a replay, after a change of the webhook, and after a long outage of the receiver."""

from __future__ import annotations

from datetime import timedelta
from ipaddress import ip_network

import pytest
from django.utils import timezone

from accounts.actors import Actor
from events.models import Delivery, Webhook
from events.recording import record
from events.webhooks import services
from events.webhooks.relay import relay
from events.webhooks.sending.due import read_due
from events.webhooks.sending.http_client import ReceiverAnswer
from events.webhooks.sending.process import SendingProcess
from events.webhooks.sending.results import result_of, write_down
from events.webhooks.sending.shares import SenderShare
from tests.factories import WebhookFactory

pytestmark = pytest.mark.django_db

BY = Actor.system("test")
ACCEPTED, FAILED = ReceiverAnswer(204, ""), ReceiverAnswer(500, "down")


@pytest.fixture
def webhook(shop, settings):
    settings.WEBHOOK_NETWORKS = [ip_network("127.0.0.0/8")]
    return WebhookFactory.create(retailer=shop, url="http://127.0.0.1:1/old")


@pytest.fixture
def happened(shop, webhook):
    """Return a function that records and relays an event for each of these orders."""

    def happen(*orders):
        for order in orders:
            record("order.held", by=BY, retailer=shop, order_id=order)
        relay()

    return happen


@pytest.fixture
def due(webhook):
    """Return a function that reads the due deliveries."""
    share = SenderShare()
    share.renew([])
    return lambda: read_due(share.sender_id, {}, ())


def seconds_until(delivery):
    due_at = Delivery.objects.get(pk=delivery.id).next_attempt_at
    assert due_at
    return (due_at - timezone.now()).total_seconds()


def test_later_events_are_due_when_a_replayed_event_is_accepted(webhook, happened, due):
    happened(1, 1)
    first, second = due()
    Delivery.objects.update(attempts=11)
    write_down([result_of(first._replace(attempts=11), FAILED)])
    assert seconds_until(second) > 3000

    services.replay(webhook, first.event_id - 1, first.event_id, by=BY)
    [again] = due()
    write_down([result_of(again, ACCEPTED)])

    assert seconds_until(second) <= 0


def test_a_failure_of_an_earlier_request_delays_no_later_event(webhook, happened, due):
    happened(1, 1)
    first, second = due()
    services.replay(webhook, first.event_id - 1, first.event_id, by=BY)

    write_down([result_of(first._replace(attempts=11), FAILED)])

    assert seconds_until(second) <= 0


@pytest.mark.parametrize(("since", "recovered"), [(timedelta(hours=6), True), (timedelta(seconds=9), False)])
def test_a_receiver_that_accepts_again_after_a_minute_has_recovered(webhook, happened, due, since, recovered):
    happened(1)
    Webhook.objects.update(failing_since=timezone.now() - since, failed_at=timezone.now() - since)
    [delivery] = due()

    assert write_down([result_of(delivery, ACCEPTED)]) == ({webhook.pk} if recovered else set())


def test_deliveries_in_memory_go_to_the_new_url(webhook, happened, monkeypatch):
    happened(1, 2, 3)
    process = SendingProcess()
    # The receiver is down, so nothing is sent now.
    monkeypatch.setattr(process, "_start", lambda receiver: None)
    process._accept(process._exchange([], set(), process._in_memory()))
    webhook.url = "http://127.0.0.1:2/new"
    services.change(webhook, ["url"], by=BY)

    process._accept(process._exchange([], set(), process._in_memory()))

    [receiver] = process._receivers.values()
    assert len(receiver.held) == 3
    assert receiver.destination
    assert receiver.destination.target.path == "/new"


def test_a_replay_gives_no_numbers_to_events_of_others(webhook, happened, rival):
    happened(1)
    others = record("order.held", by=BY, supplier=rival, order_id=2)

    assert services.replay(webhook, 0, None, by=BY) == 1

    others.refresh_from_db()
    assert others.number is None
