"""Rows inserted together equal rows saved one by one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from accounts.actors import Actor
from accounts.models import Supplier
from events.models import Event
from events.recording import draft
from fastdb.inserts import insert, insert_unless_there
from orders.models import Order
from tests.factories import OrderFactory, SupplierFactory

BY = Actor.system("test")


def test_each_row_gets_its_own_id_and_the_defaults_of_the_database(acme, django_assert_num_queries):
    drafts = [draft(f"order.event_{n}", by=BY, supplier=acme, data={"n": [n, None]}) for n in range(3)]
    with django_assert_num_queries(1):
        insert(drafts)
    assert not any(each._state.adding for each in drafts)
    for event in drafts:
        stored = Event.objects.get(pk=event.pk)
        columns = [field.attname for field in Event._meta.concrete_fields]
        assert [getattr(stored, name) for name in columns] == [getattr(event, name) for name in columns]


def test_a_column_with_a_default_may_be_set(acme):
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    event = draft("order.event", by=BY, supplier=acme, occurred_at=moment)
    insert([event])
    assert Event.objects.get(pk=event.pk).occurred_at == moment


def test_an_existing_row_stays_unchanged(shop):
    first = OrderFactory.build(retailer=shop, retailer_order_id="R-1", content_digest="1")
    twin = OrderFactory.build(retailer=shop, retailer_order_id="R-1", content_digest="2")
    assert insert_unless_there(first)
    assert not insert_unless_there(twin)
    assert twin._state.adding
    assert Order.objects.get().content_digest == "1"
    assert first == Order.objects.get()


def test_an_empty_insert_runs_no_statement(db, django_assert_num_queries):
    with django_assert_num_queries(0):
        insert([])


def test_an_inserted_row_can_be_saved_again(db):
    supplier = SupplierFactory.build(name="Fresh")
    insert([supplier])
    supplier.name = "Ripe"
    supplier.save(update_fields=["name"])
    assert Supplier.objects.get().name == "Ripe"


@pytest.mark.parametrize("text", ["'); DROP TABLE events_event; --", "100% %s %(x)s", "日本\n"])
def test_values_never_become_part_of_the_statement(db, text):
    event = draft("order.event", by=BY, data={"note": text})
    insert([event])
    assert Event.objects.get(pk=event.pk).data == {"note": text}
