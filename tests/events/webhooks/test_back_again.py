"""Deliveries after a replay, after a change of the webhook, and after a long outage of the receiver."""

from __future__ import annotations

from datetime import timedelta
from ipaddress import ip_network
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.utils import timezone

from accounts.actors import Actor
from events.models import Delivery, Webhook
from events.recording import record
from events.webhooks import services
from events.webhooks.relay import relay
from events.webhooks.sending.due import read_due
from events.webhooks.sending.http_client import ReceiverAnswer
from events.webhooks.sending.process import SendingProcess
from events.webhooks.sending.results import bring_forward, result_of, write_down
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


@pytest.fixture
def failed(webhook):
    """Return a function that makes the receiver refuse everything from one age until another."""

    def fail(since, until):
        now = timezone.now()
        Webhook.objects.update(failing_since=now - since, failed_at=now - until)

    return fail


@pytest.mark.parametrize(("since", "recovered"), [(timedelta(hours=6), True), (timedelta(seconds=9), False)])
def test_a_receiver_that_accepts_again_after_a_minute_has_recovered(
    webhook, happened, due, failed, since, recovered
):
    happened(1)
    failed(since, timedelta(seconds=2))
    [delivery] = due()

    assert write_down([result_of(delivery, ACCEPTED)]) == ({webhook.pk} if recovered else set())


def test_the_delays_of_an_event_that_is_always_refused_grow_while_others_are_accepted(happened, due, failed):
    happened(1, 2)
    refused, other = due()
    Delivery.objects.filter(pk=refused.id).update(attempts=11)
    write_down([result_of(refused._replace(attempts=11), FAILED)])
    failed(timedelta(minutes=10), timedelta(minutes=10))

    bring_forward(write_down([result_of(other, ACCEPTED)]))

    assert seconds_until(refused) > 3000


@pytest.fixture
def after_an_outage(happened, due, failed):
    """Return the result of an accepted delivery after an outage, and a delivery that waits for an hour."""
    happened(1, 2)
    accepted, waiting = due()
    Delivery.objects.filter(pk=waiting.id).update(next_attempt_at=timezone.now() + timedelta(hours=1))
    failed(timedelta(hours=6), timedelta(minutes=5))
    return result_of(accepted, ACCEPTED), waiting


@pytest.fixture
def process(monkeypatch):
    """Return a sender that does not close the connection of the test."""
    monkeypatch.setattr("events.webhooks.sending.process.connections", Mock())
    return SendingProcess()


def test_the_events_of_an_outage_are_due_after_a_failure_of_the_database(
    process, after_an_outage, monkeypatch
):
    accepted, waiting = after_an_outage
    recovered: set[int] = set()
    monkeypatch.setattr(process._share, "renew", Mock(side_effect=[OperationalError, True]))
    with pytest.raises(OperationalError):
        process._exchange([accepted], recovered, process._in_memory())

    process._exchange([accepted], recovered, process._in_memory())

    assert seconds_until(waiting) <= 0


def test_the_events_of_an_outage_are_due_after_the_end_of_the_process(process, after_an_outage):
    accepted, waiting = after_an_outage

    process._leave([accepted], set())

    assert seconds_until(waiting) <= 0


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
