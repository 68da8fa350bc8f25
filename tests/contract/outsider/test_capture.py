"""The list of fulfillments, by which suppliers capture new work (interface 1 and 2.1; contract 3 and 12)."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from .http_client import digits, fault, well
from .steps import (
    ADDRESS,
    TIME,
    act,
    bring_to,
    fulfillment,
    held_by,
    new_variant,
    one_fulfillment,
    push,
    read,
)

NEW = {"retailer_state": "ordered", "fulfillment_state": "new"}
SEVEN = {
    "retailer_id": int,
    "retailer_name": str,
    "retailer_erp_id": str,
    "retailer_state": str,
    "fulfillment_state": str,
    "notes": list,
    "retailer_shipper_account": str,
}
MORE = {
    "id",
    "order_id",
    "retailer_order_id",
    "sales_order_number",
    "warehouse_id",
    "shipping_method_code",
    "shipping_address",
    "billing_address",
    "ship_until",
    "is_gift",
    "gift_message",
    "lines",
    "shipments",
    "created_at",
    "updated_at",
    "captured_at",
    "tracking_number",
    "invoice_id",
    "returns",
    "rejections",
}
LINE = {
    "id",
    "variant_id",
    "sku",
    "upc",
    "title",
    "quantity",
    "quantity_shipped",
    "wholesale_price",
    "quantity_rejected",
    "quantity_canceled",
    "quantity_returned",
    "quantity_reserved",
    "short",
}


def captured(supplier, **query):
    """Return the fulfillments of all pages of the list."""
    answer, found = supplier.get("fulfillments", {"limit": 500} | query), []
    while True:
        assert isinstance(well(answer), list), "the list response is a JSON array (interface 2.1)"
        found += well(answer)
        if not answer.next:
            return found
        answer = supplier.get(answer.next)


def by_filter(supplier, **wanted):
    return captured(supplier, filter=json.dumps(wanted))


def test_new_work_is_captured_with_every_field(acme, shop):
    """Interface 1 and 2.1; contract 3: an item has the interface's seven fields and fields for shipping."""
    order, held = one_fulfillment(acme, shop)
    found = next(each for each in by_filter(acme, **NEW) if each["id"] == held["id"])
    for field, kind in SEVEN.items():
        assert isinstance(found[field], kind), field
    assert set(found) >= MORE, MORE - set(found)
    assert set(found["lines"][0]) >= LINE, LINE - set(found["lines"][0])
    assert (found["retailer_id"], found["retailer_name"]) == (shop.id, "Shop")
    assert (found["retailer_state"], found["fulfillment_state"]) == ("ordered", "new")
    assert (found["order_id"], found["retailer_order_id"]) == (order["id"], order["retailer_order_id"])
    assert found["shipping_address"] == found["billing_address"] == ADDRESS
    assert (found["lines"][0]["quantity"], found["lines"][0]["quantity_shipped"]) == (2, 0)
    assert found["shipments"] == []


def test_a_single_read_equals_the_item_of_the_list(acme, shop):
    """Contract 3: `GET …/fulfillments/{id}` reads one fulfillment."""
    _, held = one_fulfillment(acme, shop)
    found = next(each for each in by_filter(acme, **NEW) if each["id"] == held["id"])
    again = fulfillment(acme, held["id"])
    assert {key: again[key] for key in found} == found


def test_fulfillments_are_captured_oldest_first(acme, shop):
    """Contract 3: the oldest fulfillments come first.

    Other tests push orders at the same time, so only this test's own fulfillments are compared.
    """
    created = [one_fulfillment(acme, shop)[1]["id"] for _ in range(3)]

    listed = [each["id"] for each in by_filter(acme, **NEW)]

    assert [pk for pk in listed if pk in created] == created
    assert len(set(listed)) == len(listed)


def test_pages_follow_by_link(acme, shop):
    """Contract 3: `limit` sets the size of a page, and `Link: <…>; rel="next"` leads to the next page."""
    for _ in range(3):
        one_fulfillment(acme, shop)
    answer = acme.get("fulfillments", {"filter": json.dumps(NEW), "limit": 2})
    assert len(well(answer)) == 2
    assert answer.next is not None
    following = acme.get(answer.next)
    assert not {each["id"] for each in well(answer)} & {each["id"] for each in well(following)}
    assert {each["fulfillment_state"] for each in well(following)} <= {"new", "cancelation not allowed"}


def test_the_default_page_is_a_hundred_at_most(acme):
    """Contract 3: a page has at most 100 items by default."""
    assert len(well(acme.get("fulfillments"))) <= 100


@pytest.mark.parametrize(
    "state",
    [
        "new",
        "accepted",
        "shipped",
        "out_of_stock",
        "missing_sku",
        "wrong_address",
        "canceling",
        "canceled",
        "cancelation not allowed",
    ],
)
def test_every_state_is_a_filter_in_both_forms(acme, shop, state):
    """Contract 3: a state is a filter in the object `filter` and as a parameter of its own."""
    order, held = one_fulfillment(acme, shop)
    bring_to(state, acme, shop, order, held["id"])
    for found in (by_filter(acme, fulfillment_state=state), captured(acme, fulfillment_state=state)):
        assert held["id"] in [each["id"] for each in found]
        allowed = {"new", "cancelation not allowed"} if state == "new" else {state}
        assert {each["fulfillment_state"] for each in found} <= allowed
    if state != "accepted":
        assert held["id"] not in [each["id"] for each in by_filter(acme, fulfillment_state="accepted")]


@pytest.mark.parametrize("spelling", ["cancelling", "canceling"])
def test_both_spellings_of_canceling_are_accepted(acme, shop, spelling):
    """Interface 3.1; contract 3: the filter may be spelled `cancelling`. Answers have `canceling`."""
    order, held = one_fulfillment(acme, shop)
    bring_to("canceling", acme, shop, order, held["id"])
    for found in (by_filter(acme, fulfillment_state=spelling), captured(acme, fulfillment_state=spelling)):
        mine = next(each for each in found if each["id"] == held["id"])
        assert mine["fulfillment_state"] == "canceling"
        assert mine["retailer_state"] == "canceling"


def test_a_refused_cancellation_is_captured_again_as_new_work(acme, shop):
    """Contract 3: the filter `new` also finds fulfillments in the state `cancelation not allowed`.

    They are shown with their own state.
    """
    order, held = one_fulfillment(acme, shop)
    bring_to("cancelation not allowed", acme, shop, order, held["id"])
    mine = next(each for each in by_filter(acme, **NEW) if each["id"] == held["id"])
    assert mine["fulfillment_state"] == "cancelation not allowed"
    assert mine["retailer_state"] == "ordered"


def test_without_a_filter_all_states_are_listed(acme, shop):
    """Contract 12: without a filter, the list has fulfillments in all states."""
    made = []
    for state in ("new", "shipped", "canceled"):
        order, held = one_fulfillment(acme, shop)
        bring_to(state, acme, shop, order, held["id"])
        made.append(held["id"])
    assert set(made) <= {each["id"] for each in captured(acme)}


def test_the_first_capture_is_remembered(acme, shop):
    """Contract 3 and 12: the first answer already has `captured_at`, and later answers repeat it.

    A fulfillment stays in the list of new work until it is accepted, so it can be delivered several times.
    """
    order, held = one_fulfillment(acme, shop)
    found = next(each for each in by_filter(acme, **NEW) if each["id"] == held["id"])
    assert TIME.match(found["captured_at"])
    again = next(each for each in by_filter(acme, **NEW) if each["id"] == held["id"])
    assert again["captured_at"] == found["captured_at"]
    act(acme, held["id"], "accepted", {})
    assert fulfillment(acme, held["id"])["captured_at"] == found["captured_at"]
    assert held["id"] not in [each["id"] for each in by_filter(acme, **NEW)]
    assert order


@pytest.mark.parametrize(
    "raw",
    [
        "{",
        "[]",
        '"new"',
        "5",
        "null",
        "",
        '{"fulfillment_state": 5}',
        '{"fulfillment_state": "done"}',
        '{"colour": "red"}',
        '{"retailer_state": "shipped"}',
        '{"fulfillment_state": ["new"]}',
        '{"fulfillment_state": "new", "fulfillment_state": "accepted"}',
        '{"fulfillment_state": null}',
        '{"fulfillment_state": "NEW!"}',
    ],
)
def test_a_wrong_filter_is_refused(acme, raw):
    """Contract 3: unknown keys, wrong types and unknown states get 400 `invalid_filter`."""
    answer = acme.get("fulfillments", {"filter": raw})
    if raw == "" and answer.status == 200:
        return  # an empty filter may count as no filter
    body = fault(answer, 400, "invalid_filter")
    if "colour" in raw:
        assert "colour" in body["message"] + str(body.get("errors"))


def test_an_empty_filter_object_is_no_filter(acme):
    """Contract 12: an empty filter object is the same as no filter."""
    assert isinstance(well(acme.get("fulfillments", {"filter": "{}", "limit": 1})), list)


@pytest.mark.parametrize(
    "query",
    [
        {"fulfillment_state": "done"},
        {"retailer_state": "done"},
        {"fulfilment_state": "new"},
        {"fulfillment_stat": "new"},
        {"fulfillmentState": "new"},
        {"filters": "{}"},
    ],
    ids=str,
)
def test_a_wrong_plain_filter_is_refused(acme, query):
    """Contract 3 and head: unknown states and misspelled parameters get 400."""
    fault(acme.get("fulfillments", query), 400, ("invalid_filter", "validation_error"))


@pytest.mark.parametrize("form", ["filter[fulfillment_state]", "filter.fulfillment_state"])
def test_a_filter_object_in_brackets_is_read_or_refused(acme, shop, form):
    """Contract, head: an ignored parameter would list everything, so the service refuses or reads it."""
    order, held = one_fulfillment(acme, shop)
    bring_to("canceled", acme, shop, order, held["id"])
    answer = acme.get("fulfillments", {form: "accepted", "limit": 500})
    if answer.status == 200:
        assert {each["fulfillment_state"] for each in answer.json} <= {"accepted"}
    else:
        fault(answer, 400, "invalid_filter")


def test_a_filter_with_unencoded_braces_is_read(acme, shop):
    """Interface 1: the filter is sent as `?filter=<filter_object>`.

    Contract, head: input is read liberally, because many clients do not encode braces.
    """
    _, held = one_fulfillment(acme, shop)
    bare = json.dumps(NEW, separators=(",", ":"))
    answer = acme.request("GET", f"fulfillments?limit=500&filter={bare}")
    assert {each["fulfillment_state"] for each in well(answer)} <= {"new", "cancelation not allowed"}
    assert held


def test_the_retailers_state_is_a_filter(acme, shop):
    """Contract 3: `retailer_state` is `pending`, `ordered`, `canceling` or `canceled`."""
    order, held = one_fulfillment(acme, shop)
    assert held["id"] in [each["id"] for each in by_filter(acme, retailer_state="ordered")]
    bring_to("canceled", acme, shop, order, held["id"])
    assert held["id"] in [each["id"] for each in by_filter(acme, retailer_state="canceled")]
    assert held["id"] not in [each["id"] for each in by_filter(acme, retailer_state="ordered")]
    assert {each["retailer_state"] for each in by_filter(acme, retailer_state="pending")} <= {"pending"}


@pytest.mark.parametrize(
    ("state", "retailer_state"),
    [
        ("new", "ordered"),
        ("accepted", "ordered"),
        ("canceling", "canceling"),
        ("canceled", "canceled"),
        ("cancelation not allowed", "ordered"),
    ],
)
def test_each_state_is_shown_beside_the_retailers_state(acme, shop, state, retailer_state):
    """Contract 3: `retailer_state` is `ordered` for open work, also after a refused cancellation."""
    order, held = one_fulfillment(acme, shop)
    bring_to(state, acme, shop, order, held["id"])
    assert fulfillment(acme, held["id"])["retailer_state"] == retailer_state


def test_a_line_shows_the_units_to_pack(acme, shop):
    """Contract 3: a line has `id`, `variant_id`, `sku`, `upc`, `title`, `quantity`, `wholesale_price`."""
    code = digits(12)
    variant = new_variant(acme, stock=5, upc=code, title="A lamp", wholesale_price=Decimal("4.2"))
    order = push(shop, {"variant_id": variant["id"], "quantity": 2})
    line = held_by(acme, order)[0]["lines"][0]
    assert (line["sku"], line["upc"], line["title"]) == (variant["sku"], code, "A lamp")
    assert line["wholesale_price"] == Decimal("4.2")
    assert read(shop, order)["order_lines"][0]["variant_id"] in (variant["id"], None)
