"""Pushing stock (endpoint 13, contract 7 and 12)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from accounts.scopes import Scope
from events.models import Event
from inventory.models import StockLevel, Warehouse
from tests.factories import set_stock


@pytest.fixture
def east(acme):
    return Warehouse.objects.get(supplier=acme, is_default=True)


@pytest.fixture
def push(acme, east, client_for):
    client = client_for(acme)

    def send(elements, **body):
        return client.post("inventory", {"warehouse_id": east.pk, "inventories": elements, **body})

    return send


def on_hand(variant):
    return StockLevel.objects.get(variant=variant).on_hand


def test_the_example_body_of_the_interface_sets_on_hand(acme, east, client_for, a_variant):
    variant = a_variant(acme, "A-1", stock=2)
    body = {"warehouse_id": str(east.pk), "id_type": "sku", "inventories": [{"id": "A-1", "amount": 5}]}

    answer = client_for(acme).post("inventory", body)

    assert answer.status_code == 200
    assert answer.json() == {"updated": 1, "unchanged": 0, "rejected": 0, "duplicates": 0, "errors": []}
    assert on_hand(variant) == 5


@pytest.mark.parametrize(
    "element",
    [
        {"id": "A-1", "amount": 5},
        {"id": "A-1", "quantity": 5},
        {"sku": "A-1", "quantity": 5},
        {"sku": " A-1 ", "amount": "5"},
        {"sku": "A-1", "id": "A-1", "amount": Decimal("5.0"), "quantity": 5},
    ],
)
def test_every_dialect_of_an_element_means_the_same(acme, a_variant, push, element):
    variant = a_variant(acme, "A-1")

    assert push([element]).json()["updated"] == 1
    assert on_hand(variant) == 5


@pytest.mark.parametrize(
    ("id_type", "identifier"),
    [
        ("sku", "A-1"),
        ("SKU", "A-1"),
        ("upc", "036000291452"),
        ("ean", "4006381333931"),
        ("id_in_source", "77"),
    ],
)
def test_a_variant_is_found_by_the_id_type(acme, a_variant, push, id_type, identifier):
    variant = a_variant(acme, "A-1", upc="036000291452", ean="4006381333931", id_in_source="77")

    assert push([{id_type.lower(): identifier, "quantity": 7}], id_type=id_type).json()["updated"] == 1
    assert on_hand(variant) == 7


def test_a_variant_is_found_by_its_id_as_number_or_text(acme, a_variant, push):
    first, second = a_variant(acme, "A-1"), a_variant(acme, "A-2")

    elements = [{"variant_id": first.pk, "amount": 1}, {"id": str(second.pk), "amount": 2}]
    assert push(elements, id_type="variant_id").json()["updated"] == 2
    assert (on_hand(first), on_hand(second)) == (1, 2)


@pytest.mark.parametrize(
    ("element", "code"),
    [
        ("A-1", "invalid"),
        (None, "invalid"),
        ([], "invalid"),
        ({}, "required"),
        ({"id": "A-1"}, "required"),
        ({"amount": 5}, "required"),
        ({"id": "", "amount": 5}, "required"),
        ({"id": 5, "amount": 5}, "invalid"),
        ({"id": "A\u0000", "amount": 5}, "invalid"),
        ({"id": "A-1", "amount": -1}, "out_of_range"),
        ({"id": "A-1", "amount": 2**31}, "out_of_range"),
        ({"id": "A-1", "amount": 10**30}, "out_of_range"),
        ({"id": "A-1", "amount": "9" * 40}, "invalid"),
        ({"id": "A-1", "amount": Decimal("1.5")}, "invalid"),
        ({"id": "A-1", "amount": "1_000"}, "invalid"),
        ({"id": "A-1", "amount": "٣"}, "invalid"),
        ({"id": "A-1", "amount": True}, "invalid"),
        ({"id": "A-1", "amount": [5]}, "invalid"),
        ({"id": "A-1", "amount": 5, "quantity": 6}, "ambiguous"),
        ({"id": "A-1", "sku": "B-1", "amount": 5}, "ambiguous"),
        ({"id": "nobody", "amount": 5}, "not_found"),
        ({"id": "A-1", "amount": 5, "warehouse_id": 2**31}, "contradiction"),
        ({"id": "A-1", "amount": 5, "warehouse_id": "west"}, "contradiction"),
        ({"id": "A-1", "amount": 5, "as_of": "2026-01-31T12:00:00Z"}, "contradiction"),
        ({"id": "A-1", "amount": 5, "asOf": "2026-01-31T12:00:00Z"}, "unknown_field"),
        ({"id": "A-1", "amount": 5, "warehouseId": 7}, "unknown_field"),
        ({"id": "A-1", "amount": 5, "expectedAt": "2030-01-31"}, "unknown_field"),
        ({"id": "A-1", "amount": 5, "expeced_at": "2030-01-31"}, "unknown_field"),
    ],
)
def test_a_bad_element_is_rejected_alone(acme, a_variant, push, element, code):
    variant, other = a_variant(acme, "A-1", stock=2), a_variant(acme, "A-2")

    answer = push([{"id": "A-2", "amount": 9}, element])

    assert answer.status_code == 200, answer.content
    body = answer.json()
    assert (body["updated"], body["rejected"]) == (1, 1)
    assert (body["errors"][0]["index"], body["errors"][0]["code"]) == (1, code)
    assert body["errors"][0]["message"]
    assert (on_hand(variant), on_hand(other)) == (2, 9)


@pytest.mark.parametrize("name", ["updated_at", "warehouse", "title", "price", "expected_at_dock"])
def test_another_unknown_field_of_an_element_is_ignored(acme, a_variant, push, name):
    variant = a_variant(acme, "A-1", stock=2)

    assert push([{"id": "A-1", "amount": 5, name: "2030-01-31"}]).json()["updated"] == 1
    assert on_hand(variant) == 5


def test_an_array_with_only_faulty_elements_is_still_200(acme, push):
    answer = push(["a", {"id": "b", "amount": 1}])

    assert answer.status_code == 200
    assert answer.json()["rejected"] == 2
    assert [each["index"] for each in answer.json()["errors"]] == [0, 1]
    assert not Event.objects.exists()


def test_a_rivals_sku_is_unknown(acme, rival, a_variant, push):
    theirs = a_variant(rival, "R-1", stock=3)

    assert push([{"id": "R-1", "amount": 0}]).json()["errors"][0]["code"] == "not_found"
    assert push([{"id": theirs.pk, "amount": 0}], id_type="variant_id").json()["rejected"] == 1
    assert on_hand(theirs) == 3


def test_a_upc_that_two_variants_share_is_not_guessed_at(acme, a_variant, push):
    a_variant(acme, "A-1", upc="036000291452")
    a_variant(acme, "A-2", upc="036000291452")

    answer = push([{"upc": "036000291452", "amount": 5}], id_type="upc")

    assert answer.json()["errors"][0]["code"] == "ambiguous"
    assert not StockLevel.objects.exists()


def test_the_last_of_several_elements_for_one_variant_counts(acme, a_variant, push):
    variant = a_variant(acme, "A-1", stock=5)

    answer = push([{"id": "A-1", "amount": 7}, {"id": "A-1", "amount": 5}, {"id": "A-1", "amount": 6}])

    assert answer.json() == {"updated": 1, "unchanged": 0, "rejected": 0, "duplicates": 2, "errors": []}
    assert on_hand(variant) == 6


def test_the_same_push_again_writes_nothing(acme, a_variant, push):
    variant = a_variant(acme, "A-1", stock=5)
    a_variant(acme, "A-2")
    elements = [{"id": "A-1", "amount": 6}, {"id": "A-2", "amount": 0}]
    assert push(elements).json()["updated"] == 2
    before = StockLevel.objects.get(variant=variant).updated_at

    assert push(elements).json() == {
        "updated": 0,
        "unchanged": 2,
        "rejected": 0,
        "duplicates": 0,
        "errors": [],
    }
    assert StockLevel.objects.get(variant=variant).updated_at == before
    assert Event.objects.count() == 1


def test_reserved_units_stay_reserved_even_above_the_count(acme, a_variant, push):
    variant = a_variant(acme, "A-1", stock=5)
    set_stock(reserved=4, variant=variant)

    assert push([{"id": "A-1", "amount": 1}]).json()["updated"] == 1
    level = StockLevel.objects.get(variant=variant)
    assert (level.on_hand, level.reserved, level.overpromised) == (1, 4, True)


def test_a_push_is_one_event(acme, east, a_variant, push):
    a_variant(acme, "A-1")
    a_variant(acme, "A-2")

    push([{"id": "A-1", "amount": 1}, {"id": "A-2", "amount": 1}])

    event = Event.objects.get()
    assert (event.type, event.area, event.supplier) == ("inventory.updated", "inventory", acme)
    assert event.data == {"warehouse_id": east.pk, "updated": 2, "unchanged": 0}


def test_an_older_count_never_replaces_a_newer(acme, a_variant, push):
    variant = a_variant(acme, "A-1")
    assert push([{"id": "A-1", "amount": 5}], as_of="2026-01-02T10:00:00Z").json()["updated"] == 1
    # The same number with a later `as_of` changes no number, but is now the newest count.
    assert push([{"id": "A-1", "amount": 5}], as_of="2026-01-02T12:00:00Z").json()["unchanged"] == 1

    late = push([{"id": "A-1", "amount": 9}], as_of="2026-01-02T11:00:00Z").json()

    assert (late["updated"], late["unchanged"], late["rejected"]) == (0, 0, 1)
    assert late["errors"][0]["code"] == "stale_count"
    assert on_hand(variant) == 5
    assert push([{"id": "A-1", "amount": 8}], as_of="2026-01-02T12:00:00Z").json()["updated"] == 1
    assert push([{"id": "A-1", "amount": 3}]).json()["updated"] == 1
    assert on_hand(variant) == 3


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"inventories": None}, "inventories", "null"),
        ({"inventories": {"id": "A"}}, "inventories", "invalid"),
        ({"inventories": [None] * 50_001}, "inventories", "too_many"),
        ({"warehouse_id": "east"}, "warehouse_id", "invalid"),
        ({"warehouse_id": 999_999_999}, "warehouse_id", "not_found"),
        ({"warehouse_id": 2**70}, "warehouse_id", "max_value"),
        ({"id_type": "barcode"}, "id_type", "unknown"),
        ({"as_of": "2999-01-01"}, "as_of", "invalid"),
        ({"as_of": "soon"}, "as_of", "invalid"),
    ],
)
def test_a_wrong_body_is_refused_whole(push, body, field, code):
    answer = push(
        **{"elements": [], **({"elements": body.pop("inventories")} if "inventories" in body else {})}, **body
    )

    assert answer.status_code == 400, answer.content
    assert [(each["field"], each["code"]) for each in answer.json()["errors"]] == [(field, code)]


def test_absent_fields_are_named(acme, client_for):
    answer = client_for(acme).post("inventory", {})

    assert answer.json()["code"] == "missing_parameter"
    assert {each["field"] for each in answer.json()["errors"]} == {"warehouse_id", "inventories"}


def test_another_suppliers_warehouse_is_unknown(acme, rival, client_for, a_variant):
    a_variant(acme, "A-1")
    theirs = Warehouse.objects.get(supplier=rival, is_default=True)
    body = {"warehouse_id": theirs.pk, "inventories": [{"id": "A-1", "amount": 5}]}

    assert client_for(acme).post("inventory", body).status_code == 400
    assert not StockLevel.objects.exists()


def test_only_a_key_with_the_scope_may_push(acme, rival, client_for):
    assert client_for(rival).post(f"/v3/suppliers/{acme.pk}/inventory", {}).status_code == 403
    assert client_for(acme, scopes=[Scope.INVENTORY_READ]).post("inventory", {}).status_code == 403


@pytest.mark.parametrize("count", [1, 300])
def test_a_push_of_any_size_costs_the_same_number_of_statements(
    acme, a_variant, push, django_assert_num_queries, count
):
    for number in range(count):
        a_variant(acme, f"A-{number}", stock=1)
    # Store the last use of the key and the last push of the warehouse now, because they cost queries.
    push([{"id": "A-0", "amount": 1}])

    # Queries: the key, the warehouse, begin, the moment, the identifiers, missing rows, the lock, changed
    # rows, the event, end.
    with django_assert_num_queries(10):
        answer = push([{"id": f"A-{number}", "amount": 2} for number in range(count)])
    assert answer.json()["updated"] == count


@pytest.mark.parametrize("kind", [int, str])
def test_an_element_may_repeat_the_warehouse_of_its_push(acme, east, a_variant, push, kind):
    variant = a_variant(acme, "A-1", stock=2)

    assert push([{"id": "A-1", "amount": 5, "warehouse_id": kind(east.pk)}]).json()["updated"] == 1
    assert on_hand(variant) == 5
