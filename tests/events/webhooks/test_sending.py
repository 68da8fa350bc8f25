"""Deliveries reach their receivers: signed, in the order of their subject, with retries, independently."""

import threading
import time
from datetime import timedelta
from unittest import mock

import pytest
from django.db import connection
from standardwebhooks import Webhook as Verifier

from events import states
from events.models import Delivery, Event, Sender, Webhook
from events.webhooks import services
from events.webhooks.sending import receivers
from tests.events.webhooks.conftest import ROBOT
from tests.events.webhooks.receiving import receiver

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_local_receivers")]


def until(condition, seconds=20.0):
    """Poll until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition did not become true"
        time.sleep(0.02)


def wait_of(delivery):
    """Return the seconds until the delivery's next attempt."""
    assert delivery.next_attempt_at
    assert delivery.attempted_at
    return delivery.next_attempt_at - delivery.attempted_at


def all_are(status, count):
    return lambda: Delivery.objects.filter(status=status).count() == count


@pytest.fixture
def quick_retries(monkeypatch):
    monkeypatch.setattr(states, "DELAYS", (0.1, 0.2, 0.3))
    monkeypatch.setattr(receivers, "FIRST_PAUSE", 0.1)
    monkeypatch.setattr(receivers, "LONGEST_PAUSE", 0.3)


def test_a_delivery_is_the_feeds_event_and_standardwebhooks_verifies_it(shop, client_for, happen, sending):
    client = client_for(shop)
    with receiver() as server, sending():
        made = client.post("webhooks", {"url": server.url}).json()
        happen(7)
        [post] = server.wait_for(1)
        until(all_are("delivered", 1))

    assert Verifier(made["secret"]).verify(post.body.decode(), post.headers) == post.json
    assert [post.json] == client.get("events").json()["results"]
    assert post.headers["webhook-id"] == f"evt_{post.json['id']}"
    assert post.headers["content-type"] == "application/json"
    [delivery] = client.get(f"webhooks/{made['id']}/deliveries").json()["results"]
    assert (delivery["status"], delivery["attempts"], delivery["last_status"]) == ("delivered", 1, 204)
    shown = client.get(f"webhooks/{made['id']}").json()
    assert (shown["waiting"], shown["failing_since"]) == (0, None)
    assert shown["delivered_at"]


def test_while_two_secrets_are_valid_both_verify_a_delivery(happen, sending, a_webhook):
    with receiver() as server:
        webhook = a_webhook(server.url)
        [old] = webhook.read_secrets(at=webhook.created_at)
        new = services.rotate(webhook, by=ROBOT)
        with sending():
            happen(1)
            [post] = server.wait_for(1)
    for secret in (old, new):
        assert Verifier(secret).verify(post.body.decode(), post.headers)


def test_a_test_event_goes_only_to_its_webhook(sending, a_webhook):
    with receiver() as server, sending():
        webhook = a_webhook(server.url)
        services.send_test(webhook, by=ROBOT)
        [post] = server.wait_for(1)
    assert post.json["type"] == "webhook.tested"
    assert post.json["data"]["webhook_id"] == webhook.pk


def test_events_of_an_order_keep_their_order_while_others_go_on(happen, sending, a_webhook, quick_retries):
    """The receiver refuses events of order 1 twice. They must stay in order, and other orders do not wait."""
    refused: list[int] = []

    def answer(post, handler):
        if post.json["order_id"] == 1 and len(refused) < 2:
            refused.append(post.json["id"])
            return 500
        return 200

    with receiver(answer) as server:
        a_webhook(server.url)
        for _ in range(3):
            for order in (1, 2, 3):
                happen(order)
        with sending():
            until(all_are("delivered", 9))

    assert len(set(refused)) == 1
    for order in (1, 2, 3):
        came = [post.json["id"] for post in server.posts if post.json["order_id"] == order]
        assert came == sorted(came)
    first_of_one = next(post for post in server.posts if post.json["order_id"] == 1)
    again = [
        post for post in server.posts if post.headers["webhook-id"] == first_of_one.headers["webhook-id"]
    ]
    assert len(again) == 3
    done_by_others = [post for post in server.posts if post.json["order_id"] != 1 and post.at < again[2].at]
    assert len(done_by_others) == 6


def test_a_receiver_that_hangs_delays_no_other(happen, sending, a_webhook, settings):
    settings.WEBHOOK_SECONDS = 60.0
    stuck: list[object] = []
    others_heard = threading.Event()

    def hang(post, handler):
        stuck.append(post)
        others_heard.wait(60)
        return 200

    with receiver(hang) as slow, receiver() as quick:
        a_webhook(slow.url)
        a_webhook(quick.url)
        with sending():
            for order in range(60):
                happen(order)
            quick.wait_for(60)
            assert len(stuck) <= receivers.FIRST_OPEN
            others_heard.set()


@pytest.mark.parametrize(
    ("status", "more", "error"),
    [
        (500, {}, "answered 500"),
        (404, {}, "answered 404"),
        (301, {"Location": "http://127.0.0.1:1/"}, "Redirects are not followed"),
    ],
)
def test_a_refused_delivery_is_retried_with_the_reason(
    happen, sending, a_webhook, client_for, shop, status, more, error
):
    def answer(post, handler):
        handler.more = more
        return status

    with receiver(answer) as server, sending():
        webhook = a_webhook(server.url)
        happen(1)
        until(Delivery.objects.filter(attempts=1).exists)
        shown = client_for(shop).get(f"webhooks/{webhook.pk}/deliveries").json()["results"][0]
        assert (shown["status"], shown["last_status"]) == ("waiting", status)
        assert error in shown["last_error"]
        assert wait_of(Delivery.objects.get()) == timedelta(seconds=5)
        state = client_for(shop).get(f"webhooks/{webhook.pk}").json()
        assert (state["waiting"], state["active"]) == (1, True)
        assert state["failing_since"]
        assert error in state["last_error"]
    assert len(server.posts) == 1


def test_a_receiver_that_requests_a_delay_gets_it(happen, sending, a_webhook):
    def answer(post, handler):
        handler.more = {"Retry-After": "120"}
        return 503

    with receiver(answer) as server, sending():
        a_webhook(server.url)
        happen(1)
        until(Delivery.objects.filter(attempts=1).exists)
    assert wait_of(Delivery.objects.get()) == timedelta(seconds=120)


def test_an_expired_delivery_is_dead_until_a_replay(
    happen, sending, a_webhook, quick_retries, client_for, shop
):
    down = [True]
    with receiver(lambda post, handler: 500 if down else 200) as server, sending():
        with mock.patch("events.webhooks.relay.LIFETIME", "1 second"):
            webhook = a_webhook(server.url)
            happen(1)
            happen(1)
            until(all_are("dead", 2))
        client = client_for(shop)
        assert client.get(f"webhooks/{webhook.pk}").json()["dead"] == 2
        down.clear()
        first = client.get("events").json()["results"][0]["id"]
        client.post(f"webhooks/{webhook.pk}/replay", {"after": first - 1})
        until(all_are("delivered", 2))
        came = [post.json["id"] for post in server.posts[-2:]]
    assert came == [first, first + 1]


def test_a_delivery_replayed_before_its_answer_is_stored_is_sent_again(
    happen, sending, a_webhook, client_for, shop
):
    """The answer to the first request must not end the replay."""

    def answer(post, handler):
        if not server.posts:
            stretch = {"after": post.json["id"] - 1, "until": post.json["id"]}
            answered = client_for(shop).post(f"webhooks/{webhook.pk}/replay", stretch).json()
            replayed.append(answered["deliveries"])
            connection.close()  # Django does not close the connection of this thread
        return 200

    replayed: list[object] = []
    with receiver(answer) as server, sending():
        webhook = a_webhook(server.url)
        happen(1)
        server.wait_for(2)
        until(all_are("delivered", 1))
    assert replayed == [1]
    assert len({post.json["id"] for post in server.posts}) == 1
    assert len(server.posts) == 2


def test_a_receiver_that_was_down_gets_all_waiting_events_when_it_is_back(
    happen, sending, a_webhook, monkeypatch
):
    """Without the early attempts, the deliveries would wait for an hour after the receiver is back."""
    monkeypatch.setattr(states, "DELAYS", (3600,))
    monkeypatch.setattr(receivers, "FIRST_PAUSE", 0.1)
    monkeypatch.setattr(receivers, "LONGEST_PAUSE", 0.2)
    monkeypatch.setattr(receivers, "DOWN_AFTER", 4)
    down = [True]
    with receiver(lambda post, handler: 502 if down else 200) as server, sending():
        a_webhook(server.url)
        for order in range(6):
            happen(order)
        until(lambda: Delivery.objects.filter(attempts=1).count() >= 5)
        down.clear()
        happen(9)
        until(all_are("delivered", 7))
        assert len({post.json["order_id"] for post in server.posts}) == 7


def test_an_inactive_webhook_gets_nothing_until_it_is_active_again(happen, sending, a_webhook):
    with receiver() as server, sending():
        webhook = a_webhook(server.url)
        other = a_webhook(server.url + "/other")
        happen(1)
        server.wait_for(2)
        Webhook.objects.filter(pk=webhook.pk).update(active=False)
        happen(2)
        until(lambda: Delivery.objects.filter(webhook=other, status="delivered").count() == 2)
        assert Delivery.objects.filter(webhook=webhook).count() == 1


def test_several_processes_share_the_webhooks_and_send_each_event_once(happen, sending, a_webhook):
    with receiver() as server:
        for number in range(6):
            a_webhook(f"{server.url}/{number}")
        with sending() as one, sending() as other:
            until(lambda: Webhook.objects.filter(sender=None).count() == 0 and Sender.objects.count() == 2)
            until(lambda: Webhook.objects.values("sender").distinct().count() == 2)
            for order in range(20):
                happen(order % 5)
            until(all_are("delivered", 120))
        assert one is not other
    assert len(server.posts) == 120
    assert Sender.objects.count() == 0
    for path in {post.path for post in server.posts}:
        for order in range(5):
            came = [p.json["id"] for p in server.posts if (p.path, p.json["order_id"]) == (path, order)]
            assert came == sorted(came)


def test_another_process_sends_the_deliveries_of_a_dead_process(happen, sending, a_webhook, monkeypatch):
    monkeypatch.setattr(Sender, "LEASE", timedelta(seconds=4))
    gone = Sender(name="killed")
    gone.save(force_insert=True)
    with receiver() as server:
        webhook = a_webhook(server.url, sender=gone)
        happen(1)
        with sending():
            server.wait_for(1)
        assert Event.objects.get().number == server.posts[0].json["id"]
        assert webhook.pk
