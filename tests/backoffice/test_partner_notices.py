"""Partners get mails about changes of their keys and SFTP logins."""

from __future__ import annotations

from datetime import timedelta
from smtplib import SMTPException, SMTPRecipientsRefused

import pytest
from django.core import mail
from django.utils import timezone

from accounts.actors import Actor, ActorKind
from accounts.models import ApiKey, Retailer, Supplier
from backoffice import partner_notices
from backoffice.models import DelayedNotice, Digest, NoticeBookmark
from backoffice.partner_notices import send_notices
from events import epochs
from events.models import Event
from sftp_ingest import services
from tests.backoffice.conftest import do
from tests.factories import SftpLoginFactory


@pytest.fixture(autouse=True)
def _with_mail(settings, db) -> None:
    settings.EMAIL_URL = "smtp://mail.example"
    send_notices()  # the first run sends nothing about earlier changes


def mailed() -> list[tuple[str, list[str]]]:
    Event.publish()
    send_notices()
    return [(str(each.subject), each.to) for each in mail.outbox]


@pytest.fixture
def acme(acme: Supplier) -> Supplier:
    Supplier.objects.filter(pk=acme.pk).update(contact_email="it@acme.example")
    acme.refresh_from_db()
    return acme


def test_partners_get_mails_about_new_rotated_and_revoked_keys(acme, admin_client):
    form = {"name": "ERP", "supplier": acme.pk, "scopes": ["fulfillments:read"]}
    answer = admin_client.post("/admin/accounts/apikey/add/", form)
    assert answer.status_code in (200, 302), answer.content
    key = ApiKey.objects.latest("pk")
    do(admin_client, key, "rotate")
    do(admin_client, key, "revoke")

    assert mailed() == [
        ("A new API key was created for Acme", ["it@acme.example"]),
        ("An API key of Acme was replaced", ["it@acme.example"]),
        ("An API key of Acme was revoked", ["it@acme.example"]),
    ]
    assert all(f"Key: ERP {key.prefix}" in each.body for each in mail.outbox)
    texts = "".join(str(each.body) for each in mail.outbox)
    assert key.digest not in texts
    assert "admin" not in texts
    assert len(mailed()) == 3


def test_a_mail_reports_a_login_and_its_new_password_but_not_its_quota(acme, operator):
    login = SftpLoginFactory.build(supplier=acme, username="acme")
    by = Actor(ActorKind.OPERATOR, "user:olga")
    services.create(login, by=by)
    login.quota_bytes = 1
    services.update(login, ["quota_bytes"], by=by)
    login.set_password("new secret of acme")
    services.update(login, ["password"], by=by)
    services.delete(login, by=by)

    assert [subject for subject, _ in mailed()] == [
        "An SFTP login was created for Acme",
        "The SFTP login of Acme was changed",
        "The SFTP login of Acme was removed",
    ]
    assert "Password: changed" in mail.outbox[1].body
    assert "new secret" not in "".join(str(each.body) for each in mail.outbox)


def test_without_a_contact_the_digests_address_is_used(rival, shop, admin_client):
    Digest(supplier=rival, address="desk@rival.example").save()
    for party in (rival, shop):
        do(admin_client, ApiKey.issue(party, "ERP")[0], "revoke")

    assert mailed() == [("An API key of Rival was revoked", ["desk@rival.example"])]


def test_retailers_are_notified_too(shop, admin_client):
    Retailer.objects.filter(pk=shop.pk).update(contact_email="it@shop.example")
    do(admin_client, ApiKey.issue(shop, "ERP")[0], "revoke")
    assert mailed() == [("An API key of Shop was revoked", ["it@shop.example"])]


def test_a_mail_that_fails_is_sent_later_and_given_up_after_a_day(acme, admin_client, monkeypatch):
    do(admin_client, ApiKey.issue(acme, "ERP")[0], "revoke")

    def fail(*_: object) -> None:
        raise SMTPException("the mail server is away")

    with monkeypatch.context() as patched:
        patched.setattr(partner_notices, "send_mail", fail)
        before = NoticeBookmark.objects.get().number
        assert mailed() == []
        assert NoticeBookmark.objects.get().number == before
        Event.objects.update(occurred_at=Event.objects.latest("pk").occurred_at - timedelta(days=2))
        assert mailed() == []
        assert NoticeBookmark.objects.get().number > before
    do(admin_client, ApiKey.issue(acme, "ERP")[0], "revoke")
    assert len(mailed()) == 1


def test_an_address_that_the_mail_server_refuses_holds_back_no_other_party(
    acme, shop, admin_client, monkeypatch
):
    Retailer.objects.filter(pk=shop.pk).update(contact_email="it@shop.example")
    for party in (acme, shop):
        do(admin_client, ApiKey.issue(party, "ERP")[0], "revoke")

    def send(subject, text, sender, to):
        if to == ["it@acme.example"]:
            raise SMTPRecipientsRefused({"it@acme.example": (550, b"no such user")})
        return mail.send_mail(subject, text, sender, to)

    monkeypatch.setattr(partner_notices, "send_mail", send)

    assert mailed() == [("An API key of Shop was revoked", ["it@shop.example"])]


def test_an_address_that_is_refused_for_now_waits_alone(acme, shop, admin_client, monkeypatch):
    Retailer.objects.filter(pk=shop.pk).update(contact_email="it@shop.example")
    for party in (acme, shop):
        do(admin_client, ApiKey.issue(party, "ERP")[0], "revoke")

    def send(subject, text, sender, to):
        if to == ["it@acme.example"]:
            raise SMTPRecipientsRefused({"it@acme.example": (450, b"try again later")})
        return mail.send_mail(subject, text, sender, to)

    with monkeypatch.context() as patched:
        patched.setattr(partner_notices, "send_mail", send)
        to_shop = ("An API key of Shop was revoked", ["it@shop.example"])
        assert mailed() == [to_shop]
        end_delay()
        assert mailed() == [to_shop]

    assert mailed() == [to_shop]
    end_delay()
    assert mailed() == mailed() == [to_shop, ("An API key of Acme was revoked", ["it@acme.example"])]


def test_an_address_that_is_refused_for_a_day_is_given_up(acme, admin_client, monkeypatch):
    do(admin_client, ApiKey.issue(acme, "ERP")[0], "revoke")

    def refuse(*_: object) -> None:
        raise SMTPRecipientsRefused({"it@acme.example": (450, b"try again later")})

    with monkeypatch.context() as patched:
        patched.setattr(partner_notices, "send_mail", refuse)
        mailed()
        Event.objects.update(occurred_at=Event.objects.latest("pk").occurred_at - timedelta(days=2))
        end_delay()
        mailed()

    assert mailed() == []
    assert not DelayedNotice.objects.exists()


def end_delay():
    DelayedNotice.objects.update(next_try_at=timezone.now())


def test_a_change_without_a_mail_server_is_not_mailed_later(acme, admin_client, settings):
    settings.EMAIL_URL = ""
    do(admin_client, ApiKey.issue(acme, "ERP")[0], "revoke")
    assert mailed() == []

    settings.EMAIL_URL = "smtp://mail.example"
    assert mailed() == []


def test_events_of_a_new_epoch_are_mailed_in_one_run(acme, admin_client, monkeypatch):
    runs = iter(range(50))  # a clock of one second per window: the run ends after ten windows
    monkeypatch.setattr(partner_notices, "monotonic", lambda: float(next(runs)))
    do(admin_client, ApiKey.issue(acme, "ERP")[0], "revoke")
    assert len(mailed()) == 1

    epochs.begin("a standby was promoted")
    do(admin_client, ApiKey.issue(acme, "Shop floor")[0], "revoke")

    assert len(mailed()) == 2
