"""`GET …/events`: all events of a party in one order, without gaps (contract 9 and 12)."""

import re
import threading

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts.actors import Actor
from events.models import Event
from events.models.event import BATCH, NUMBER
from events.recording import record
from events.tasks import publish
from tests.interleaving import race

pytestmark = pytest.mark.django_db

ROBOT = Actor.system("test")


def happen(type, **fields):  # noqa: A002 - the field's name in the API
    with transaction.atomic():
        return record(type, by=ROBOT, **fields)


def test_events_come_in_order_with_their_subjects(acme, client_for):
    happen(
        "fulfillment.accepted", supplier=acme, order_id=7, fulfillment_id=8, data={"tracking_number": "1Z"}
    )
    happen("import.finished", supplier=acme, import_id=9, area="catalog")
    body = client_for(acme).get("events").json()

    first, second = body["results"]
    assert first["id"] < second["id"]
    assert first["occurred_at"].endswith("Z")
    del first["id"], first["occurred_at"], second["id"], second["occurred_at"]
    assert first == {
        "type": "fulfillment.accepted",
        "order_id": 7,
        "fulfillment_id": 8,
        "data": {"tracking_number": "1Z"},
    }
    assert second == {"type": "import.finished", "import_id": 9, "data": {}}
    assert body["next"] is None


def test_a_party_sees_only_its_own_events(acme, rival, shop, boutique, client_for):
    happen("fulfillment.shipped", supplier=acme, retailer=shop)
    happen("order.created", retailer=boutique)

    def seen(party):
        return [event["type"] for event in client_for(party).get("events").json()["results"]]

    assert seen(acme) == ["fulfillment.shipped"]
    assert seen(rival) == []
    assert seen(boutique) == ["order.created"]


def test_a_key_sees_only_the_kinds_that_its_scopes_cover(acme, client_for):
    for area in ("fulfillments", "catalog", "inventory"):
        happen(f"{area}.changed", supplier=acme, area=area)

    def seen(scopes):
        body = client_for(acme, scopes=scopes).get("events").json()
        return [event["type"] for event in body["results"]]

    assert seen(["catalog:read"]) == ["catalog.changed"]
    assert seen(["inventory:write", "catalog:read"]) == ["catalog.changed", "inventory.changed"]
    assert len(seen(None)) == 3


def test_the_feed_is_paged_by_next_and_resumed_by_after(acme, client_for):
    for number in range(5):
        happen("fulfillment.accepted", supplier=acme, fulfillment_id=number)
    client = client_for(acme)
    seen, url = [], "events?limit=2&type=fulfillment.accepted"
    while url:
        body = client.get(url.replace("http://testserver", "")).json()
        seen += [event["fulfillment_id"] for event in body["results"]]
        last, url = body["results"][-1]["id"], body["next"]
    assert seen == [0, 1, 2, 3, 4]

    assert client.get(f"events?after={last}").json() == {"results": [], "next": None}
    happen("fulfillment.shipped", supplier=acme)
    assert [each["type"] for each in client.get(f"events?after={last}").json()["results"]] == [
        "fulfillment.shipped"
    ]


def test_event_types_select_events(acme, client_for):
    for name in ("accepted", "shipped", "canceled"):
        happen(f"fulfillment.{name}", supplier=acme)
    body = client_for(acme).get("events?type=fulfillment.shipped,%20fulfillment.canceled,").json()
    assert [each["type"] for each in body["results"]] == ["fulfillment.shipped", "fulfillment.canceled"]
    assert client_for(acme).get("events?type=nothing.like_it").json()["results"] == []
    assert client_for(acme).get("events?type=a%00").status_code == 400
    many = ",".join(f"fulfillment.{number}" for number in range(51))
    assert client_for(acme).get(f"events?type={many}").json()["errors"][0]["field"] == "type"


@pytest.mark.parametrize(
    ("role", "name", "proper"),
    [
        ("retailer", "order.cancelled", "order.canceled"),
        ("retailer", "Order.Exception", "order.exception"),
        ("retailer", "order_completed", "order.completed"),
        ("supplier", "fulfilment.created", "fulfillment.created"),
    ],
)
def test_a_misspelled_type_is_refused_because_no_event_would_match(
    acme, shop, client_for, role, name, proper
):
    client = client_for(shop if role == "retailer" else acme)
    answer = client.get(f"events?type=trade.resumed,{name}")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "type")
    assert f"Unknown type of event {name}. Did you mean {proper}?" in answer.json()["message"]


@pytest.mark.parametrize("name", ["order.created", "fulfillment.created", "webhook.tested"])
def test_one_list_of_types_may_serve_suppliers_and_retailers(acme, shop, client_for, name):
    for party in (acme, shop):
        assert client_for(party).get(f"events?type=trade.resumed,{name}").status_code == 200


@pytest.mark.parametrize(
    "query",
    [
        "after=-1",
        "after=x",
        "after=1.5",
        "after=" + "9" * 30,
        "limit=0",
        "limit=501",
        "afer=3",
        "type=a&type=b",
    ],
)
def test_a_wrong_parameter_is_named(acme, client_for, query):
    answer = client_for(acme).get(f"events?{query}")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == query.partition("=")[0]


def test_an_unknown_parameter_is_ignored(acme, client_for):
    assert client_for(acme).get("events?_=1699999999999").status_code == 200


@pytest.mark.parametrize("many", [3, 30])
def test_the_length_of_the_feed_costs_no_queries(acme, client_for, many, django_assert_num_queries):
    for _ in range(many):
        happen("fulfillment.accepted", supplier=acme)
    publish()
    client = client_for(acme)
    client.get("events")
    with django_assert_num_queries(3):  # queries: the key, the check for unnumbered events, the events
        assert len(client.get("events").json()["results"]) == many


def test_beat_numbers_events_that_were_not_read(acme):
    happen("fulfillment.accepted", supplier=acme)
    publish()
    assert Event.objects.get().number == 1


def late_commit(supplier, read):
    """Run two changes: the first change to begin commits last. Return all events that two reads find."""
    begun, go_on = threading.Event(), threading.Event()

    def early():
        with transaction.atomic():
            record("fulfillment.accepted", by=ROBOT, supplier=supplier)
            begun.set()
            assert go_on.wait(60)

    def late():
        assert begun.wait(60)
        try:
            happen("fulfillment.shipped", supplier=supplier)
            return read(0)
        finally:
            go_on.set()

    _, (seen, last) = race(early, late)
    more, _ = read(last)
    return seen + more


@pytest.mark.django_db(transaction=True)
def test_a_reader_misses_nothing_that_commits_late(acme, client_for):
    client = client_for(acme)

    def read(after):
        results = client.get(f"events?after={after}").json()["results"]
        return [each["type"] for each in results], results[-1]["id"] if results else after

    assert sorted(late_commit(acme, read)) == ["fulfillment.accepted", "fulfillment.shipped"]


@pytest.mark.django_db(transaction=True)
def test_a_number_drawn_inside_the_change_would_be_skipped(acme):
    """Control: a reader that continues after the row's own id never sees the event that commits late."""

    def read(after):
        rows = list(Event.objects.filter(pk__gt=after).order_by("pk"))
        return [row.type for row in rows], rows[-1].pk if rows else after

    assert late_commit(acme, read) == ["fulfillment.shipped"]


@pytest.mark.django_db(transaction=True)
def test_many_publishers_give_each_event_one_number(acme):
    for _ in range(20):
        happen("fulfillment.accepted", supplier=acme)
    counts = race(*[Event.publish] * 4)
    assert sum(counts) == 20
    assert [event.number for event in Event.objects.order_by("number")] == list(range(1, 21))


def test_a_long_backlog_is_numbered_in_statements_of_bounded_size(acme, monkeypatch):
    for _ in range(5):
        happen("fulfillment.accepted", supplier=acme)
    monkeypatch.setattr("events.models.event.BATCH", 2)
    with CaptureQueriesContext(connection) as captured:
        assert Event.publish() == 5
    assert sum("UPDATE events_event" in query["sql"] for query in captured) == 3
    assert list(Event.objects.order_by("id").values_list("number", flat=True)) == [1, 2, 3, 4, 5]


def test_the_statement_that_numbers_events_joins_nothing():
    """With old statistics the planner would join by nested loops, which takes minutes for a long backlog."""
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + NUMBER, [BATCH])
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "Update on events_event" in plan
    assert not re.search("Nested Loop|Join", plan)


@pytest.mark.django_db(transaction=True)
def test_an_event_outside_of_a_change_is_refused(acme):
    with pytest.raises(RuntimeError, match="inside the transaction of its change"):
        record("fulfillment.accepted", by=ROBOT, supplier=acme)
