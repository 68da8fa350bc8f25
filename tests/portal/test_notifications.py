"""Mails to members: about chosen topics, once for each event, and without data of other parties."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.actors import Actor
from accounts.member_roles import MemberRole
from accounts.models import MailSubscription
from events.models import Event
from events.recording import record
from portal.notifications import sending
from portal.notifications.sending import send_due
from tests.factories import ImportJobFactory
from tests.portal.conftest import act, browser_of, said

PAGE = "/portal/notifications/change/"


@pytest.fixture(autouse=True)
def mail_server(settings):
    settings.EMAIL_URL = "smtp://127.0.0.1:1"


@pytest.fixture
def order(shop, a_variant, pushed):
    def make(supplier, sku="LAMP"):
        a_variant(supplier, sku, stock=10)
        work = pushed(shop, {"sku": sku, "quantity": 1}).fulfillments.get()
        Event.publish()
        return work

    return make


def number(work) -> str:
    return str(work.order.retailer_order_id)


def sent() -> list[str]:
    """Send the due mails, and return the texts of the new mails."""
    mail.outbox.clear()
    send_due()
    return [str(each.body) for each in mail.outbox]


def test_a_member_gets_a_mail_about_each_new_order_once(ana, owner, acme, order):
    before = order(acme, "BEFORE")
    shown = act(ana, PAGE, new_orders="at_once")
    assert said(shown) == ["Your choice of mails was saved."]
    work = order(acme)

    [text] = sent()

    assert mail.outbox[0].to == [owner.user.email]
    assert number(work) in text
    assert f"/portal/orders/{work.pk}/" in text
    assert number(before) not in text
    assert sent() == []


def test_a_mail_holds_nothing_of_other_parties_and_no_address(
    ana, acme, rival, shop, boutique, member_of, order
):
    owners = {acme: ana, **{each: browser_of(member_of(each)) for each in (rival, shop, boutique)}}
    for client in owners.values():
        topics = dict.fromkeys(("new_orders", "late_orders", "cancellations", "failed_files"), "at_once")
        act(client, PAGE, **topics, problems="at_once", canceled_orders="at_once")
    own, other = order(acme, "OWN"), order(rival, "FOREIGN")
    job = ImportJobFactory.create(
        supplier=rival, status="failed", source="SECRET.csv", error={"message": "MARKER"}
    )
    data = {"kind": job.kind, "source": job.source, "status": job.status, "dry_run": False}
    about = {"area": "catalog", "supplier": rival, "import_id": job.pk, "data": data}
    record("import.failed", by=Actor.system("imports"), **about)
    Event.publish()

    texts = {each.to[0]: each.body for each in mail.outbox} if sent() else {}

    assert len(texts) == 2
    mine, theirs = texts["ana@acme.example"], next(text for to, text in texts.items() if "ana@" not in to)
    assert number(own) in mine
    for foreign in (number(other), "Rival", "SECRET", "MARKER", "FOREIGN"):
        assert foreign not in mine
    assert "MARKER" in theirs
    for text in (mine, theirs):
        assert own.order.shipping_address["last_name"] not in text


def test_a_failed_mail_is_tried_again_and_sent_once(ana, acme, order, monkeypatch):
    act(ana, PAGE, new_orders="at_once")
    order(acme)

    def fail(*_):
        raise OSError("no server")

    with monkeypatch.context() as broken:
        broken.setattr(sending, "_mail", fail)
        assert sent() == []
    assert MailSubscription.objects.get().last_error == "OSError: no server"
    assert len(sent()) == 1
    assert sent() == []


def test_a_mail_that_another_worker_claimed_is_not_sent(ana, acme, order):
    act(ana, PAGE, new_orders="at_once")
    order(acme)
    stale = MailSubscription.objects.select_related("member__user").get()
    assert len(sent()) == 1

    assert not sending._send(stale, sending.newest_event())


@pytest.mark.parametrize(
    ("frequency", "waits"), [("hourly", timedelta(hours=1)), ("daily", timedelta(days=1))]
)
def test_mails_wait_for_their_time(ana, acme, order, frequency, waits):
    act(ana, PAGE, new_orders=frequency)
    order(acme)
    subscription = MailSubscription.objects.filter(frequency=frequency)
    subscription.update(checked_at=timezone.now())
    if frequency == "hourly":
        assert sent() == []
    subscription.update(checked_at=timezone.now() - waits)
    if frequency == "daily" and timezone.now().hour < sending.DAILY_HOUR:
        subscription.update(checked_at=timezone.now() - 2 * waits)
        assert sent() == []
        return

    assert len(sent()) == 1


@pytest.mark.parametrize("limit", ["due_at", "capture_due_at"])
def test_a_late_order_is_mailed_when_its_time_ends(ana, acme, order, limit):
    act(ana, PAGE, late_orders="at_once")
    work = order(acme)
    assert sent() == []
    type(work).objects.filter(pk=work.pk).update(**{limit: timezone.now()})

    [text] = sent()

    assert "Late orders" in text
    assert number(work) in text
    assert sent() == []


def test_late_orders_are_mailed_with_the_first_limit_first(ana, acme, order):
    act(ana, PAGE, late_orders="at_once")
    second, first = order(acme), order(acme, "FIRST")
    now = timezone.now()
    for work, fields in (
        (second, {"due_at": now}),
        (first, {"due_at": now + timedelta(days=1), "capture_due_at": now - timedelta(milliseconds=1)}),
    ):
        type(work).objects.filter(pk=work.pk).update(**fields)
    MailSubscription.objects.update(checked_at=now - timedelta(minutes=1))

    [text] = sent()

    assert text.index(number(first)) < text.index(number(second))


def test_the_link_of_a_mail_stops_all_mails_without_a_sign_in(ana, acme, order):
    act(ana, PAGE, new_orders="at_once", late_orders="daily")
    order(acme)
    [text] = sent()
    [path] = re.findall(r"Stop all of them: http://[^/]+(\S+)", text)
    assert path in mail.outbox[0].extra_headers["List-Unsubscribe"]
    stranger = Client(enforce_csrf_checks=True)
    assert "Stop all mails" in stranger.get(path).content.decode()
    assert MailSubscription.objects.exists()

    assert "Mails stopped" in stranger.post(path).content.decode()

    assert not MailSubscription.objects.exists()
    wrong = stranger.post("/portal/stop-mails/wrong/").content.decode()
    assert "This link does not work" in wrong


def test_every_role_chooses_its_own_mails_and_a_removed_member_gets_none(acme, member_of, order):
    viewer = member_of(acme, MemberRole.VIEWER)
    act(browser_of(viewer), PAGE, new_orders="at_once")
    order(acme)
    viewer.removed_at = timezone.now()
    viewer.save()

    assert sent() == []
