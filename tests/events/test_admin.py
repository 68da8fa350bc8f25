"""The history for operators, which is searchable and read-only."""

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.actors import Actor, ActorKind
from events.models import Event
from events.recording import record
from tests.factories import StaffFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(db):
    client = Client()
    client.force_login(StaffFactory.create(username="root", is_superuser=True))
    return client


@pytest.fixture
def happened(acme, shop):
    with transaction.atomic():
        for number in range(5):
            record("order.created", by=Actor.system("test"), retailer=shop, order_id=4710 + number)
        by = Actor(ActorKind.SUPPLIER, "key", "r-77")
        record("import.finished", by=by, supplier=acme, area="catalog", import_id=3)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", 6),
        ("?q=4712", 1),
        ("?q=r-77", 1),
        ("?q=nothing", 0),
        ("?q=" + "9" * 20, 0),
        ("?area=catalog", 1),
    ],
)
def test_events_are_found_by_order_import_and_request(admin, happened, query, found):
    page = admin.get(f"/admin/events/event/{query}")
    assert page.status_code == 200
    assert len(page.context["cl"].result_list) == found


def test_nothing_can_be_changed(admin, happened):
    event = Event.objects.earliest("pk")
    path = f"/admin/events/event/{event.pk}"
    assert admin.get(f"{path}/change/").status_code == 200
    assert admin.post(f"{path}/change/", {"type": "x"}).status_code == 403
    assert admin.post(f"{path}/delete/", {"post": "yes"}).status_code == 403
    assert admin.get("/admin/events/event/add/").status_code == 403


def test_data_with_the_key_items_is_shown(admin, happened):
    event = Event.objects.earliest("pk")
    Event.objects.filter(pk=event.pk).update(data={"items": [{"sku": "A-1", "quantity": 2, "id": 3}]})

    page = admin.get(f"/admin/events/event/{event.pk}/change/")

    assert "<dt>items</dt><dd>[{&#x27;id&#x27;: 3" in page.text


def test_the_list_never_reads_a_whole_table(admin, happened, monkeypatch):
    """Keep the page fast at a million rows: no unlimited count, no DISTINCT, and no query per row."""
    monkeypatch.setattr("events.admin.EventAdmin.list_per_page", 2)
    monkeypatch.setattr("events.admin.EventAdmin.list_max_show_all", 2)
    with CaptureQueriesContext(connection) as captured:
        admin.get("/admin/events/event/")
    asked = [query["sql"] for query in captured if '"events_event"' in query["sql"]]
    assert [sql for sql in asked if "LIMIT" not in sql] == []
    assert not any("DISTINCT" in sql for sql in asked)
    assert len(asked) <= 3
