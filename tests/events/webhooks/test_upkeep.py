"""Deliveries are given up when their time is over, and deleted when they are old."""

from datetime import timedelta

import pytest
from django.utils import timezone

from events.models import Delivery, Event, Webhook
from events.tasks import keep_up_webhooks
from events.webhooks import services
from events.webhooks.sending.due import read_due
from events.webhooks.sending.http_client import ReceiverAnswer
from events.webhooks.sending.results import result_of, write_down
from events.webhooks.sending.shares import SenderShare
from tests.events.webhooks.conftest import ROBOT
from tests.factories import DeliveryFactory, WebhookFactory

pytestmark = pytest.mark.django_db


def days(number):
    return timezone.now() + timedelta(days=number)


def test_expired_deliveries_are_given_up_and_old_ones_deleted(shop, happen, monkeypatch):
    monkeypatch.setattr("events.webhooks.upkeep.MOST", 1)  # each step handles only one row
    for order in range(8):
        happen(order)
    Event.publish()
    webhook, gone = (
        WebhookFactory.create(retailer=shop),
        WebhookFactory.create(retailer=shop, removed_at=days(0)),
    )
    events = list(Event.objects.order_by("number"))
    done = {"status": "delivered", "next_attempt_at": None}
    for event, fields in zip(
        events,
        [
            {},
            {"expires_at": days(-1)},
            {**done, "attempted_at": days(-1)},
            {**done, "attempted_at": days(-15)},
            {**done, "status": "dead", "attempted_at": days(-15)},
            {"webhook": gone},
            {**done, "status": "dead", "attempted_at": None, "expires_at": days(-1)},
            {**done, "status": "dead", "attempted_at": None, "expires_at": days(-15)},
        ],
        strict=True,
    ):
        DeliveryFactory.create(event=event, **{"webhook": webhook, **fields})

    keep_up_webhooks()

    left = Delivery.objects.order_by("event_id").values_list("event_id", "status")
    assert list(left) == [
        (events[0].number, "waiting"),
        (events[1].number, "dead"),
        (events[2].number, "delivered"),
        (events[6].number, "dead"),
    ]
    assert list(Webhook.objects.all()) == [webhook]


def test_deliveries_that_are_kept_forever_are_not_deleted(shop, happen, settings):
    settings.WEBHOOK_DELIVERY_DAYS = 0
    happen(1)
    Event.publish()
    done = {"status": "delivered", "next_attempt_at": None, "attempted_at": days(-1000)}
    webhook = WebhookFactory.create(retailer=shop)
    delivery = DeliveryFactory.create(event=Event.objects.get(), webhook=webhook, **done)

    keep_up_webhooks()

    assert list(Delivery.objects.all()) == [delivery]


def test_an_answer_to_an_earlier_attempt_does_not_end_a_replay(shop, happen):
    happen(1)
    Event.publish()
    over = {"next_attempt_at": days(-4), "expires_at": days(-1)}
    delivery = DeliveryFactory.create(
        event=Event.objects.get(), webhook=WebhookFactory.create(retailer=shop), **over
    )
    share = SenderShare()
    share.renew([])
    # The delivery is still open at its receiver, which hangs.
    [open_] = read_due(share.sender_id, {}, ())
    keep_up_webhooks()
    assert services.revive(delivery.webhook, by=ROBOT) == 1

    write_down([result_of(open_, ReceiverAnswer(500, "too late"))])

    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts) == ("waiting", 0)
