"""Pushes of stock, and the list of stock (interface endpoint 13; contract 7 and 12)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from .http_client import digits, fault, unique, well
from .steps import TIME, act, held_by, new_variant, numbers, push, put_stock, stock_of


def stock(supplier, *elements, **fields):
    body = {
        "warehouse_id": str(supplier.warehouses[0]),
        "id_type": "sku",
        "inventories": list(elements),
    } | fields
    return supplier.post("inventory", body)


def test_a_push_sets_on_hand(acme):
    """Interface 13; contract 7: a push sets `on_hand` and answers 200.

    The answer has `updated`, `unchanged`, `rejected` and `errors`.
    """
    sku = new_variant(acme)["sku"]
    body = well(stock(acme, {"id": sku, "amount": 5}))
    assert (body["updated"], body["unchanged"], body["rejected"], body["errors"]) == (1, 0, 0, [])
    assert numbers(acme, sku) == (5, 0)
    body = well(stock(acme, {"id": sku, "amount": 5}))
    assert (body["updated"], body["unchanged"]) == (0, 1)
    well(stock(acme, {"id": sku, "amount": 3}))
    assert numbers(acme, sku) == (3, 0)


@pytest.mark.parametrize(
    "spelling", [("id", "amount"), ("id", "quantity"), ("sku", "quantity"), ("sku", "amount")], ids=str
)
def test_all_spellings_of_an_element_are_accepted(acme, spelling):
    """Contract 7: `quantity` is a name of `amount`, and the name of the id type may replace `id`."""
    sku = new_variant(acme)["sku"]
    assert well(stock(acme, {spelling[0]: sku, spelling[1]: 7}))["updated"] == 1
    assert numbers(acme, sku)[0] == 7


@pytest.mark.parametrize("kind", ["sku", "upc", "ean", "id_in_source", "variant_id"])
@pytest.mark.parametrize("named", ["id", "own"])
def test_every_id_type_is_accepted(acme, kind, named):
    """Contract 6 and 7: `id_type` is `sku`, `upc`, `ean`, `id_in_source` or `variant_id`."""
    variant = new_variant(acme, upc=digits(12), ean=digits(13), id_in_source=unique("SRC"))
    value = variant["id"] if kind == "variant_id" else variant[kind]
    element = {"id" if named == "id" else kind: value, "amount": 4}
    assert well(stock(acme, element, id_type=kind))["updated"] == 1
    assert numbers(acme, variant["sku"])[0] == 4


@pytest.mark.parametrize("form", [str, int])
def test_the_warehouse_may_be_a_number_or_a_string(acme, form):
    """Contract 7: `warehouse_id` may be a number, or a string with a number."""
    sku = new_variant(acme)["sku"]
    well(stock(acme, {"id": sku, "amount": 1}, warehouse_id=form(acme.warehouses[1])))
    assert numbers(acme, sku, 1) == (1, 0)


def test_stock_is_separate_for_each_warehouse(acme):
    """Contract 7: each warehouse has its own stock of a variant."""
    sku = new_variant(acme, stock=1)["sku"]
    put_stock(acme, sku, 2, warehouse=1)
    assert (numbers(acme, sku, 0)[0], numbers(acme, sku, 1)[0]) == (1, 2)


def test_good_elements_are_stored_and_bad_elements_are_named(acme):
    """Contract 7: good elements are stored. An error has `index`, `id`, `code` and `message`.

    Contract 12: `index` starts at 0.
    """
    sku, nobody = new_variant(acme)["sku"], unique("NOBODY")
    answer = stock(acme, {"id": nobody, "amount": 1}, {"id": sku, "amount": 2}, {"id": sku, "amount": -1})
    body = well(answer)
    assert (body["updated"], body["rejected"]) == (1, 2), answer
    assert [error["index"] for error in body["errors"]] == [0, 2], answer
    assert body["errors"][0]["id"] == nobody
    assert all(error["code"] and error["message"] for error in body["errors"])
    assert numbers(acme, sku)[0] == 2


@pytest.mark.parametrize(
    "amount", [-1, Decimal("1.5"), "five", None, True, [], Decimal("1e30"), 2**63, "", {"a": 1}], ids=repr
)
def test_an_impossible_amount_is_rejected(acme, amount):
    """Contract 7: `on_hand` is at least 0.

    Contract 12: even if all elements are wrong, the answer is 200, and all elements are rejected.
    """
    sku = new_variant(acme, stock=9)["sku"]
    body = well(stock(acme, {"id": sku, "amount": amount}))
    assert (body["updated"], body["rejected"]) == (0, 1)
    assert numbers(acme, sku)[0] == 9


@pytest.mark.parametrize(
    "element", [5, "A-1", None, [], {}, {"id": "x"}, {"amount": 5}, {"id": {}, "amount": 1}], ids=repr
)
def test_an_invalid_element_is_rejected_alone(acme, element):
    """Contract 12: a wrong element is rejected, and the other elements are stored."""
    sku = new_variant(acme)["sku"]
    body = well(stock(acme, element, {"id": sku, "amount": 2}))
    assert (body["updated"], body["rejected"]) == (1, 1)
    assert body["errors"][0]["index"] == 0


def test_a_sku_given_as_a_number_is_rejected(acme):
    """Contract 12: a number instead of a text is refused, because a number loses leading zeros."""
    assert well(stock(acme, {"id": 36000291452, "amount": 1}))["rejected"] == 1


def test_an_empty_array_is_accepted_or_gets_a_clear_error(acme):
    """Contract 7: an array may have up to 50,000 elements. An empty array may be refused, too."""
    answer = stock(acme)
    assert answer.status in (200, 400), answer
    if answer.status == 400:
        fault(answer, 400, "validation_error", "inventories")


def test_more_than_fifty_thousand_elements_are_refused(acme):
    """Contract 7: an array may have up to 50,000 elements."""
    answer = stock(acme, *[{"id": "x", "amount": 1}] * 50_001)
    assert answer.status in (400, 413), answer
    if answer.status == 400:
        fault(answer, 400, "validation_error", "inventories")


@pytest.mark.parametrize("field", ["warehouse_id", "inventories"])
def test_a_missing_field_of_the_push_is_named(acme, field):
    """Contract 2: a missing required field gets `missing_parameter`."""
    body = {
        "warehouse_id": str(acme.warehouses[0]),
        "id_type": "sku",
        "inventories": [{"id": "x", "amount": 1}],
    }
    del body[field]
    fault(acme.post("inventory", body), 400, "missing_parameter", field)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("warehouse_id", "abc"),
        ("warehouse_id", "0"),
        ("warehouse_id", -1),
        ("warehouse_id", 2_000_000_000),
        ("warehouse_id", "9" * 30),
        ("warehouse_id", None),
        ("warehouse_id", True),
        ("warehouse_id", Decimal("1.5")),
        ("warehouse_id", ""),
        ("id_type", "isbn"),
        ("id_type", 5),
        ("id_type", "SKU "),
        ("inventories", {}),
        ("inventories", "x"),
        ("inventories", None),
        ("inventories", 5),
    ],
    ids=repr,
)
def test_a_wrong_field_of_the_push_is_named(acme, field, value):
    """Contract 2: the code is `validation_error`, and the answer names the field."""
    sku = new_variant(acme)["sku"]
    answer = stock(acme, {"id": sku, "amount": 1}, **{field: value})
    if (field, value) == ("id_type", "SKU ") and answer.status == 200:
        return  # the service may ignore the blank
    fault(answer, 400, ("validation_error", "missing_parameter"), field)


def test_another_suppliers_warehouse_looks_like_a_missing_one(acme, rival):
    """Contract 1: another party's object looks like a missing one."""
    sku = new_variant(acme)["sku"]
    theirs = stock(acme, {"id": sku, "amount": 1}, warehouse_id=rival.warehouses[0])
    nobodys = stock(acme, {"id": sku, "amount": 1}, warehouse_id=2_000_000_000)
    fault(theirs, 400, "validation_error", "warehouse_id")
    assert theirs.json["message"].replace(str(rival.warehouses[0]), "N") == nobodys.json["message"].replace(
        "2000000000", "N"
    )


def test_another_suppliers_sku_is_unknown(acme, rival):
    """Contract 1: each supplier's variants are its own."""
    theirs = new_variant(rival, stock=5)
    assert well(stock(acme, {"id": theirs["sku"], "amount": 1}))["rejected"] == 1
    assert well(stock(acme, {"id": theirs["id"], "amount": 1}, id_type="variant_id"))["rejected"] == 1
    assert numbers(rival, theirs["sku"])[0] == 5


def test_the_last_count_of_a_repeated_sku_is_kept(acme):
    """Contract 7: the last count of a repeated SKU is stored."""
    sku = new_variant(acme)["sku"]
    well(stock(acme, {"id": sku, "amount": 2}, {"id": sku, "amount": 3}))
    assert numbers(acme, sku)[0] == 3


def test_reservations_stay_when_the_count_falls_below_them(acme, shop):
    """Contract 7: a later count may be lower than the reserved units, and this is not an error.

    `available` is then shown as 0.
    """
    variant = new_variant(acme, stock=5)
    push(shop, {"variant_id": variant["id"], "quantity": 4})
    assert numbers(acme, variant["sku"]) == (5, 4)
    put_stock(acme, variant["sku"], 1)
    row = stock_of(acme, variant["sku"])
    assert (row["on_hand"], row["reserved"], row["available"]) == (1, 4, 0)


def test_accepting_does_not_consume_stock_but_shipping_does(acme, shop):
    """Contract 7: only a shipment lowers `on_hand` and `reserved`."""
    variant = new_variant(acme, stock=5)
    order = push(shop, {"variant_id": variant["id"], "quantity": 2})
    held = held_by(acme, order)[0]
    act(acme, held["id"], "accepted", {})
    assert numbers(acme, variant["sku"]) == (5, 2)
    act(acme, held["id"], "shipped", {"tracking_number": "T"})
    assert numbers(acme, variant["sku"]) == (3, 0)


def test_shipping_does_not_take_on_hand_below_zero(acme, shop):
    """Contract 7: `on_hand` never becomes negative."""
    variant = new_variant(acme, stock=5)
    order = push(shop, {"variant_id": variant["id"], "quantity": 4})
    put_stock(acme, variant["sku"], 1)
    held = held_by(acme, order)[0]
    act(acme, held["id"], "accepted", {})
    assert act(acme, held["id"], "shipped", {"tracking_number": "T"}).status == 200
    assert numbers(acme, variant["sku"]) == (0, 0)


def test_the_stock_list_has_its_fields(acme):
    """Contract 12: a row has `variant_id`, `sku`, `warehouse_id`, `updated_at` and three numbers.

    The numbers are `on_hand`, `reserved` and `available`.
    """
    variant = new_variant(acme, stock=5)
    row = stock_of(acme, variant["sku"])
    assert row["variant_id"] == variant["id"]
    assert row["warehouse_id"] == acme.warehouses[0]
    assert (row["on_hand"], row["reserved"]) == (5, 0)
    assert 0 <= row["available"] <= 5
    assert TIME.match(row["updated_at"])


def test_the_stock_list_has_pages(acme):
    """Contract 12: the pages of `GET …/inventory` together have each row once."""
    skus = {new_variant(acme, stock=1)["sku"] for _ in range(3)}
    answer, seen = acme.get("inventory", {"limit": 200}), []
    for _ in range(1000):
        body = well(answer)
        rows = body["results"] if isinstance(body, dict) else body
        assert len(rows) <= 200
        seen += [(row["warehouse_id"], row["sku"]) for row in rows]
        following = body.get("next") if isinstance(body, dict) else answer.next
        if not following:
            break
        answer = acme.get(following)
    assert len(seen) == len(set(seen))
    assert skus <= {sku for _, sku in seen}


@pytest.mark.parametrize("value", ["abc", "1.5", "9" * 30])
def test_a_wrong_stock_filter_is_refused(acme, value):
    """Contract, head: unclear input gets a clear error that names the field."""
    answer = acme.get("inventory", {"warehouse_id": value})
    fault(answer, 400, ("validation_error", "invalid_filter"))
