"""Stock and warehouses in the admin."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from events.models import Event
from inventory.models import StockLevel, Warehouse
from tests.factories import StaffFactory, set_stock

LIST = "/admin/inventory/stocklevel/"


@pytest.fixture
def operator(db):
    client = Client()
    client.force_login(StaffFactory.create(username="olga", is_superuser=True))
    return client


def listed(operator, **query):
    return [each.variant.sku for each in operator.get(LIST, query).context["cl"].result_list]


def test_oversold_stock_is_found(acme, operator, a_variant):
    short = a_variant(acme, "SHORT", stock=1)
    a_variant(acme, "PLENTY", stock=9)
    set_stock(reserved=2, variant=short)

    assert listed(operator, overpromised="yes") == ["SHORT"]
    assert sorted(listed(operator)) == ["PLENTY", "SHORT"]
    assert listed(operator, q="PLE") == ["PLENTY"]


def test_the_list_says_in_words_whether_stock_is_oversold(acme, operator, a_variant):
    set_stock(reserved=2, variant=a_variant(acme, "SHORT", stock=1))
    a_variant(acme, "PLENTY", stock=9)

    page = operator.get(LIST).content.decode()
    found = re.findall(r'class="field-overpromised">(\w+)<', page)

    assert sorted(found) == ["No", "Yes"]


def test_a_list_of_any_length_costs_the_same(acme, operator, a_variant):
    a_variant(acme, "A-0", stock=1)
    with CaptureQueriesContext(connection) as one:
        operator.get(LIST)
    for number in range(1, 10):
        a_variant(acme, f"A-{number}", stock=1)
    with CaptureQueriesContext(connection) as ten:
        operator.get(LIST)

    assert len(ten) == len(one)


def test_a_corrected_count_is_recorded_and_leaves_reservations_alone(acme, operator, a_variant):
    variant = a_variant(acme, "A", stock=5)
    set_stock(reserved=2)
    level = StockLevel.objects.get(variant=variant)

    url = f"{LIST}{level.pk}/do/count/"
    page = operator.get(url).text
    assert "A in Acme East: 5 on hand." in page
    assert "2 reserved." in page
    answer = operator.post(url, {"on_hand": "7", "reserved": "0"})

    assert answer.status_code == 302
    level.refresh_from_db()
    assert (level.on_hand, level.reserved) == (7, 2)
    event = Event.objects.get()
    assert (event.type, event.actor, event.supplier) == ("inventory.updated", "user:olga", acme)
    assert event.data["on_hand"] == {"from": 5, "to": 7}
    assert (counted_at := level.counted_at)
    operator.post(url, {"on_hand": "7"})
    assert Event.objects.count() == 1
    level.refresh_from_db()
    assert level.counted_at
    assert level.counted_at > counted_at
    assert "The count of 7 is recorded" in operator.get(LIST).text


def test_stock_is_neither_added_nor_deleted_by_hand(acme, operator, a_variant):
    a_variant(acme, "A", stock=5)
    level = StockLevel.objects.get()

    assert operator.get(f"{LIST}add/").status_code == 403
    assert operator.get(f"{LIST}{level.pk}/delete/").status_code == 403


def test_a_warehouse_is_added_and_renamed_with_its_history(acme, operator):
    path = "/admin/inventory/warehouse/"
    assert operator.post(f"{path}add/", {"name": "Acme North", "supplier": acme.pk}).status_code == 302
    north = Warehouse.objects.get(name="Acme North")

    assert operator.post(f"{path}{north.pk}/change/", {"name": "Acme Polar"}).status_code == 302
    assert Warehouse.objects.get(pk=north.pk).name == "Acme Polar"
    created, updated = Event.objects.order_by("id")
    assert (created.type, created.data["name"]) == ("warehouse.created", "Acme North")
    assert (updated.type, updated.actor, updated.supplier) == ("warehouse.updated", "user:olga", acme)
    assert updated.data == {
        "warehouse_id": north.pk,
        "name": "Acme Polar",
        "is_default": False,
        "changed": {"name": {"from": "Acme North", "to": "Acme Polar"}},
    }

    second_default = operator.post(f"{path}{north.pk}/change/", {"name": "Acme Polar", "is_default": "on"})
    # A default warehouse exists already, so the page shows an error instead of status 500.
    assert second_default.status_code == 200


@pytest.mark.parametrize("action", ["count", "adjust"])
def test_stock_can_be_corrected_while_orders_reserve_it(acme, operator, a_variant, action):
    level = StockLevel.objects.get(variant=a_variant(acme, "A", stock=5))
    url = f"{LIST}{level.pk}/do/{action}/"
    seen = operator.get(url).context["effect"]
    answers = {"on_hand": "7", "units": "2", "reason": "found", "seen_effect": seen}
    set_stock(reserved=2)

    assert operator.post(url, answers).status_code == 302
    level.refresh_from_db()
    assert level.on_hand == 7

    assert operator.post(url, answers).context["effect"] == "A in Acme East: 7 on hand."
    level.refresh_from_db()
    assert level.on_hand == 7


def test_another_default_warehouse_is_recorded_in_two_steps(acme, operator):
    path = "/admin/inventory/warehouse/"
    east = acme.warehouses.get(is_default=True)
    west = acme.warehouses.get(is_default=False)
    operator.post(f"{path}{east.pk}/change/", {"name": east.name})
    operator.post(f"{path}{west.pk}/change/", {"name": west.name, "is_default": "on"})

    assert [(each.data["warehouse_id"], each.data["changed"]) for each in Event.objects.order_by("id")] == [
        (east.pk, {"is_default": {"from": True, "to": False}}),
        (west.pk, {"is_default": {"from": False, "to": True}}),
    ]
