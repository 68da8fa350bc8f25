"""The list of stock movements explains each number of units (contract 13)."""

from __future__ import annotations

import pytest

from inventory.models import MovementKind, StockLevel, StockMovement, Warehouse
from tests.factories import StockLevelFactory, set_stock


@pytest.fixture
def api(acme, client_for):
    return client_for(acme)


@pytest.fixture
def counted(acme, rival, api, a_variant):
    """Create two variants of Acme with stock in two warehouses, and one variant of Rival."""
    east, west = acme.warehouses.order_by("-is_default")
    lamp, mat = a_variant(acme, "LAMP", stock=5), a_variant(acme, "MAT", stock=7)
    StockLevelFactory.create(variant=lamp, warehouse=west, on_hand=1)
    a_variant(rival, "LAMP", stock=9)
    elements = [{"id": "LAMP", "amount": 3}, {"id": "MAT", "amount": 7}]
    api.post("inventory", {"warehouse_id": east.pk, "inventories": elements})
    return lamp, mat


def listed(api, **params):
    answer = api.get("inventory/movements", params)
    assert answer.status_code == 200, answer.content
    return [(each["sku"], each["kind"], each["on_hand"]) for each in answer.json()]


def beyond(page):
    """Return the path of the only neighboring page that a page links to."""
    return page.headers["Link"].split(">")[0].removeprefix("<http://testserver")


def test_the_movements_explain_the_number_of_units(acme, api, counted):
    body = api.get("inventory/movements", {"limit": 1}).json()

    lamp, _ = counted
    count = StockMovement.objects.latest("id")
    assert body == [
        {
            "id": count.pk,
            "occurred_at": body[0]["occurred_at"],
            "variant_id": lamp.pk,
            "sku": "LAMP",
            "warehouse_id": Warehouse.objects.get(supplier=acme, is_default=True).pk,
            "kind": "count",
            "on_hand_change": -2,
            "reserved_change": 0,
            "on_hand": 3,
            "reserved": 0,
            "actor": count.actor,
            "cause": {"request_id": count.request_id},
        }
    ]
    assert count.actor.startswith("key:")
    assert count.request_id


def test_the_newest_come_first_and_pages_lead_both_ways(api, counted):
    everything = listed(api)
    assert everything == [
        ("LAMP", "count", 3),
        ("LAMP", "opening", 1),
        ("MAT", "opening", 7),
        ("LAMP", "opening", 5),
    ]
    first = api.get("inventory/movements", {"limit": 3})
    second = api.get(beyond(first))
    assert [each["on_hand"] for each in first.json() + second.json()] == [3, 1, 7, 5]
    back = api.get(beyond(second))
    assert back.json() == first.json()


def test_each_filter_selects_its_movements(acme, api, counted):
    lamp, mat = counted
    west = acme.warehouses.get(is_default=False)
    StockMovement.objects.filter(variant_id=mat.pk).update(order_id=77)

    assert listed(api, sku="MAT") == [("MAT", "opening", 7)]
    assert listed(api, variant_id=mat.pk) == [("MAT", "opening", 7)]
    assert listed(api, warehouse_id=west.pk) == [("LAMP", "opening", 1)]
    assert listed(api, kind="count") == [("LAMP", "count", 3)]
    assert listed(api, order_id=77) == [("MAT", "opening", 7)]
    assert listed(api, sku="LAMP", kind="opening", warehouse_id=west.pk) == [("LAMP", "opening", 1)]
    assert listed(api, order_id=77, variant_id=lamp.pk) == []
    assert listed(api, sku="LAMP", variant_id=mat.pk) == []
    assert listed(api, sku="nothing") == []


def test_a_rivals_movements_are_not_found(rival, api, counted):
    theirs = StockLevel.objects.get(warehouse__supplier=rival)

    assert listed(api, variant_id=theirs.variant_id) == []
    assert listed(api, warehouse_id=theirs.warehouse_id) == []
    StockMovement.objects.update(order_id=5)
    assert len(listed(api, order_id=5)) == 4


@pytest.mark.parametrize(
    "params", [{"kind": "theft"}, {"variant_id": "x"}, {"order_ids": "1"}, {"sku": "A\x0f"}]
)
def test_an_invalid_or_misspelled_filter_is_refused(api, params):
    answer = api.get("inventory/movements", params)

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, next(iter(params)))


def test_an_unknown_kind_is_answered_with_the_known_kinds(api):
    message = api.get("inventory/movements", {"kind": "theft"}).json()["message"]
    assert message == f"kind: theft is unknown. Use one of {', '.join(MovementKind.values)}."


def test_a_page_costs_the_same_number_of_statements(api, counted, django_assert_num_queries):
    api.get("inventory/movements")
    for number in range(20):
        set_stock(on_hand=number)
    # queries: the key, the warehouses, the movements, their skus, the keys of the actors
    with django_assert_num_queries(5):
        assert len(listed(api)) > 50
