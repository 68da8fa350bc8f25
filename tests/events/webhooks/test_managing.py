"""`…/webhooks`: receivers, events and deliveries (contract 9)."""

import base64
from ipaddress import ip_network

import pytest
from django.core.management import call_command
from django.db import transaction

from accounts.actors import Actor
from accounts.models import IdempotencyKey
from events.models import Delivery, Event, Webhook
from events.recording import record
from events.webhooks.relay import relay
from tests.factories import DeliveryFactory, WebhookFactory

pytestmark = pytest.mark.django_db

URL = "https://shop.example/hooks"
ROBOT = Actor.system("test")


def happen(type, **fields):  # noqa: A002 - the field's name in the API
    with transaction.atomic():
        return record(type, by=ROBOT, **fields)


@pytest.fixture
def client(shop, client_for):
    return client_for(shop)


def make(client, **body):
    answer = client.post("webhooks", {"url": URL, **body})
    assert answer.status_code == 201, answer.json()
    return answer.json()


def delivered(webhook_id):
    return [each.event.type for each in Delivery.objects.filter(webhook=webhook_id).order_by("event_id")]


def test_a_webhook_is_made_and_shows_its_secret_once(client):
    answer = client.post("webhooks", {"url": URL})
    made = answer.json()
    assert answer.status_code == 201
    assert answer["Cache-Control"] == "no-store"
    secret = made.pop("secret")
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
    assert (made["url"], made["types"], made["active"], made["waiting"]) == (URL, [], True, 0)

    assert client.get(answer["Location"].removeprefix("http://testserver")).json() == made
    assert client.get("webhooks").json()["results"] == [made]
    assert secret not in Webhook.objects.get().secret


@pytest.mark.parametrize("path", ["webhooks", "webhooks/{}/rotate"])
def test_a_repeated_request_is_shown_the_secret_again_which_is_kept_encrypted(client, settings, path):
    path = path.format(make(client)["id"])

    def ask():
        return client.post(path, {"url": URL}, Idempotency_Key="k-1")

    first, again = ask(), ask()
    secret = first.json()["secret"]
    assert (again.headers["Idempotent-Replayed"], again.json()) == ("true", first.json())
    assert again["Cache-Control"] == "no-store"
    assert secret.encode() not in bytes(IdempotencyKey.objects.get().body)

    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "the new one"
    call_command("reencrypt")
    settings.SECRET_KEY_FALLBACKS = []
    assert ask().json() == first.json()


def test_an_unreadable_stored_secret_is_a_conflict_and_nothing_is_done_twice(client, settings):
    client.post("webhooks", {"url": URL}, Idempotency_Key="k-1")
    settings.SECRET_KEY = "another one"
    answer = client.post("webhooks", {"url": URL}, Idempotency_Key="k-1")
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_conflict")
    assert Webhook.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "url"),
        ({"url": "shop.example/hooks"}, "url"),
        ({"url": "http://shop.example/hooks"}, "url"),
        ({"url": "ftp://shop.example/hooks"}, "url"),
        ({"url": "https://me:secret@shop.example/"}, "url"),
        ({"url": "https://127.0.0.1/"}, "url"),
        ({"url": "https://[::ffff:10.0.0.1]/"}, "url"),
        ({"url": "https://2130706433/"}, "url"),
        ({"url": "https://[2606:4700::1%1]/"}, "url"),
        ({"url": "https://shop.example:99999/"}, "url"),
        ({"url": f"https://shop.example/{'x' * 2000}"}, "url"),
        ({"url": URL, "types": ["order.create"]}, "types[0]"),
        ({"url": URL, "types": ["order.created", "import.failed"]}, "types[1]"),
        ({"url": URL, "types": "order.created"}, "types"),
        ({"url": URL, "active": "yes"}, "active"),
    ],
)
def test_an_invalid_field_is_named(client, body, field):
    answer = client.post("webhooks", body)
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert not Webhook.objects.exists()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("fulfilment.created", "Did you mean fulfillment.created?"),
        ("parcel.lost", "/v3/docs/api-guide#events lists them."),
        (
            "order.created",
            "Only retailers receive this type. For new orders choose fulfillment.created.",
        ),
    ],
)
def test_a_suppliers_webhook_with_a_retailers_event_type_is_refused_with_the_possible_types(
    acme, client_for, name, sentence
):
    answer = client_for(acme).post("webhooks", {"url": URL, "types": [name]})
    assert answer.status_code == 400
    assert sentence in answer.json()["message"]


def test_a_misspelled_type_gets_a_suggestion(client):
    answer = client.post("webhooks", {"url": URL, "types": ["order.create"]})
    assert "Did you mean order.created?" in answer.json()["message"]


def test_a_private_network_may_be_allowed(client, settings):
    settings.WEBHOOK_NETWORKS = [ip_network("10.0.0.0/8")]
    for url in ("http://10.1.2.3:8080/x", "https://10.1.2.3/", "http://hooks.internal/"):
        assert client.post("webhooks", {"url": url}).status_code == 201
    assert client.post("webhooks", {"url": "http://192.168.0.1/"}).status_code == 400


def test_a_webhook_gets_later_events_with_the_content_of_the_feed(shop, boutique, acme, client):
    happen("order.created", retailer=shop, order_id=1)
    webhook = make(client)["id"]
    happen("order.held", retailer=shop, order_id=1)
    happen("order.created", retailer=boutique, order_id=2)
    happen("fulfillment.shipped", supplier=acme, retailer=shop, order_id=1, fulfillment_id=4)
    happen("import.failed", supplier=acme, area="catalog", import_id=3)
    happen("api_key.rotated", retailer=shop, area="accounts")
    relay()

    assert delivered(webhook) == ["order.held", "fulfillment.shipped"]
    feed = [each["id"] for each in client.get("events").json()["results"][1:]]
    listed = client.get(f"webhooks/{webhook}/deliveries").json()["results"]
    assert [each["event_id"] for each in listed] == feed[::-1]
    assert listed[0]["status"] == "waiting"


def test_the_webhook_of_a_narrow_key_gets_only_events_that_the_key_reads(acme, client_for):
    narrow, wide = client_for(acme, scopes=["catalog:read"]), client_for(acme)
    webhook = make(narrow)["id"]
    other = make(wide)["id"]
    for area in ("catalog", "inventory"):
        happen("import.failed", supplier=acme, area=area, import_id=1)
    relay()
    assert (len(delivered(webhook)), len(delivered(other))) == (1, 2)

    refused = narrow.post("webhooks", {"url": URL, "types": ["fulfillment.created"]}).json()
    assert refused["errors"][0]["code"] == "scope"


def test_a_narrow_key_cannot_see_or_redirect_a_webhook_of_a_wider_key(acme, client_for):
    narrow, wide = client_for(acme, scopes=["catalog:read", "catalog:write"]), client_for(acme)
    webhook = make(wide)["id"]
    assert narrow.get("webhooks").json()["results"] == []
    for method, path in [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/rotate"),
        ("POST", "/replay"),
    ]:
        assert narrow.request(method, f"webhooks/{webhook}{path}", {}).status_code == 404
    assert wide.get(f"webhooks/{webhook}").status_code == 200


def test_event_types_select_events(shop, client):
    webhook = make(client, types=["order.held"])["id"]
    for name in ("created", "held"):
        happen(f"order.{name}", retailer=shop, order_id=1)
    relay()
    assert delivered(webhook) == ["order.held"]


def test_a_change_concerns_only_the_named_fields(shop, client):
    webhook = make(client, types=["order.held"])["id"]
    changed = client.request("PATCH", f"webhooks/{webhook}", {"url": f"{URL}/2", "types": []}).json()
    assert (changed["url"], changed["types"], changed["active"]) == (f"{URL}/2", [], True)
    assert "secret" not in changed
    for body in ({"url": "http://x.example"}, {"types": ["nothing.known"]}, {"active": None}, {"urll": URL}):
        assert client.request("PATCH", f"webhooks/{webhook}", body).status_code == 400
    events = Event.objects.filter(type="webhook.updated")
    assert [each.data["changed"]["url"]["to"] for each in events] == [f"{URL}/2"]


def test_a_webhook_that_is_switched_off_gets_nothing_until_it_is_on_again(shop, client):
    webhook = make(client, active=False)["id"]
    happen("order.created", retailer=shop, order_id=1)
    relay()
    for path in ("test", "replay"):
        answer = client.post(f"webhooks/{webhook}/{path}", {"after": 0})
        assert (answer.status_code, answer.json()["code"]) == (409, "webhook_inactive")
    client.request("PATCH", f"webhooks/{webhook}", {"active": True})
    happen("order.held", retailer=shop, order_id=1)
    relay()
    assert delivered(webhook) == ["order.held"]


def test_a_removed_webhook_is_not_found(shop, client):
    webhook = make(client)["id"]
    assert client.request("DELETE", f"webhooks/{webhook}").json()["code"] == "webhook_removed"
    happen("order.created", retailer=shop, order_id=1)
    relay()
    assert delivered(webhook) == []
    assert client.get("webhooks").json()["results"] == []
    assert client.request("DELETE", f"webhooks/{webhook}").status_code == 404
    assert Webhook.objects.get().secret == ""


def test_the_number_of_webhooks_is_limited(shop, client):
    WebhookFactory.create_in_bulk(20, retailer=shop)
    answer = client.post("webhooks", {"url": URL})
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_webhooks")


def test_a_new_secret_comes_beside_the_old_one(client, time_machine):
    made = make(client)
    rotated = client.post(f"webhooks/{made['id']}/rotate").json()
    secrets = [rotated["secret"], made["secret"]]
    webhook = Webhook.objects.get()
    assert webhook.read_secrets(at=webhook.created_at) == secrets
    assert webhook.read_secrets(at=webhook.created_at + Webhook.OVERLAP * 1.01) == secrets[:1]
    assert rotated["old_secret_until"] is not None


def test_a_repeated_rotation_keeps_the_secret_that_the_receiver_knows(client):
    made = make(client)
    rotated = [client.post(f"webhooks/{made['id']}/rotate").json()["secret"] for _ in range(4)]

    webhook = Webhook.objects.get()
    shown = [*reversed(rotated), made["secret"]]
    assert webhook.read_secrets(at=webhook.created_at) == shown[: 1 + Webhook.MOST_OLD]


def test_a_rotation_after_a_changed_secret_key_drops_the_secrets_that_cannot_be_read(client, settings):
    made = make(client)
    client.post(f"webhooks/{made['id']}/rotate")
    settings.SECRET_KEY = "a key without the old one as a fallback"
    new = client.post(f"webhooks/{made['id']}/rotate").json()

    webhook = Webhook.objects.get()
    assert webhook.read_secrets(at=webhook.created_at) == [new["secret"]]
    assert new["old_secret_until"] is None


def test_a_test_is_an_event_for_that_webhook_alone_and_in_no_feed(shop, client):
    webhook, other = make(client)["id"], make(client)["id"]
    answer = client.post(f"webhooks/{webhook}/test")
    relay()
    assert answer.status_code == 202
    assert answer.json() == client.get(f"webhooks/{webhook}/deliveries").json()["results"][0]
    assert (delivered(webhook), delivered(other)) == (["webhook.tested"], [])
    assert client.get("events").json()["results"] == []


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("webhooks", {"url": URL, "events": ["order.created"]}, "events"),
        ("webhooks/{}", {"event_types": ["order.created"]}, "event_types"),
        ("webhooks/{}/replay", {"after": 0, "before": 7}, "before"),
        ("webhooks/{}/replay", {"after": 0, "event_ids": [7]}, "event_ids"),
    ],
)
def test_a_field_that_may_limit_events_is_not_ignored(client, path, body, field):
    webhook = make(client)["id"]
    method = "PATCH" if path == "webhooks/{}" else "POST"

    answer = client.request(method, path.format(webhook), body)

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)
    assert Webhook.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [({"enabled": False}, "active"), ({"paused": True}, "active"), ({"events": "x"}, "types")],
)
def test_a_usual_other_name_of_a_field_is_refused_instead_of_ignored(client, body, field):
    """An automatic import has `enabled`. A webhook that ignored it would not be paused."""
    webhook = make(client, types=["order.created"])["id"]

    answer = client.request("PATCH", f"webhooks/{webhook}", body)

    [fault] = answer.json()["errors"]
    assert (answer.status_code, fault["field"]) == (400, next(iter(body)))
    assert fault["message"] == f"Unknown field. Did you mean {field}?"
    both = client.request("PATCH", f"webhooks/{webhook}", {"active": False, "enabled": False})
    assert both.json()["active"] is False


def test_a_replay_sends_a_range_of_the_feed_again(shop, client):
    for number in range(4):
        happen("order.created", retailer=shop, order_id=number)
    Event.publish()
    first, second, third, _ = Event.objects.order_by("number").values_list("number", flat=True)
    webhook = make(client, types=["order.created"])["id"]
    DeliveryFactory.create(
        webhook_id=webhook, event_id=third, status="dead", next_attempt_at=None, attempts=19
    )
    relay()

    answer = client.post(f"webhooks/{webhook}/replay", {"after": first, "until": third})
    assert (answer.status_code, answer.json()["deliveries"]) == (202, 2)
    rows = client.get(f"webhooks/{webhook}/deliveries").json()["results"]
    assert [(row["event_id"], row["status"], row["attempts"]) for row in rows] == [
        (third, "waiting", 0),
        (second, "waiting", 0),
    ]
    assert (
        client.post(f"webhooks/{webhook}/replay", {"after": first, "until": None}).json()["deliveries"] == 3
    )
    assert client.post(f"webhooks/{webhook}/replay", {}).json()["code"] == "missing_parameter"


def test_a_replay_of_a_reversed_range_is_refused(client):
    webhook = make(client)["id"]
    answer = client.post(f"webhooks/{webhook}/replay", {"after": 7, "until": 3})
    assert (answer.status_code, answer.json()["message"]) == (
        400,
        "until: Must not be below `after`, which is 7.",
    )
    assert client.post(f"webhooks/{webhook}/replay", {"after": 7, "until": 7}).status_code == 202


def test_a_replay_that_is_too_long_is_refused_whole(shop, client, monkeypatch):
    monkeypatch.setattr("events.webhooks.services.MOST_REPLAYED", 2)
    webhook = make(client)["id"]
    for number in range(3):
        happen("order.created", retailer=shop, order_id=number)
    Event.publish()
    answer = client.post(f"webhooks/{webhook}/replay", {"after": 0})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "until")
    assert delivered(webhook) == []


def test_deliveries_are_found_by_status(shop, client):
    webhook = make(client)["id"]
    for number in range(3):
        happen("order.created", retailer=shop, order_id=number)
    relay()
    assert len(client.get(f"webhooks/{webhook}/deliveries?status=waiting&limit=2").json()["results"]) == 2
    assert client.get(f"webhooks/{webhook}/deliveries?status=dead").json()["results"] == []
    assert client.get(f"webhooks/{webhook}/deliveries?status=lost").status_code == 400
    assert client.get(f"webhooks/{webhook}").json()["waiting"] == 3


@pytest.mark.parametrize("many", [2, 10])
def test_the_length_of_the_list_costs_no_queries(shop, client, many, django_assert_num_queries):
    WebhookFactory.create_in_bulk(many, retailer=shop)
    client.get("webhooks")
    with django_assert_num_queries(4):  # queries: the key, webhooks, waiting deliveries, dead deliveries
        assert len(client.get("webhooks").json()["results"]) == many
