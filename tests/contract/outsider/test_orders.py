"""Orders as the retailer reads, lists, counts and polls them.

Interface 17-19, 2.6 and 2.7; contract 4 and 12.
"""

from __future__ import annotations

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest

from .http_client import done, fault, unique, well
from .steps import (
    ADDRESS,
    TIME,
    act,
    bring_to,
    fulfillment,
    held_by,
    new_variant,
    one_fulfillment,
    order_body,
    push,
    read,
    state_of,
)

STATES = {"received", "processing", "partially_shipped", "exception", "canceling", "completed", "canceled"}


@pytest.fixture(scope="module")
def three(acme, shop):
    """Push three orders one after another. Return `updated_at` of an earlier order, and the three orders."""
    before = push(shop, {"variant_id": new_variant(acme, stock=9)["id"], "quantity": 1})["updated_at"]
    variant = new_variant(acme, stock=9)
    return before, [push(shop, {"variant_id": variant["id"], "quantity": 1}) for _ in range(3)]


def listed(retailer, **query):
    """Return the orders of all pages of a list."""
    answer = retailer.get("orders", query)
    orders = []
    while True:
        body = well(answer)
        orders += body["results"]
        if not body["next"]:
            return orders
        answer = retailer.get(body["next"])


def test_an_order_reads_back_with_the_interfaces_fields(acme, shop):
    """Interface 2.6; contract 12: an order has `processing_state` and all fields of the list's items."""
    order, _ = one_fulfillment(acme, shop)
    assert isinstance(order["id"], int)
    assert order["type"] == "dropship"
    assert order["billing_address"] == order["shipping_address"] == ADDRESS
    assert order["shipping_method_code"] == "GROUND"
    assert order["processing_state"] == "received"
    assert TIME.match(order["created_at"])
    assert TIME.match(order["updated_at"])
    assert {"order_lines", "fulfillments", "retailer_order_id"} <= set(order)


def test_an_item_of_the_list_equals_the_single_read(shop, three):
    """Contract 4: an item has the fields of interface 2.6, the state, times, lines and fulfillments."""
    before, orders = three
    body = well(shop.get("orders", {"updated_at__gt": before, "ordering": "updated_at", "limit": 500}))
    found = {order["id"]: order for order in body["results"]}
    one = read(shop, orders[0])
    assert {key: one[key] for key in found[orders[0]["id"]]} == found[orders[0]["id"]]


def test_the_fulfillments_of_an_order_show_state_and_tracking_numbers(acme, shop):
    """Contract 4: each of the `fulfillments` has its id, supplier_id, state and tracking numbers."""
    order, held = one_fulfillment(acme, shop)
    bring_to("shipped", acme, shop, order, held["id"])
    shown = read(shop, order)["fulfillments"][0]
    assert (shown["id"], shown["supplier_id"], shown["state"]) == (held["id"], acme.id, "shipped")
    assert "T-1" in str(shown)


@pytest.mark.parametrize("form", ["filter", "plain"])
def test_orders_are_filtered_by_updated_at(shop, three, form):
    """Contract 4: `filter={"updated_at":{"gt":…}}&sort=updated_at` and plain parameters mean the same."""
    before, orders = three
    query = (
        {"filter": json.dumps({"updated_at": {"gt": before}}), "sort": "updated_at"}
        if form == "filter"
        else {"updated_at__gt": before, "ordering": "updated_at"}
    )
    found = listed(shop, **query)
    ids = [order["id"] for order in found]
    assert {order["id"] for order in orders} <= set(ids)
    assert all(order["updated_at"] > before for order in found)
    times = [order["updated_at"] for order in found]
    assert times == sorted(times)
    assert len(set(times)) == len(times), "`updated_at` must be unique for each retailer"


@pytest.mark.parametrize("form", ["filter", "plain"])
def test_processing_state_is_a_filter(acme, shop, form):
    """Contract 4: `processing_state` is accepted in `filter` and as a plain parameter."""
    order, held = one_fulfillment(acme, shop)
    bring_to("canceled", acme, shop, order, held["id"])
    after = order["updated_at"]
    query = (
        {
            "filter": json.dumps({"updated_at": {"gt": after}, "processing_state": "canceled"}),
            "sort": "updated_at",
        }
        if form == "filter"
        else {"updated_at__gt": after, "processing_state": "canceled", "ordering": "updated_at"}
    )
    found = listed(shop, **query)
    assert order["id"] in [each["id"] for each in found]
    assert {each["processing_state"] for each in found} == {"canceled"}


def test_pages_follow_each_other_and_back(shop, three):
    """Contract 4: a page is `{"next", "previous", "results"}`. Contract 12: `next` is an absolute URL."""
    before, orders = three
    first = well(shop.get("orders", {"updated_at__gt": before, "ordering": "updated_at", "limit": 2}))
    assert set(first) == {"next", "previous", "results"}
    assert first["previous"] is None
    assert len(first["results"]) == 2
    assert first["next"].startswith(shop.origin)
    second = well(shop.get(first["next"]))
    assert second["results"][0]["updated_at"] > first["results"][-1]["updated_at"]
    if second["previous"]:
        assert [each["id"] for each in well(shop.get(second["previous"]))["results"]] == [
            each["id"] for each in first["results"]
        ]
    else:
        pytest.fail(f"the second page has no link to the first: {second['previous']}")
    assert orders


def test_the_last_page_has_no_next(shop, three):
    """Contract 4: `next` is a URL, or null on the last page."""
    _, orders = three
    newest = max(
        order["updated_at"] for order in listed(shop, updated_at__gt=three[0], ordering="updated_at")
    )
    assert newest >= orders[-1]["updated_at"]
    body = well(shop.get("orders", {"updated_at__gt": "2999-01-01T00:00:00Z"}))
    assert body == {"next": None, "previous": None, "results": []}


def test_the_default_page_is_a_hundred_at_most(shop):
    """Contract 4: a page has at most 100 orders by default."""
    assert len(well(shop.get("orders"))["results"]) <= 100


def test_descending_order_is_supported_or_refused(shop, three):
    """Contract 4: a minus before the column of `ordering` or `sort` reverses the order.

    The service may also refuse the minus with a clear error.
    """
    answer = shop.get("orders", {"ordering": "-updated_at", "limit": 5})
    if answer.status == 400:
        fault(answer, 400, ("invalid_filter", "validation_error"))
        return
    times = [order["updated_at"] for order in well(answer)["results"]]
    assert times == sorted(times, reverse=True)
    assert three


@pytest.mark.parametrize(
    "query",
    [
        {"updated_at_gt": "2026-01-01T00:00:00Z"},
        {"update_at__gt": "2026-01-01T00:00:00Z"},
        {"updatedAt__gt": "x"},
        {"processing_stat": "completed"},
        {"processingstate": "completed"},
        {"filters": "{}"},
    ],
    ids=str,
)
def test_a_misspelled_parameter_gets_400(shop, query):
    """Contract, head: a misspelled parameter gets 400, because ignoring it would list all orders."""
    fault(shop.get("orders", query), 400, ("invalid_filter", "validation_error"))


@pytest.mark.parametrize(
    "value", ["yesterday", "2026-02-30T00:00:00Z", "17", "2026-01-01T00:00:00+99:00", "infinity"]
)
def test_an_updated_at_that_is_no_time_is_refused(shop, value):
    """Contract 2: the answer is 400 `invalid_filter`."""
    fault(shop.get("orders", {"updated_at__gt": value}), 400, ("invalid_filter", "validation_error"))
    raw = json.dumps({"updated_at": {"gt": value}})
    fault(shop.get("orders", {"filter": raw}), 400, "invalid_filter")


@pytest.mark.parametrize(
    "raw",
    [
        "{",
        "[]",
        '"x"',
        "5",
        "null",
        '{"updated_at": 5}',
        '{"updated_at": {"gt": 5}}',
        '{"updated_at": {"after": "2026-01-01T00:00:00Z"}}',
        '{"colour": "red"}',
        '{"processing_state": "done"}',
        '{"processing_state": 5}',
        '{"processing_state": "completed", "processing_state": "canceled"}',
    ],
)
def test_a_wrong_filter_is_refused(shop, raw):
    """Contract 2 and 3: unknown keys, wrong types and unknown states get 400 `invalid_filter`."""
    fault(shop.get("orders", {"filter": raw}), 400, "invalid_filter")


@pytest.mark.parametrize(
    "query", [{"processing_state": "done"}, {"sort": "colour"}, {"ordering": "colour"}], ids=str
)
def test_a_wrong_plain_filter_is_refused(shop, query):
    """Contract 2: the answer is 400 `invalid_filter`."""
    fault(shop.get("orders", query), 400, ("invalid_filter", "validation_error"))


@pytest.mark.parametrize(
    "form", ["2026-01-01T00:00:00.123456Z", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", "2026-01-01"]
)
def test_the_usual_spellings_of_a_time_are_accepted(shop, form):
    """Contract, head: input is read liberally."""
    well(shop.get("orders", {"updated_at__gt": form, "limit": 1}))


def test_an_unencoded_plus_in_a_time_is_read_or_refused(shop):
    """Contract, head: the service neither guesses the meaning of unclear input nor ignores it silently."""
    answer = shop.request("GET", "orders?limit=1&updated_at__gt=2026-01-01T01:00:00+01:00")
    assert answer.status in (200, 400), answer


def test_neither_of_two_contradicting_filters_is_ignored(acme, shop):
    """Contract, head: no input is ignored silently."""
    order, held = one_fulfillment(acme, shop)
    bring_to("canceled", acme, shop, order, held["id"])
    query = {"filter": '{"processing_state": "completed"}', "processing_state": "canceled", "limit": 1}
    answer = shop.get("orders", query)
    if answer.status == 200:
        assert answer.json["results"] == []
    else:
        fault(answer, 400, "invalid_filter")


@pytest.mark.parametrize("form", ["filter[processing_state]", "filter[updated_at][gt]", "updated_at[gt]"])
def test_a_filter_object_in_brackets_is_read_or_refused(shop, form):
    """Contract, head: an ignored parameter would list all orders, so the service refuses or reads it."""
    value = "canceled" if "state" in form else "2999-01-01T00:00:00Z"
    answer = shop.get("orders", {form: value})
    if answer.status == 200:
        assert {order["processing_state"] for order in answer.json["results"]} <= {"canceled"}
        assert "state" in form or answer.json["results"] == []
    else:
        fault(answer, 400, "invalid_filter")


def test_times_step_in_whole_milliseconds(shop, three):
    """Contract 4: `updated_at` has whole milliseconds, because clients in JavaScript cut further digits."""
    assert all(
        re.search(r"\.\d{3}000Z$", order["updated_at"]) for order in listed(shop, updated_at__gt=three[0])
    )


def test_a_javascript_client_misses_nothing_and_gets_nothing_twice(shop, three):
    """Contract 4: a time that a client has cut to milliseconds is still equal to `updated_at`."""
    before, orders = three
    cut = (
        datetime.fromisoformat(orders[0]["updated_at"])
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )
    ids = [order["id"] for order in listed(shop, updated_at__gt=cut, ordering="updated_at")]
    assert orders[0]["id"] not in ids
    assert orders[1]["id"] in ids
    assert before


def test_order_counts_have_exactly_three_fields(shop):
    """Interface 2.7; contract 4: `order-filters` has exactly `completed`, `canceled` and `pending`."""
    body = well(shop.get("order-filters"))
    assert set(body) == {"completed", "canceled", "pending"}
    assert all(isinstance(number, int) for number in body.values())


def test_order_counts_follow_the_states(rival, boutique):
    """Contract 4: orders in all states except `completed` and `canceled` count as pending.

    Other tests may push orders of Boutique at the same time, so the counts may be higher.
    """
    before = well(boutique.get("order-filters"))
    for state in ("new", "shipped", "canceled", "out_of_stock"):
        order, held = one_fulfillment(rival, boutique)
        bring_to(state, rival, boutique, order, held["id"])
    after = well(boutique.get("order-filters"))
    grown = {name: after[name] - before[name] for name in after}
    assert grown["completed"] >= 1
    assert grown["canceled"] >= 1
    assert grown["pending"] >= 2


# --- the order's state ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fulfillment_state", "processing_state"),
    [
        ("new", "received"),
        ("accepted", "processing"),
        ("shipped", "completed"),
        ("out_of_stock", "exception"),
        ("missing_sku", "exception"),
        ("wrong_address", "exception"),
        ("canceling", "canceling"),
        ("canceled", "canceled"),
        ("cancelation not allowed", "processing"),
    ],
)
def test_the_orders_state_follows_its_fulfillments(acme, shop, fulfillment_state, processing_state):
    """Contract 4 and 12: the state is derived from lines and fulfillments.

    An order is in `exception` if the supplier that its line names rejected the line.
    """
    order, held = one_fulfillment(acme, shop)
    bring_to(fulfillment_state, acme, shop, order, held["id"])
    after = read(shop, order)
    assert after["processing_state"] == processing_state
    if fulfillment_state != "new":
        assert after["updated_at"] > order["updated_at"]


def test_an_order_with_one_of_two_fulfillments_shipped_is_partially_shipped(acme, rival, shop):
    """Contract 4: the state is `partially_shipped`."""
    mine, theirs = new_variant(acme, stock=5), new_variant(rival, stock=5)
    order = push(shop, {"variant_id": mine["id"], "quantity": 1}, {"variant_id": theirs["id"], "quantity": 1})
    first, second = held_by(acme, order)[0], held_by(rival, order)[0]
    act(acme, first["id"], "accepted", {})
    assert state_of(shop, order) == "processing"
    act(acme, first["id"], "shipped", {"tracking_number": "T"})
    assert state_of(shop, order) == "partially_shipped"
    act(rival, second["id"], "accepted", {})
    act(rival, second["id"], "shipped", {"tracking_number": "T"})
    assert state_of(shop, order) == "completed"


def test_capturing_does_not_change_the_orders_updated_at(acme, shop):
    """Contract 12: a supplier that captures a fulfillment does not change the order's `updated_at`."""
    order, held = one_fulfillment(acme, shop)
    well(
        acme.get(
            "fulfillments", {"filter": json.dumps({"retailer_state": "ordered", "fulfillment_state": "new"})}
        )
    )
    fulfillment(acme, held["id"])
    assert read(shop, order)["updated_at"] == order["updated_at"]


# --- the polling promise ----------------------------------------------------------------------------------


def test_a_poller_sees_every_change_of_every_order_while_others_write(acme, shop):
    """Contract 4, the polling promise: a client that polls in this way misses nothing.

    It keeps the last `updated_at`, requests later orders, and sorts by `updated_at`.
    """
    variant = new_variant(acme, stock=100)
    bound = push(shop, {"variant_id": variant["id"], "quantity": 1})["updated_at"]
    finished, made = threading.Event(), []

    def write(_):
        body = order_body({"variant_id": variant["id"], "quantity": 1})
        number = done(shop.post("orders", body), "order_created", 201)["order_id"]
        held = held_by(acme, read(shop, number))[0]
        act(acme, held["id"], "accepted", {})
        made.append(number)

    seen: dict[int, str] = {}
    times: list[str] = []

    def poll():
        nonlocal bound
        query = {"filter": json.dumps({"updated_at": {"gt": bound}}), "sort": "updated_at", "limit": 3}
        for order in well(shop.get("orders", query))["results"]:
            seen[order["id"]] = order["processing_state"]
            times.append(order["updated_at"])
            bound = order["updated_at"]

    def keep_polling():
        while not finished.is_set():
            poll()

    with ThreadPoolExecutor(4) as pool:
        poller = pool.submit(keep_polling)
        for writer in [pool.submit(write, at) for at in range(9)]:
            writer.result()
        finished.set()
        poller.result()
    last = None
    while bound != last:
        last = bound
        poll()
    assert len(made) == 9
    assert {number: seen.get(number) for number in made} == dict.fromkeys(made, "processing")
    assert times == sorted(times)
    assert len(set(times)) == len(times)


def test_every_change_moves_updated_at_forward(acme, shop):
    """Contract 4: each change gives the order a later `updated_at`, so a client that polls sees it."""
    order, held = one_fulfillment(acme, shop, quantity=2)
    times = [order["updated_at"]]
    for step in (
        lambda: act(acme, held["id"], "accepted", {}),
        lambda: act(acme, held["id"], "shipped", {"tracking_number": "T-1", "lines": [_one(held)]}),
        lambda: act(acme, held["id"], "shipped", {"tracking_number": "T-2"}),
        lambda: acme.post(
            f"fulfillments/{held['id']}/returns",
            {"reason": "x", "return_lines": [{"sku": held["lines"][0]["sku"], "quantity": 1}]},
        ),
    ):
        assert step().status == 200
        times.append(read(shop, order)["updated_at"])
    assert times[:4] == sorted(set(times[:4]))
    assert times == sorted(times)


def _one(held):
    return {"id": held["lines"][0]["id"], "quantity": 1}


def test_all_states_in_answers_are_in_the_contract(shop, three):
    """Contract 4 lists the values of `processing_state`."""
    assert {order["processing_state"] for order in listed(shop, updated_at__gt=three[0])} <= STATES


def test_an_order_is_read_by_the_services_id(acme, shop):
    """Interface 17: the path has the service's id of the order, and not the retailer's number."""
    number = unique("MINE")
    variant = new_variant(acme, stock=1)
    push(shop, {"variant_id": variant["id"], "quantity": 1}, retailer_order_id=number)
    fault(shop.get(f"orders/{number}"), 404, "not_found")
