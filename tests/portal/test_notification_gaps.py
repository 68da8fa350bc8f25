"""Mails to members after a failure: nothing is left out in silence, and failed mails delay no other mail."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from accounts.models import MailFrequency, MailSubscription
from events.models import Event
from portal.notifications import sending, topics
from portal.notifications.sending import send_due
from tests.factories import MailSubscriptionFactory


@pytest.fixture(autouse=True)
def mail_server(settings):
    settings.EMAIL_URL = "smtp://127.0.0.1:1"
    settings.BASE_URL = "https://exchange.example"


@pytest.fixture
def orders(acme, shop, a_variant, pushed):
    """Push three orders for Acme."""
    a_variant(acme, "LAMP", stock=10)
    works = [pushed(shop, {"sku": "LAMP", "quantity": 1}).fulfillments.get() for _ in range(3)]
    Event.publish()
    return [str(work.order.retailer_order_id) for work in works]


def subscribe(member, names, **since):
    return MailSubscriptionFactory.create(
        member=member,
        frequency=MailFrequency.AT_ONCE,
        topics=names,
        checked_at=timezone.now() - timedelta(**since),
    )


def sent() -> list[str]:
    mail.outbox.clear()
    send_due()
    return [str(each.body) for each in mail.outbox]


def named(orders, text):
    return [number for number in orders if f"Order {number} " in text]


def test_a_long_topic_names_the_number_of_further_orders_and_the_link_to_their_list(
    owner, orders, monkeypatch
):
    subscribe(owner, ["new_orders"], minutes=1)
    monkeypatch.setattr(topics, "MOST_RECORDS", 2)

    [text] = sent()

    assert named(orders, text) == orders[:2]
    assert "and 1 more. See the list:\n  https://exchange.example/portal/orders/?tab=new\n" in text


def test_a_topic_that_fits_in_the_mail_has_no_number_of_further_orders(owner, orders, monkeypatch):
    subscribe(owner, ["new_orders"], minutes=1)
    monkeypatch.setattr(topics, "MOST_RECORDS", 3)

    [text] = sent()

    assert named(orders, text) == orders
    assert "See the list" not in text


def test_orders_of_a_weekend_without_a_mail_server_are_mailed_on_monday(owner, orders):
    Event.objects.update(occurred_at=timezone.now() - timedelta(days=2))
    subscribe(owner, ["new_orders"], days=3)

    [text] = sent()

    assert named(orders, text) == orders
    assert "No mail could be sent" not in text


def test_a_mail_after_more_than_a_week_reports_the_events_that_it_leaves_out(owner, orders):
    Event.objects.update(occurred_at=timezone.now() - timedelta(days=8))
    subscription = subscribe(owner, ["new_orders"], days=9)

    [text] = sent()

    assert named(orders, text) == []
    assert f"No mail could be sent to you after {subscription.checked_at:%-d %b %Y, %H:%M} UTC." in text
    assert "are not in this mail. See all open work:\n  https://exchange.example/portal/\n" in text
    assert sent() == []


def test_a_mail_that_fails_slowly_does_not_stop_the_mails_behind_it(
    acme, owner, member_of, orders, monkeypatch
):
    refused, other = owner, member_of(acme)
    subscribe(refused, ["new_orders"], minutes=9)
    subscribe(other, ["new_orders"], minutes=1)
    reached = []

    def send(member, text):
        if member == refused:
            raise OSError("refused after the time limit")
        reached.append(member)

    monkeypatch.setattr(sending, "_mail", send)
    monkeypatch.setattr(sending, "SECONDS", 0)  # each half of a run ends after its first mail
    for _ in range(3):
        send_due()

    assert reached == [other]
    assert MailSubscription.objects.get(member=refused).last_error.startswith("OSError")


def test_a_failed_mail_is_tried_again_while_other_mails_take_all_their_time(
    acme, owner, member_of, orders, monkeypatch
):
    failed = subscribe(owner, ["new_orders"], minutes=1)
    MailSubscription.objects.filter(pk=failed.pk).update(last_error="OSError: no server")
    subscribe(member_of(acme), ["new_orders"], minutes=9)
    monkeypatch.setattr(sending, "SECONDS", 0)

    assert len(sent()) == 2
