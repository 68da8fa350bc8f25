"""A result that is saved again after a failure of the database counts as one attempt."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from events.models import Event
from events.webhooks.sending.due import read_due
from events.webhooks.sending.http_client import ReceiverAnswer
from events.webhooks.sending.results import result_of, write_down
from events.webhooks.sending.shares import SenderShare
from tests.factories import DeliveryFactory, WebhookFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def delivery(shop, happen):
    happen(1)
    Event.publish()
    webhook, earlier = WebhookFactory.create(retailer=shop), timezone.now() - timedelta(minutes=1)
    return DeliveryFactory.create(event=Event.objects.get(), webhook=webhook, next_attempt_at=earlier)


@pytest.fixture
def read(delivery):
    share = SenderShare()
    share.renew([])
    [due] = read_due(share.sender_id, {}, ())
    return due


def test_a_failure_that_is_saved_twice_is_one_attempt(delivery, read):
    failed = result_of(read, ReceiverAnswer(500, "down"))
    for _ in range(2):
        write_down([failed])

    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts) == ("waiting", 1)
    assert delivery.next_attempt_at == failed.next_at


def test_a_late_success_still_ends_a_delivery(delivery, read):
    write_down([result_of(read, ReceiverAnswer(500, "down"))])
    write_down([result_of(read, ReceiverAnswer(200, ""))])

    delivery.refresh_from_db()
    assert delivery.status == "delivered"
