"""The stock list and the warehouses (contract 12)."""

from __future__ import annotations

import re

import pytest

from inventory.models import StockLevel, Warehouse
from tests.factories import StockLevelFactory, set_stock


def test_the_list_shows_stock_on_hand_reserved_and_available(acme, rival, client_for, a_variant):
    variant = a_variant(acme, "A-1", stock=10)
    a_variant(rival, "R-1", stock=99)
    set_stock(reserved=3, variant=variant)
    acme.safety_stock = 2
    acme.save(update_fields=["safety_stock"])
    level = StockLevel.objects.get(variant=variant)

    assert client_for(acme).get("inventory").json() == [
        {
            "variant_id": variant.pk,
            "sku": "A-1",
            "warehouse_id": level.warehouse_id,
            "on_hand": 10,
            "reserved": 3,
            "available": 5,
            "updated_at": level.updated_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        }
    ]


def test_oversold_stock_shows_zero_available(acme, client_for, a_variant):
    variant = a_variant(acme, "A-1", stock=1)
    set_stock(reserved=3, variant=variant)

    assert client_for(acme).get("inventory").json()[0]["available"] == 0


def test_filters_by_warehouse_sku_and_variant(acme, client_for, a_variant):
    first, second = a_variant(acme, "A-1", stock=1), a_variant(acme, "A-2", stock=2)
    west = Warehouse.objects.get(supplier=acme, is_default=False)
    StockLevelFactory.create(variant=first, warehouse=west, on_hand=7)
    client = client_for(acme)

    assert [row["on_hand"] for row in client.get("inventory", {"warehouse_id": west.pk}).json()] == [7]
    assert [row["on_hand"] for row in client.get("inventory", {"sku": "A-1"}).json()] == [1, 7]
    assert [row["on_hand"] for row in client.get("inventory", {"variant_id": second.pk}).json()] == [2]


@pytest.mark.parametrize(
    "query",
    [
        {"warehouse_id": "x"},
        {"warehouse_id": 10**30},
        {"sku": "A\0"},
        {"sku": "A\x0f"},
        {"warehouse": 1},
        {"limit": 0},
    ],
)
def test_a_filter_that_is_not_understood_is_refused(acme, client_for, query):
    assert client_for(acme).get("inventory", query).status_code == 400


def test_pages_are_linked_and_cost_the_same(acme, client_for, a_variant, django_assert_num_queries):
    for number in range(5):
        a_variant(acme, f"A-{number}", stock=number)
    client = client_for(acme)
    url: str | None
    url, seen = f"{client.base}/inventory?limit=2", []
    client.get(url)
    while url:
        with django_assert_num_queries(3):  # queries: the key, the safety stock, the stock with its variants
            answer = client.get(url)
        seen += [row["on_hand"] for row in answer.json()]
        match = re.search(r'<http://testserver([^>]+)>; rel="next"', answer.get("Link", ""))
        url = match[1] if match else None

    assert seen == [0, 1, 2, 3, 4]


def test_a_supplier_sees_its_own_warehouses(acme, rival, client_for):
    answer = client_for(acme).get("warehouses").json()

    assert [(each["name"], each["is_default"]) for each in answer] == [
        ("Acme East", True),
        ("Acme West", False),
    ]
    assert client_for(rival).get(f"/v3/suppliers/{acme.pk}/warehouses").status_code == 403
