"""Daily digests are mailed only to subscribers, and only with a mail server."""

from datetime import timedelta
from smtplib import SMTPException

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from backoffice.digests import sending
from backoffice.models import Digest
from backoffice.tasks import send_digests
from config.mail import TIMEOUT, mail_settings
from tests.backoffice.conftest import messages
from tests.factories import ImportJobFactory

ADD = "/admin/backoffice/digest/add/"


@pytest.fixture
def server(settings):
    """Set a mail server. Django's test runner stores the mails in `mailoutbox`."""
    settings.EMAIL_URL = "smtp://mail.example"


def add(client, **fields):
    return client.post(
        ADD, {"address": "olga@example.org", "hour": "0", "enabled": "on", **fields}, follow=True
    )


@pytest.fixture
def digest(operator):
    add(operator, user=User.objects.get(username="olga").pk)
    return Digest.objects.get()


@pytest.fixture
def trouble(order, fulfillment, acme, client_for):
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/wrong_address")
    return order


def test_an_operator_gets_one_digest_a_day(server, digest, trouble):
    send_digests()
    send_digests()

    [sent] = mail.outbox
    assert sent.to == ["olga@example.org"]
    assert sent.subject == "1 waiting on the desk"
    assert f"Wrong address: {trouble.retailer_order_id} (Acme for Shop)" in sent.body
    assert "/admin/fulfillments/fulfillment/" in sent.body
    Digest.objects.update(sent_at=timezone.now() - timedelta(days=1))
    send_digests()
    assert len(mail.outbox) == 2


def test_a_supplier_gets_a_digest_of_its_work(server, operator, acme, order):
    add(operator, supplier=acme.pk, address="acme@example.org")
    failed = {"code": "no_header", "message": "It has no header."}
    ImportJobFactory.create(supplier=acme, status="failed", error=failed)
    send_digests()

    [sent] = mail.outbox
    assert sent.subject == "Acme: your open work"
    assert "1 fulfillment to capture" in sent.body
    assert "It has no header." in sent.body


def test_a_supplier_gets_no_events_of_another_supplier(server, operator, rival, order):
    add(operator, supplier=rival.pk)
    send_digests()
    assert mail.outbox == []


@pytest.mark.parametrize(
    "state", [{"enabled": False}, {"hour": 23, "sent_at": None}, {"sent_at": "now"}, {"nothing": True}]
)
def test_no_digest_is_sent_if_it_is_off_not_yet_due_already_sent_or_empty(
    server, digest, order, state, monkeypatch
):
    if state.pop("nothing", False):
        send_digests()
    else:
        now = timezone.now().replace(hour=12)
        monkeypatch.setattr("django.utils.timezone.now", lambda: now)
        Digest.objects.update(**{name: now if value == "now" else value for name, value in state.items()})
        send_digests()
    assert mail.outbox == []


def test_without_a_mail_server_no_mail_is_sent_and_the_admin_reports_it(settings, operator, trouble):
    settings.EMAIL_URL = ""
    page = add(operator, user=User.objects.get(username="olga").pk)
    assert "EMAIL_URL is not set" in str(messages(page))
    send_digests()
    assert (mail.outbox, Digest.objects.get().sent_at) == ([], None)


def test_a_former_operator_gets_no_digest(server, digest, trouble):
    User.objects.update(is_active=False)
    send_digests()
    assert mail.outbox == []


def test_a_digest_is_sent_again_after_a_failure_of_the_mail_server(server, digest, trouble, monkeypatch):
    def fail(*_):
        raise SMTPException("550 no")

    with monkeypatch.context() as broken:
        broken.setattr(sending, "send_mail", fail)
        send_digests()
    assert "550 no" in Digest.objects.get().last_error
    send_digests()
    assert len(mail.outbox) == 1
    assert Digest.objects.get().last_error == ""


def test_a_silent_mail_server_is_tried_once_and_its_digest_comes_last(
    server, operator, digest, acme, trouble, monkeypatch
):
    add(operator, supplier=acme.pk, address="acme@example.org")
    ImportJobFactory.create(supplier=acme, status="failed", error={"code": "no_header", "message": "None."})
    moment = [0.0]
    asked: list[str] = []

    def be_silent(subject, text, sender, to):
        asked.extend(to)
        moment[0] += TIMEOUT
        raise TimeoutError

    monkeypatch.setattr(sending, "monotonic", lambda: moment[0])
    monkeypatch.setattr(sending, "send_mail", be_silent)
    send_digests()
    assert asked == ["olga@example.org"]
    send_digests()
    assert asked == ["olga@example.org", "acme@example.org"]


def test_a_digest_has_exactly_one_recipient(operator, acme):
    page = add(operator, supplier=acme.pk, user=User.objects.get(username="olga").pk)
    assert "Choose one." in page.text
    assert not Digest.objects.exists()


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("", ("dummy", None, None, None)),
        ("smtp://u:p%40@mail.example", ("smtp", 587, True, False)),
        ("smtp://mail.example:25?tls=0", ("smtp", 25, False, False)),
        ("smtps://mail.example", ("smtp", 465, False, True)),
    ],
)
def test_one_url_sets_the_mail_server(url, found):
    read = mail_settings(url)
    backend = read["EMAIL_BACKEND"].split(".")[-2]
    assert (backend, *(read.get(f"EMAIL_{name}") for name in ("PORT", "USE_TLS", "USE_SSL"))) == found


@pytest.mark.parametrize("url", ["mail.example", "http://mail.example", "smtp://", "smtp://mail.example:x"])
def test_an_invalid_url_is_reported_at_the_start(url):
    with pytest.raises(ImproperlyConfigured, match="EMAIL_URL"):
        mail_settings(url)
