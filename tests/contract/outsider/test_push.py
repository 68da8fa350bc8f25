"""The push of orders (interface endpoint 15 and 2.5; contract 4 and 12)."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest

from .http_client import Answer, digits, done, encode, fault, unique, well
from .steps import ADDRESS, held_by, new_variant, numbers, order_body, push, put_stock, read


@pytest.fixture(scope="module")
def lamp(acme):
    """Create a variant with enough stock for the small orders of all tests in this file."""
    return new_variant(acme, stock=100_000, upc=digits(12), wholesale_price=Decimal("4.2"))


def line(variant, quantity=1, **more):
    return {"sku": variant["sku"], "quantity": quantity} | more


def test_a_push_answers_the_envelope_the_id_and_where_to_find_it(shop, lamp):
    """Contract 2 and 12: the answer is 201 `order_created`, with `order_id` and an absolute `Location`."""
    answer = shop.post("orders", order_body(line(lamp)))
    body = done(answer, "order_created", 201)
    assert isinstance(body["order_id"], int)
    assert answer.headers["Location"] == f"{shop.origin}{shop.base}/orders/{body['order_id']}"
    assert well(shop.get(answer.headers["Location"]))["id"] == body["order_id"]


def test_the_whole_body_of_the_interface_is_kept(acme, shop, lamp):
    """Interface 2.5 and 2.6; contract 12: the order is read with all fields that were pushed."""
    body = order_body(
        line(
            lamp,
            2,
            supplier_id=acme.id,
            upc=lamp["upc"],
            variant_id=lamp["id"],
            billed_amount=Decimal("39.98"),
            tax_billed_amount=Decimal("3.335"),
        ),
        id_in_source="SRC-9",
        billing_address=ADDRESS | {"first_name": "Bill"},
        shipping_paid=Decimal("4.95"),
        shipping_tax=Decimal("0.41"),
        sales_division_code="DIV",
        sales_order_number="SO-1",
        gift_message="For you",
        is_gift=True,
        ship_until="2030-12-24",
        original_created_at="2026-11-01",
        notes=[{"name": "door", "value": "blue"}],
    )
    order = read(shop, done(shop.post("orders", body), "order_created", 201)["order_id"])
    assert order["retailer_order_id"] == body["retailer_order_id"]
    assert order["type"] == "dropship"
    assert order["shipping_method_code"] == "GROUND"
    assert order["shipping_address"] == ADDRESS
    assert order["billing_address"] == ADDRESS | {"first_name": "Bill"}
    kept = order["order_lines"][0]
    for field in (
        "sku",
        "upc",
        "supplier_id",
        "variant_id",
        "quantity",
        "billed_amount",
        "tax_billed_amount",
    ):
        assert kept[field] == body["order_lines"][0][field], field
    assert isinstance(kept["id"], int)
    counts = [kept[f"quantity_{what}"] for what in ("reserved", "shipped", "canceled", "rejected")]
    assert counts == [2, 0, 0, 0]
    assert kept["short"] == 0
    held = held_by(acme, order)[0]
    assert (held["sales_order_number"], held["gift_message"], held["is_gift"]) == ("SO-1", "For you", True)
    assert held["ship_until"] == "2030-12-24"
    assert {"name": "door", "value": "blue"} in held["notes"], (
        "contract 12: the fulfillment must show the notes"
    )


def test_the_least_required_body_is_accepted(shop, lamp):
    """Contract 4: an order needs `retailer_order_id`, a shipping address and a line.

    The address needs a country and an address line.
    """
    body = {
        "retailer_order_id": unique("RO"),
        "shipping_address": {"country": "GB", "address1": "1 Road"},
        "order_lines": [line(lamp)],
    }
    order = read(shop, done(shop.post("orders", body), "order_created", 201)["order_id"])
    assert order["shipping_address"]["address1"] == "1 Road"
    assert order["billing_address"] == order["shipping_address"], (
        "a missing billing address is the shipping address"
    )
    assert set(order["shipping_address"]) == set(ADDRESS)
    assert all(isinstance(part, str) for part in order["shipping_address"].values())


@pytest.mark.parametrize("how", ["object", "text", "top level"])
def test_address_parts_are_read_from_each_position(shop, lamp, how):
    """Contract 4: an address is an object, a string with a JSON object, or fields at the top level."""
    body = order_body(line(lamp))
    del body["shipping_address"]
    body |= (
        ADDRESS
        if how == "top level"
        else {"shipping_address": json.dumps(ADDRESS) if how == "text" else ADDRESS}
    )
    order = read(shop, done(shop.post("orders", body), "order_created", 201)["order_id"])
    assert order["shipping_address"] == order["billing_address"] == ADDRESS


def test_a_string_placeholder_is_accepted_beside_top_level_parts(shop, lamp):
    """Interface 2.5; contract 4: an address may be an empty string if its parts are at the top level."""
    body = order_body(line(lamp)) | ADDRESS | {"shipping_address": "", "billing_address": ""}
    order = read(shop, done(shop.post("orders", body), "order_created", 201)["order_id"])
    assert order["shipping_address"] == ADDRESS


@pytest.mark.parametrize("field", ["retailer_order_id", "shipping_address", "order_lines"])
def test_a_missing_field_is_named(shop, lamp, field):
    """Contract 2 and 4: a missing required field gets `missing_parameter`."""
    body = order_body(line(lamp))
    del body[field]
    found = fault(shop.post("orders", body), 400, "missing_parameter")
    assert any(error["field"].startswith(field) for error in found["errors"]), found


@pytest.mark.parametrize("part", ["country", "address1"])
def test_an_address_needs_a_country_and_an_address_line(shop, lamp, part):
    """Contract 4: a shipping address needs a country and an address line."""
    address = {name: value for name, value in ADDRESS.items() if name != part}
    fault(
        shop.post("orders", order_body(line(lamp), shipping_address=address)),
        400,
        ("missing_parameter", "validation_error"),
        f"shipping_address.{part}",
    )
    answer = shop.post("orders", order_body(line(lamp), shipping_address=address | {part: "  "}))
    fault(answer, 400, ("missing_parameter", "validation_error"), f"shipping_address.{part}")


@pytest.mark.parametrize("value", ["not json", "[]", "5", 5, [], True, '{"country": "GB"'], ids=repr)
@pytest.mark.parametrize("field", ["shipping_address", "billing_address"])
def test_an_invalid_address_is_refused(shop, lamp, field, value):
    """Contract 4: an address is an object, or a string with a JSON object."""
    found = fault(
        shop.post("orders", order_body(line(lamp), **{field: value})),
        400,
        ("validation_error", "missing_parameter"),
    )
    assert any(error["field"].startswith(field) for error in found["errors"]), found


@pytest.mark.parametrize("value", [None, {}, ""], ids=repr)
def test_an_empty_billing_address_is_the_shipping_address(shop, lamp, value):
    """Contract 4: without a billing address, the shipping address is used."""
    answer = shop.post("orders", order_body(line(lamp), billing_address=value))
    assert read(shop, done(answer, "order_created", 201)["order_id"])["billing_address"] == ADDRESS


BAD: list[tuple[str, list[Any]]] = [
    ("retailer_order_id", ["", None, "   ", 5, [], {}, "x" * 5000]),
    ("id_in_source", [5, [], {}]),
    ("shipping_method_code", [5, [], "x" * 5000]),
    ("shipping_paid", ["much", -1, True, [], Decimal("1e30"), Decimal("1.000001")]),
    ("shipping_tax", ["much", -1, True, {}]),
    ("sales_division_code", [5, []]),
    ("sales_order_number", [5, {}]),
    ("gift_message", [5, []]),
    ("is_gift", ["maybe", 5, []]),
    ("ship_until", ["soon", "2026-02-30", "24.12.2026", 20261224, [], True, "2026-13-01"]),
    ("original_created_at", ["soon", "2026-02-30", 5, {}]),
    ("order_lines", [None, {}, "x", 5, []]),
    ("type", ["gift", 5, ""]),
    ("notes", ["text", 5, {"name": "a"}]),
]


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in BAD for value in values], ids=repr
)
def test_a_wrong_field_of_the_order_is_named(shop, lamp, field, value):
    """Contract 2 and 4: the answer is 400 and names the field, and no order is created."""
    body = order_body(line(lamp)) | {field: value}
    answer = shop.post("orders", body)
    found = fault(answer, 400, ("validation_error", "missing_parameter"))
    assert any(error["field"].split("[")[0] == field for error in found["errors"]), answer


BAD_LINES: list[tuple[str, list[Any]]] = [
    ("quantity", ["absent", None, 0, -1, Decimal("1.5"), "two", True, [], 10**20, ""]),
    ("billed_amount", ["much", -1, True, [], Decimal("1e40")]),
    ("tax_billed_amount", ["much", -1, {}]),
    ("sku", [5, [], True]),
    ("upc", [36000291452, []]),
    ("supplier_id", ["x", [], -1, 2_000_000_000, Decimal("1.5"), True]),
    ("variant_id", ["x", [], -1, 2_000_000_000, True, 10**30]),
]


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in BAD_LINES for value in values], ids=repr
)
def test_a_wrong_field_of_a_line_is_named(shop, lamp, field, value):
    """Contract 2: `field` is a path such as `order_lines[2].quantity`."""
    bad = line(lamp) | {field: value}
    if value == "absent":
        del bad[field]
    answer = shop.post("orders", order_body(line(lamp), line(lamp), bad))
    found = fault(answer, 400, ("validation_error", "missing_parameter"))
    assert any(error["field"].startswith("order_lines[2]") for error in found["errors"]), answer
    if value not in (-1, 2_000_000_000, 10**30) or field == "quantity":
        assert any(error["field"] == f"order_lines[2].{field}" for error in found["errors"]), answer


@pytest.mark.parametrize("bad", [5, "x", None, []], ids=repr)
def test_a_line_that_is_no_object_is_refused(shop, lamp, bad):
    """Contract 2: `field` is the path of the wrong element."""
    found = fault(
        shop.post("orders", order_body(line(lamp), bad)), 400, ("validation_error", "missing_parameter")
    )
    assert any(error["field"].startswith("order_lines[1]") for error in found["errors"]), found


@pytest.mark.parametrize(
    "notes", [["x"], [{"name": "a", "value": 5}], [{"name": 5, "value": "a"}], [{"value": "a"}]], ids=repr
)
def test_wrong_notes_are_refused(shop, lamp, notes):
    """Interface 2.5: each note has the strings `name` and `value`."""
    found = fault(
        shop.post("orders", order_body(line(lamp), notes=notes)),
        400,
        ("validation_error", "missing_parameter"),
    )
    assert any(error["field"].startswith("notes[0]") for error in found["errors"]), found


def test_a_line_that_names_no_variant_is_refused(shop):
    """Contract 4: a line needs a field that finds a variant."""
    found = fault(
        shop.post("orders", order_body({"quantity": 1})), 400, ("missing_parameter", "validation_error")
    )
    assert found["errors"][0]["field"].startswith("order_lines[0]")


@pytest.mark.parametrize(
    "finder", [{"sku": "NO-SUCH-SKU"}, {"upc": "036000291452X"}, {"variant_id": 1_999_999_999}], ids=str
)
def test_a_line_that_matches_nothing_is_a_validation_error(shop, finder):
    """Contract 4: a line that matches nothing is a validation error."""
    found = fault(shop.post("orders", order_body(finder | {"quantity": 1})), 400, "validation_error")
    assert found["errors"][0]["field"].startswith("order_lines[0]")


@pytest.mark.parametrize("by", ["variant_id", "supplier_id+sku", "upc", "sku"])
def test_a_line_finds_its_variant(acme, shop, lamp, by):
    """Contract 4: the first of these fields finds the variant: `variant_id`, `supplier_id` with `sku`,
    `upc`, `sku`.
    """
    finder = {
        "variant_id": {"variant_id": lamp["id"]},
        "supplier_id+sku": {"supplier_id": acme.id, "sku": lamp["sku"]},
        "upc": {"upc": lamp["upc"]},
        "sku": {"sku": lamp["sku"]},
    }[by]
    order = push(shop, finder | {"quantity": 1})
    held = held_by(acme, order)
    assert [each["variant_id"] for each in held[0]["lines"]] == [lamp["id"]]
    assert held[0]["lines"][0]["sku"] == lamp["sku"]


def test_a_misspelled_required_field_is_an_error(shop, lamp):
    """Contract 4: an unknown field is an error only if it looks like a misspelled required field."""
    body = order_body(line(lamp))
    body["retailer_orderid"] = body.pop("retailer_order_id")
    answer = shop.post("orders", body)
    fault(answer, 400, ("validation_error", "missing_parameter"))
    assert {error["field"] for error in answer.json["errors"]} & {"retailer_orderid", "retailer_order_id"}, (
        answer
    )
    assert "retailer_order_id" in answer.text, answer


def test_other_unknown_fields_are_ignored_and_named_in_warnings(shop, lamp):
    """Contract 4: other unknown fields are ignored, and `warnings` names them."""
    answer = shop.post("orders", order_body(line(lamp, colour="red"), loyalty_points=5))
    body = done(answer, "order_created", 201)
    assert "loyalty_points" in str(body["warnings"]), answer
    assert "colour" in str(body["warnings"]), answer


# --- the same order again --------------------------------------------------------------------------------


def test_the_same_order_again_is_the_same_order(shop, lamp):
    """Contract 4: a repetition of the order gets 200 `order_exists` with the same `order_id`."""
    body = order_body(line(lamp, 2, billed_amount=Decimal("39.98")), shipping_paid=5)
    first = done(shop.post("orders", body), "order_created", 201)
    before = read(shop, first["order_id"])
    answer = shop.post("orders", body)
    assert done(answer, "order_exists")["order_id"] == first["order_id"]
    assert answer.headers["Location"].endswith(f"/orders/{first['order_id']}")
    assert read(shop, first["order_id"]) == before


def test_neither_the_order_of_keys_nor_the_spelling_of_numbers_matters(shop, lamp):
    """Contract 4: bodies are compared without the order of their keys and the spelling of numbers."""
    body = order_body(line(lamp, 2, billed_amount=Decimal("39.9")), shipping_paid=Decimal(5))
    first = done(shop.post("orders", body), "order_created", 201)
    turned = dict(reversed(body.items())) | {"shipping_paid": Decimal("5.00")}
    turned["order_lines"] = [
        dict(reversed(body["order_lines"][0].items())) | {"billed_amount": Decimal("39.90")}
    ]
    assert done(shop.post("orders", turned), "order_exists")["order_id"] == first["order_id"]


@pytest.mark.parametrize(
    "change",
    [
        {"shipping_method_code": "AIR"},
        {"shipping_paid": 6},
        {"is_gift": True},
        {"shipping_address": ADDRESS | {"city": "Leeds"}},
        {"type": "replenish"},
        {"notes": [{"name": "a", "value": "b"}]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_other_content_under_the_same_number_is_a_conflict(shop, lamp, change):
    """Contract 4: other content with the same number gets 409 `order_conflict`."""
    body = order_body(line(lamp))
    first = done(shop.post("orders", body), "order_created", 201)
    before = read(shop, first["order_id"])
    fault(shop.post("orders", body | change), 409, "order_conflict")
    fault(shop.post("orders", body | {"order_lines": [line(lamp, 2)]}), 409, "order_conflict")
    assert read(shop, first["order_id"]) == before


def test_concurrent_pushes_of_the_same_order_create_one_order(shop, lamp):
    """Contract 4: concurrent pushes of the same order create one order."""
    body = order_body(line(lamp))
    with ThreadPoolExecutor(4) as pool:
        answers: list[Answer] = list(pool.map(lambda _: shop.post("orders", body), range(4)))
    assert sorted(answer.status for answer in answers) == [200, 200, 200, 201], [
        str(each) for each in answers
    ]
    assert len({answer.json["order_id"] for answer in answers}) == 1


def test_an_order_may_have_the_type_replenish(shop, lamp):
    """Contract 4 and 12: `type` is `dropship` (the default) or `replenish`."""
    assert push(shop, line(lamp), type="replenish")["type"] == "replenish"
    assert push(shop, line(lamp))["type"] == "dropship"


def test_amounts_are_returned_as_they_were_sent(shop, lamp):
    """Contract 2: amounts are JSON numbers with exact decimals."""
    for amount in ("0.1", "19.99", "1234567.89", "0.0001"):
        order = push(shop, line(lamp, billed_amount=Decimal(amount)))
        assert order["order_lines"][0]["billed_amount"] == Decimal(amount)


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01", "2028-02-29"])
@pytest.mark.parametrize("field", ["ship_until", "original_created_at"])
def test_days_at_the_ends_of_the_calendar_cause_no_500(acme, shop, lamp, field, day):
    """Interface 2.5: dates are `YYYY-MM-DD`. Many clients send 9999-12-31 for "no limit"."""
    answer = shop.post("orders", order_body(line(lamp), **{field: day}))
    if answer.status == 201:
        order = read(shop, answer.json["order_id"])
        assert field != "ship_until" or held_by(acme, order)[0]["ship_until"] == day
    else:
        fault(answer, 400, "validation_error", field)


@pytest.mark.parametrize("quantity", [2**31 - 1, 2**31, 2**63])
def test_quantities_at_the_ends_of_the_integers_cause_no_500(acme, shop, quantity):
    """Contract 2: the answer is never 500, even if the sum of two lines is too large for an integer."""
    variant = new_variant(acme, stock=1)
    answer = shop.post("orders", order_body(line(variant, quantity), line(variant, quantity)))
    if answer.status == 201:
        order = read(shop, answer.json["order_id"])
        assert sum(kept["quantity"] for kept in order["order_lines"]) == 2 * quantity
        shop.post(f"orders/{order['id']}/cancel")
    else:
        fault(answer, 400, "validation_error", "order_lines[0].quantity")


def test_unicode_is_returned_as_it_was_sent(acme, shop, lamp):
    """Contract 12: a text may contain any Unicode character."""
    address = ADDRESS | {"first_name": "Zoë", "last_name": "Łukasz 王 🎁", "city": "'; DROP TABLE orders; --"}
    order = push(shop, line(lamp), shipping_address=address, gift_message="🎂 <b>")
    assert order["shipping_address"] == address
    assert held_by(acme, order)[0]["shipping_address"] == address


# --- stock and routing -----------------------------------------------------------------------------------


def test_a_push_reserves_stock(acme, shop):
    """Contract 4: a push reserves stock in its own transaction."""
    variant = new_variant(acme, stock=5)
    order = push(shop, line(variant, 3))
    assert numbers(acme, variant["sku"]) == (5, 3)
    assert order["processing_state"] == "received"


def test_the_units_in_stock_of_a_short_line_are_reserved(acme, shop):
    """Contract 4 and 12: no more units than `on_hand` are reserved. The other units are short.

    They are part of the fulfillment, so the supplier decides about them.
    """
    variant = new_variant(acme, stock=2)
    order = push(shop, line(variant, 5))
    kept = order["order_lines"][0]
    assert (kept["quantity_reserved"], kept["short"]) == (2, 3)
    assert numbers(acme, variant["sku"]) == (2, 2)
    assert sum(each["quantity"] for held in held_by(acme, order) for each in held["lines"]) == 5


def test_an_order_without_stock_goes_to_the_suppliers_default_warehouse(acme, shop):
    """Contract 4: units without stock are short at the default warehouse of the best supplier."""
    variant = new_variant(acme)
    order = push(shop, line(variant, 5))
    held = held_by(acme, order)
    assert len(held) == 1
    assert held[0]["warehouse_id"] in acme.warehouses
    assert (order["order_lines"][0]["quantity_reserved"], order["order_lines"][0]["short"]) == (0, 5)


def test_concurrent_orders_never_reserve_more_than_the_stock(acme, shop):
    """Contract 4: concurrent orders together never reserve more than `on_hand`."""
    variant = new_variant(acme, stock=3)
    with ThreadPoolExecutor(4) as pool:
        bodies = [order_body(line(variant, 1)) for _ in range(5)]
        answers = list(pool.map(lambda body: shop.post("orders", body), bodies))
    orders = [read(shop, done(answer, "order_created", 201)["order_id"]) for answer in answers]
    assert sum(order["order_lines"][0]["quantity_reserved"] for order in orders) == 3
    assert sum(order["order_lines"][0]["short"] for order in orders) == 2
    assert numbers(acme, variant["sku"]) == (3, 3)


def test_concurrent_orders_with_the_same_lines_in_different_order_do_not_deadlock(acme, shop):
    """Contract 2 and 4: concurrent orders succeed, and never get 500 because of a deadlock."""
    one, two = new_variant(acme, stock=50), new_variant(acme, stock=50)
    bodies = [order_body(*([line(one), line(two)] if at % 2 else [line(two), line(one)])) for at in range(8)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda body: shop.post("orders", body), bodies))
    assert {answer.status for answer in answers} == {201}
    assert numbers(acme, one["sku"]) == numbers(acme, two["sku"]) == (50, 8)


def twins(acme, rival, mine=None, theirs=None, stocks=(10, 10)):
    """Create a variant with the same SKU at both suppliers."""
    sku = unique("TWIN")
    a = new_variant(acme, stock=stocks[0], sku=sku, wholesale_price=Decimal(mine or 5))
    b = new_variant(rival, stock=stocks[1], sku=sku, wholesale_price=Decimal(theirs or 5))
    return a, b


def suppliers_of(order):
    return [each["supplier_id"] for each in order["fulfillments"]]


def test_routing_takes_the_lower_cost(acme, rival, shop):
    """Contract 4: if two plans have equally many fulfillments, routing takes the lower wholesale cost."""
    dear, cheap = twins(acme, rival, "6.5", "4.5")
    assert suppliers_of(push(shop, {"sku": dear["sku"], "quantity": 1})) == [rival.id]
    cheap, dear = twins(acme, rival, "4.5", "6.5")
    assert suppliers_of(push(shop, {"sku": cheap["sku"], "quantity": 1})) == [acme.id]
    assert dear["id"] != cheap["id"]


def test_routing_takes_the_supplier_with_the_stock(acme, rival, shop):
    """Contract 4: a plan that has the stock is preferred to a cheaper plan without stock."""
    cheap, _ = twins(acme, rival, 4, 6, (1, 10))
    assert suppliers_of(push(shop, {"sku": cheap["sku"], "quantity": 5})) == [rival.id]


def test_routing_takes_the_fewest_fulfillments(acme, rival, shop):
    """Contract 4: the plan with the fewest fulfillments is preferred to a cheaper plan."""
    one, _ = twins(acme, rival, 4, 6)
    two, _ = twins(acme, rival, 4, 6, (0, 10))
    order = push(shop, {"sku": one["sku"], "quantity": 1}, {"sku": two["sku"], "quantity": 1})
    assert suppliers_of(order) == [rival.id]


def test_an_order_is_split_when_no_supplier_has_all(acme, rival, shop):
    """Interface 1: an order that is split among suppliers has a fulfillment for each of them."""
    mine, theirs = new_variant(acme, stock=5), new_variant(rival, stock=5)
    order = push(shop, line(mine), line(theirs))
    assert sorted(suppliers_of(order)) == sorted([acme.id, rival.id])


def test_a_pinned_line_stays_with_its_supplier(acme, rival, shop):
    """Contract 4: `supplier_id` or `variant_id` sets the supplier of a line, so routing does not choose."""
    dear, _ = twins(acme, rival, 9, 1, (0, 10))
    assert suppliers_of(push(shop, {"sku": dear["sku"], "supplier_id": acme.id, "quantity": 1})) == [acme.id]
    assert suppliers_of(push(shop, {"variant_id": dear["id"], "quantity": 1})) == [acme.id]


def test_lines_go_to_as_few_warehouses_as_hold_them(acme, shop):
    """Contract 4: the lines of a supplier go to as few warehouses as possible.

    Each fulfillment has one warehouse.
    """
    east, west = new_variant(acme, stock=5), new_variant(acme, stock=5, warehouse=1)
    put_stock(acme, east["sku"], 5, warehouse=1)
    order = push(shop, line(east), line(west))
    held = held_by(acme, order)
    assert [each["warehouse_id"] for each in held] == [acme.warehouses[1]]
    only_east = new_variant(acme, stock=5)
    only_west = new_variant(acme, stock=5, warehouse=1)
    held = held_by(acme, push(shop, line(only_east), line(only_west)))
    assert sorted(each["warehouse_id"] for each in held) == sorted(acme.warehouses)


def test_a_upc_at_two_suppliers_lets_routing_choose(acme, rival, shop):
    """Contract 4: if a line matches variants of several suppliers, routing chooses."""
    code = digits(12)
    new_variant(acme, stock=5, upc=code, wholesale_price=9)
    new_variant(rival, stock=5, upc=code, wholesale_price=3)
    assert suppliers_of(push(shop, {"upc": code, "quantity": 1})) == [rival.id]


def test_a_long_order_is_one_order(acme, shop):
    """Contract 4: an order may have any number of lines that the size of a body allows."""
    variants = [new_variant(acme, stock=3) for _ in range(3)]
    order = push(shop, *[line(variants[at % 3]) for at in range(9)])
    assert len(order["order_lines"]) == 9
    assert [numbers(acme, variant["sku"])[1] for variant in variants] == [3, 3, 3]


def test_a_delisted_variant_is_not_ordered(acme, shop):
    """Contract 4 and 5: a line finds only listed variants of the retailer's active partners."""
    hidden = new_variant(acme, stock=5, listed=False)
    fault(shop.post("orders", order_body(line(hidden))), 400, "validation_error")


def test_an_order_is_never_half_created(acme, shop):
    """Contract 2: a wrong request changes nothing, so no stock is reserved."""
    variant = new_variant(acme, stock=5)
    body = order_body(line(variant), {"sku": "NO-SUCH", "quantity": 1})
    fault(shop.post("orders", body), 400, "validation_error")
    assert numbers(acme, variant["sku"]) == (5, 0)
    done(shop.post("orders", encode(body | {"order_lines": [line(variant)]})), "order_created", 201)
