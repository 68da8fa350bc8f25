"""Stock and warehouses at the operators' desk."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from events.models import Event
from inventory.models import StockLevel, Warehouse

LIST = "/admin/inventory/stocklevel/"


@pytest.fixture
def desk(db):
    client = Client()
    client.force_login(User.objects.create_superuser("olga"))
    return client


def listed(desk, **query):
    return [each.variant.sku for each in desk.get(LIST, query).context["cl"].result_list]


def test_what_is_promised_beyond_the_stock_is_found(acme, desk, a_variant):
    short = a_variant(acme, "SHORT", stock=1)
    a_variant(acme, "PLENTY", stock=9)
    StockLevel.objects.filter(variant=short).update(reserved=2)

    assert listed(desk, overpromised="yes") == ["SHORT"]
    assert sorted(listed(desk)) == ["PLENTY", "SHORT"]
    assert listed(desk, q="PLE") == ["PLENTY"]


def test_the_list_costs_the_same_whatever_its_length(acme, desk, a_variant):
    a_variant(acme, "A-0", stock=1)
    with CaptureQueriesContext(connection) as one:
        desk.get(LIST)
    for number in range(1, 10):
        a_variant(acme, f"A-{number}", stock=1)
    with CaptureQueriesContext(connection) as ten:
        desk.get(LIST)

    assert len(ten) == len(one)


def test_a_corrected_count_is_told_and_leaves_reservations_alone(acme, desk, a_variant):
    variant = a_variant(acme, "A", stock=5)
    StockLevel.objects.update(reserved=2)
    level = StockLevel.objects.get(variant=variant)

    answer = desk.post(f"{LIST}{level.pk}/change/", {"on_hand": "7", "reserved": "0"})

    assert answer.status_code == 302
    level.refresh_from_db()
    assert (level.on_hand, level.reserved) == (7, 2)
    event = Event.objects.get()
    assert (event.type, event.actor, event.supplier) == ("inventory.updated", "user:olga", acme)
    assert event.data["on_hand"] == {"from": 5, "to": 7}
    desk.post(f"{LIST}{level.pk}/change/", {"on_hand": "7"})
    assert Event.objects.count() == 1


def test_stock_is_neither_added_nor_deleted_by_hand(acme, desk, a_variant):
    a_variant(acme, "A", stock=5)
    level = StockLevel.objects.get()

    assert desk.get(f"{LIST}add/").status_code == 403
    assert desk.get(f"{LIST}{level.pk}/delete/").status_code == 403


def test_a_warehouse_is_added_and_renamed_with_its_history(acme, desk):
    path = "/admin/inventory/warehouse/"
    assert desk.post(f"{path}add/", {"name": "Acme North", "supplier": acme.pk}).status_code == 302
    north = Warehouse.objects.get(name="Acme North")

    assert desk.post(f"{path}{north.pk}/change/", {"name": "Acme Polar"}).status_code == 302
    assert Warehouse.objects.get(pk=north.pk).name == "Acme Polar"
    assert [each.type for each in Event.objects.order_by("id")] == ["warehouse.created", "warehouse.updated"]

    second_default = desk.post(f"{path}{north.pk}/change/", {"name": "Acme Polar", "is_default": "on"})
    assert second_default.status_code == 200  # there is a default warehouse already: told, not a 500
