"""A slow mail server gets each message to a contact once."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from accounts.models import ContactMessage
from backoffice.contacts import sending
from tests.factories import ContactFactory, ContactMessageFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def message(acme) -> ContactMessage:
    contact = ContactFactory.create(supplier=acme, email="anna@acme.example")
    return ContactMessageFactory.create(contact=contact, next_try_at=timezone.now())


def during_the_mail(monkeypatch, step) -> list[tuple[str, ...]]:
    """Let `step` happen while the mail server reads the mail. Return the mails that it has read."""
    mails = []

    def send_mail(*mail):
        step()
        mails.append(mail)

    monkeypatch.setattr("backoffice.contacts.sending.send_mail", send_mail)
    return mails


def test_no_other_worker_takes_a_message_while_a_server_reads_it_for_minutes(message, monkeypatch):
    others = []

    def wait() -> None:
        ContactMessage.objects.update(lease_until=F("lease_until") - timedelta(minutes=5))
        others.extend(ContactMessage.unfinished())

    mails = during_the_mail(monkeypatch, wait)

    sending.send(message.pk)

    assert (len(mails), others) == (1, [])


def test_a_sent_message_is_not_sent_again_although_its_worker_was_replaced(message, monkeypatch):
    def replace() -> None:
        ContactMessage.objects.update(owner="another worker")

    during_the_mail(monkeypatch, replace)
    sending.send(message.pk)

    message.refresh_from_db()
    assert message.sent_at is not None
    ContactMessage.objects.update(lease_until=None)  # the other worker was killed
    assert ContactMessage.unfinished() == []


def test_a_late_failure_does_not_repeat_a_message_that_another_worker_sent(message, monkeypatch):
    def send_elsewhere() -> None:
        ContactMessage.objects.update(sent_at=F("created_at"), next_try_at=None)
        raise OSError("The mail server is away")

    during_the_mail(monkeypatch, send_elsewhere)
    sending.send(message.pk)

    message.refresh_from_db()
    assert message.next_try_at is None
