"""The operators' pages of webhooks: their status and their actions."""

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.actors import Actor
from events.models import Delivery, Event, Webhook
from events.recording import record
from events.webhooks.relay import relay
from tests.backoffice.conftest import do, messages
from tests.factories import DeliveryFactory, WebhookFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def webhook(shop):
    return WebhookFactory.create(retailer=shop)


def happen(shop):
    with transaction.atomic():
        record("order.event", by=Actor.system("test"), retailer=shop, order_id=1)


@pytest.fixture
def dead(webhook, shop):
    happen(shop)
    Event.publish()
    event = Event.objects.get()
    done = {"status": "dead", "next_attempt_at": None, "attempts": 80, "last_error": "No answer."}
    return DeliveryFactory.create(webhook=webhook, event=event, **done)


def test_a_page_shows_the_state_of_a_receiver_and_no_secret(operator, webhook, dead):
    page = operator.get(f"/admin/events/webhook/{webhook.pk}/change/").text
    assert "No answer." in page
    assert "1 dead" in page
    assert webhook.secret not in page
    assert all(secret not in page for secret in webhook.read_secrets(at=webhook.created_at))
    assert operator.get(f"/admin/events/delivery/{dead.pk}/change/").status_code == 200
    assert operator.get(f"/admin/events/delivery/?q=webhook:{webhook.pk}").status_code == 200
    assert operator.get(f"/admin/events/delivery/?q={dead.event_id}").context["cl"].result_count == 1


def test_dead_deliveries_are_sent_again(operator, webhook, dead):
    do(operator, webhook, "resend_dead")
    assert Delivery.objects.get().status == "waiting"
    assert Event.objects.filter(type="webhook.replayed", actor__startswith="user:").count() == 1


def test_one_delivery_is_sent_again(operator, dead):
    do(operator, dead, "resend")
    assert (Delivery.objects.get().status, Delivery.objects.get().attempts) == ("waiting", 0)


def test_a_test_is_sent(operator, webhook):
    do(operator, webhook, "test")
    assert Delivery.objects.get().event.type == "webhook.tested"


def test_a_webhook_is_switched_off_with_a_reason_and_on_again(operator, webhook, shop):
    do(operator, webhook, "switch_off", reason="asked for by phone")
    happen(shop)
    relay()
    assert not Delivery.objects.exists()
    do(operator, webhook, "switch_on")
    assert Webhook.objects.get().active


def test_a_webhook_that_its_party_removed_cannot_be_switched_on(operator, webhook):
    Webhook.objects.update(active=False, removed_at=timezone.now())
    assert messages(do(operator, webhook, "switch_on")) == ["Its party removed this webhook."]
    assert not Webhook.objects.get().active


def test_a_delivery_that_the_webhook_no_longer_wants_is_not_reported_as_sent(operator, webhook, dead):
    Webhook.objects.update(types=["order.created"])
    [message] = messages(do(operator, dead, "resend"))
    assert "no longer gets events of this type" in message
    assert Delivery.objects.get().status == "dead"


def test_support_sees_a_webhook_and_can_change_nothing(support, webhook):
    assert support.get(f"/admin/events/webhook/{webhook.pk}/change/").status_code == 200
    assert support.post(f"/admin/events/webhook/{webhook.pk}/do/test/").status_code == 403
