"""Status updates: their bodies, partial shipments, and their effects on stock (interface 2-7; contract 3)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from .http_client import done, fault, unique, well
from .steps import (
    REFUSED,
    TIME,
    act,
    answer_cancel,
    bring_to,
    fulfillment,
    held_by,
    import_lines,
    new_variant,
    numbers,
    one_fulfillment,
    push,
    read,
    state_of,
)


@pytest.fixture
def accepted(acme, shop):
    """Create an accepted fulfillment with one line of five units. Return the order and the fulfillment."""
    order, held = one_fulfillment(acme, shop, quantity=5)
    bring_to("accepted", acme, shop, order, held["id"])
    return order, held


# --- accept ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [None, {}, {"tracking_number": ""}, {"tracking_number": None}], ids=repr)
def test_accepting_needs_no_tracking_number(acme, shop, body):
    """Interface 3.1: `tracking_number` is optional. Contract 10: the body may be empty or missing."""
    _, held = one_fulfillment(acme, shop)
    done(act(acme, held["id"], "accepted", body), "accepted")


@pytest.mark.parametrize("name", ["tracking_number", "data"])
def test_a_tracking_number_given_on_accept_is_kept(acme, shop, name):
    """Contract 3 and 12: the tracking number of an accept is optional, stored and shown.

    Contract 10: `data` is a name of `tracking_number`.
    """
    _, held = one_fulfillment(acme, shop)
    done(act(acme, held["id"], "accepted", {name: "1Z-ACCEPT"}), "accepted")
    assert fulfillment(acme, held["id"])["tracking_number"] == "1Z-ACCEPT"
    assert fulfillment(acme, held["id"])["shipments"] == []


@pytest.mark.parametrize("value", [5, ["T"], {"a": 1}, True, "x" * 5000], ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("status", ["accepted", "shipped"])
@pytest.mark.parametrize("name", ["tracking_number", "data"])
def test_an_invalid_tracking_number_is_refused(acme, accepted, shop, name, status, value):
    """Interface 4; contract 3: `tracking_number` is one string.

    Contract 12: wrong fields are reported before a wrong state.
    """
    _, held = accepted if status == "shipped" else one_fulfillment(acme, shop)
    answer = act(acme, held["id"], status, {name: value})
    found = fault(answer, 400, "validation_error")
    assert found["errors"][0]["field"] in ("tracking_number", "data"), answer
    assert fulfillment(acme, held["id"])["shipments"] == []


@pytest.mark.parametrize("name", ["trackingNumber", "trackingnumber", "tracking_numer"])
def test_a_misspelled_tracking_number_is_kept_or_reported(acme, shop, name):
    """Contract, head: no input is ignored silently."""
    _, held = one_fulfillment(acme, shop)
    answer = act(acme, held["id"], "accepted", {name: "1Z"})
    if answer.status == 200:
        kept = fulfillment(acme, held["id"])["tracking_number"] == "1Z"
        assert kept or name in str(answer.json.get("warnings")), answer
    else:
        fault(answer, 400, "validation_error")


# --- ship --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [None, {}, {"tracking_number": ""}, {"tracking_number": None}, {"tracking_number": "  "}],
    ids=repr,
)
def test_shipping_needs_a_tracking_number(acme, accepted, body):
    """Contract 3: `tracking_number` is required. Contract 2: without it, the code is `missing_parameter`."""
    _, held = accepted
    answer = act(acme, held["id"], "shipped", body)
    code = "missing_parameter" if not body else ("missing_parameter", "validation_error")
    fault(answer, 400, code, "tracking_number")


@pytest.mark.parametrize("name", ["tracking_number", "data"])
def test_shipping_ships_all_and_keeps_number_carrier_and_time(acme, shop, accepted, name):
    """Contract 3: a shipment shows `tracking_number`, `carrier` and `shipped_at`. `carrier` is optional.

    Contract 10: `data` is a name of `tracking_number`.
    """
    order, held = accepted
    done(act(acme, held["id"], "shipped", {name: "1Z", "carrier": "UPS"}), "shipped")
    after = fulfillment(acme, held["id"])
    assert after["fulfillment_state"] == "shipped"
    assert [(each["tracking_number"], each["carrier"]) for each in after["shipments"]] == [("1Z", "UPS")]
    assert TIME.match(after["shipments"][0]["shipped_at"])
    assert after["lines"][0]["quantity_shipped"] == 5
    assert read(shop, order)["order_lines"][0]["quantity_shipped"] == 5


def test_a_split_shipment_is_the_same_call_once_per_shipment(acme, accepted):
    """Interface 3.1; contract 3: a supplier sends the same call once for each parcel of a split shipment."""
    _, held = accepted
    done(act(acme, held["id"], "shipped", {"tracking_number": "T-1"}), "shipped")
    done(act(acme, held["id"], "shipped", {"tracking_number": "T-2"}), "shipped")
    done(act(acme, held["id"], "shipped", {"tracking_number": "T-1"}), "unchanged")
    after = fulfillment(acme, held["id"])
    assert [each["tracking_number"] for each in after["shipments"]] == ["T-1", "T-2"]
    assert after["lines"][0]["quantity_shipped"] == 5


def test_a_split_by_line_stays_accepted_until_nothing_is_open(acme, shop, accepted):
    """Contract 3: a fulfillment stays `accepted` while units are open, and then becomes `shipped`."""
    order, held = accepted
    line = held["lines"][0]["id"]
    done(
        act(acme, held["id"], "shipped", {"tracking_number": "T-1", "lines": [{"id": line, "quantity": 2}]}),
        "shipped",
    )
    between = fulfillment(acme, held["id"])
    assert between["fulfillment_state"] == "accepted"
    assert between["lines"][0]["quantity_shipped"] == 2
    assert state_of(shop, order) == "partially_shipped"
    done(
        act(acme, held["id"], "shipped", {"tracking_number": "T-2", "lines": [{"id": line, "quantity": 3}]}),
        "shipped",
    )
    after = fulfillment(acme, held["id"])
    assert after["fulfillment_state"] == "shipped"
    assert len(after["shipments"]) == 2
    assert state_of(shop, order) == "completed"


def test_a_shipment_without_lines_ships_all_open_units(acme, accepted):
    """Contract 3: a call without `lines` ships all open units."""
    _, held = accepted
    lines = [{"id": held["lines"][0]["id"], "quantity": 1}]
    act(acme, held["id"], "shipped", {"tracking_number": "T-1", "lines": lines})
    done(act(acme, held["id"], "shipped", {"tracking_number": "T-2"}), "shipped")
    after = fulfillment(acme, held["id"])
    assert (after["fulfillment_state"], after["lines"][0]["quantity_shipped"]) == ("shipped", 5)


def test_a_repeated_split_ships_nothing_twice(acme, shop, accepted):
    """Contract 2: a repetition of the same call gets 200 `unchanged`."""
    order, held = accepted
    body = {"tracking_number": "T-1", "lines": [{"id": held["lines"][0]["id"], "quantity": 2}]}
    done(act(acme, held["id"], "shipped", body), "shipped")
    done(act(acme, held["id"], "shipped", body), "unchanged")
    assert fulfillment(acme, held["id"])["lines"][0]["quantity_shipped"] == 2
    assert state_of(shop, order) == "partially_shipped"


def test_each_split_takes_its_quantity_from_stock(acme, shop):
    """Contract 7: each shipment lowers `on_hand` and `reserved`."""
    variant = new_variant(acme, stock=10)
    order = push(shop, {"variant_id": variant["id"], "quantity": 5})
    held = held_by(acme, order)[0]
    act(acme, held["id"], "accepted", {})
    act(
        acme,
        held["id"],
        "shipped",
        {"tracking_number": "1", "lines": [{"id": held["lines"][0]["id"], "quantity": 2}]},
    )
    assert numbers(acme, variant["sku"]) == (8, 3)
    act(acme, held["id"], "shipped", {"tracking_number": "2"})
    assert numbers(acme, variant["sku"]) == (5, 0)
    act(acme, held["id"], "shipped", {"tracking_number": "3"})
    assert numbers(acme, variant["sku"]) == (5, 0)


@pytest.mark.parametrize(
    "lines",
    [
        "x",
        5,
        {},
        [5],
        [None],
        ["x"],
        [{}],
        [{"quantity": 1}],
        [{"id": "LINE"}],
        [{"id": "LINE", "quantity": 0}],
        [{"id": "LINE", "quantity": -1}],
        [{"id": "LINE", "quantity": Decimal("1.5")}],
        [{"id": "LINE", "quantity": "two"}],
        [{"id": "LINE", "quantity": True}],
        [{"id": 2_000_000_000, "quantity": 1}],
        [{"id": [], "quantity": 1}],
        [{"id": "LINE", "quantity": 10**20}],
    ],
    ids=repr,
)
def test_wrong_lines_of_a_shipment_are_refused(acme, accepted, lines):
    """Contract 2 and 3: `lines` is `[{"id", "quantity"}]`. Other values get 400 that names the field."""
    _, held = accepted
    if isinstance(lines, list):
        own = held["lines"][0]["id"]
        lines = [
            each | {"id": own} if isinstance(each, dict) and each.get("id") == "LINE" else each
            for each in lines
        ]
    answer = act(acme, held["id"], "shipped", {"tracking_number": "T", "lines": lines})
    found = fault(answer, 400, ("validation_error", "missing_parameter"))
    assert found["errors"][0]["field"].startswith("lines"), answer
    assert fulfillment(acme, held["id"])["shipments"] == []


def test_no_more_units_are_shipped_than_were_ordered(acme, accepted):
    """Contract 3: no more units are shipped than were ordered."""
    _, held = accepted
    own = held["lines"][0]["id"]
    for lines in ([{"id": own, "quantity": 6}], [{"id": own, "quantity": 3}, {"id": own, "quantity": 3}]):
        answer = act(acme, held["id"], "shipped", {"tracking_number": "T", "lines": lines})
        assert answer.status in (400, 409), answer
        fault(answer, answer.status, ("validation_error", "invalid_transition"))
    act(acme, held["id"], "shipped", {"tracking_number": "T-1", "lines": [{"id": own, "quantity": 4}]})
    answer = act(
        acme, held["id"], "shipped", {"tracking_number": "T-2", "lines": [{"id": own, "quantity": 2}]}
    )
    assert answer.status in (400, 409), answer
    assert fulfillment(acme, held["id"])["lines"][0]["quantity_shipped"] == 4


def test_another_fulfillments_line_is_unknown(acme, shop, accepted):
    """Contract 2: the answer is 400 and names the field."""
    _, held = accepted
    _, other = one_fulfillment(acme, shop)
    lines = [{"id": other["lines"][0]["id"], "quantity": 1}]
    answer = act(acme, held["id"], "shipped", {"tracking_number": "T", "lines": lines})
    assert fault(answer, 400, "validation_error")["errors"][0]["field"].startswith("lines[0]")


@pytest.mark.parametrize("carrier", [5, [], {}])
def test_an_invalid_carrier_is_refused(acme, accepted, carrier):
    """Contract 2: the answer is 400 and names the field."""
    _, held = accepted
    fault(
        act(acme, held["id"], "shipped", {"tracking_number": "T", "carrier": carrier}),
        400,
        "validation_error",
        "carrier",
    )


# --- reject ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["out_of_stock", "missing_sku", "wrong_address"])
@pytest.mark.parametrize("body", [None, {}, b""], ids=repr)
def test_a_rejection_needs_no_body(acme, shop, status, body):
    """Interface 4-6: a rejection has no body. Contract 10: an empty JSON object is accepted too."""
    _, held = one_fulfillment(acme, shop)
    done(act(acme, held["id"], status, body), status)


def test_out_of_stock_empties_the_warehouse_and_releases_reservations(acme, shop):
    """Contract 3: after *out of stock*, the warehouse has no stock of the variant, and the pull shows 0."""
    variant = new_variant(acme, stock=10)
    order = push(shop, {"variant_id": variant["id"], "quantity": 2})
    done(act(acme, held_by(acme, order)[0]["id"], "out_of_stock"), "out_of_stock")
    assert numbers(acme, variant["sku"]) == (0, 0)
    group = next(
        each
        for each in well(shop.get("variants", {"service_type": "ecommerce"}))
        if variant["id"] in each["variants"]
    )
    assert group["available_inventory"] == 0
    assert state_of(shop, order) == "exception"
    assert read(shop, order)["order_lines"][0]["quantity_rejected"] == 2


def test_out_of_stock_routes_again_to_the_next_supplier_with_stock(acme, rival, shop):
    """Contract 3: a line that names no supplier is routed to the next supplier that has stock."""
    sku = unique("TWIN")
    new_variant(acme, stock=5, sku=sku, wholesale_price=1)
    new_variant(rival, stock=5, sku=sku, wholesale_price=2)
    order = push(shop, {"sku": sku, "quantity": 2})
    first = held_by(acme, order)[0]
    done(act(acme, first["id"], "out_of_stock"), "out_of_stock")
    order = read(shop, order)
    assert [each["state"] for each in order["fulfillments"] if each["supplier_id"] == acme.id] == [
        "out_of_stock"
    ]
    second = held_by(rival, order)[0]
    assert (second["fulfillment_state"], second["lines"][0]["quantity"]) == ("new", 2)
    assert order["processing_state"] in ("received", "processing")
    assert numbers(rival, sku) == (5, 2)
    bring_to("shipped", rival, shop, order, second["id"])
    assert state_of(shop, order) == "completed"


def test_out_of_stock_without_another_supplier_is_an_exception(acme, rival, shop):
    """Contract 12: an order is in `exception` if a rejected line names its supplier.

    It is also in `exception` if no other supplier is a candidate for the line.
    """
    sku = unique("TWIN")
    new_variant(acme, stock=5, sku=sku)
    new_variant(rival, stock=5, sku=sku)
    order = push(shop, {"sku": sku, "supplier_id": acme.id, "quantity": 2})
    done(act(acme, held_by(acme, order)[0]["id"], "out_of_stock"), "out_of_stock")
    order = read(shop, order)
    assert order["processing_state"] == "exception"
    assert len(order["fulfillments"]) == 1, "a line that names its supplier must not be routed again"


def test_missing_sku_delists_the_variant_and_routes_again(acme, rival, shop):
    """Contract 3: the supplier's variant is delisted, and the line is routed again."""
    sku = unique("TWIN")
    mine = new_variant(acme, stock=5, sku=sku, wholesale_price=1)
    theirs = new_variant(rival, stock=5, sku=sku, wholesale_price=2)
    order = push(shop, {"sku": sku, "quantity": 2})
    done(act(acme, held_by(acme, order)[0]["id"], "missing_sku"), "missing_sku")
    order = read(shop, order)
    assert held_by(rival, order)[0]["fulfillment_state"] == "new"
    listed = [
        number
        for group in well(shop.get("variants", {"service_type": "ecommerce"}))
        for number in group["variants"]
    ]
    assert mine["id"] not in listed
    assert theirs["id"] in listed
    assert numbers(acme, sku)[1] == 0, "contract 12: missing SKU must release the reserved units"


def test_a_delisted_variant_is_listed_again_only_explicitly(acme, shop):
    """Contract 3: only an operator or an explicit `listed: true` lists the variant again.

    `listed` is a field of a variant's body and a column of an import.
    """
    variant = new_variant(acme, stock=5)
    order = push(shop, {"variant_id": variant["id"], "quantity": 1})
    act(acme, held_by(acme, order)[0]["id"], "missing_sku")

    def is_listed():
        groups = well(shop.get("variants", {"service_type": "ecommerce"}))
        return variant["id"] in [number for group in groups for number in group["variants"]]

    assert not is_listed()
    import_lines(acme, "sku,title", f"{variant['sku']},Another title")
    assert not is_listed()
    job = import_lines(acme, "sku,listed", f"{variant['sku']},true")
    assert job["status"] == "succeeded", job
    assert is_listed()


def test_a_wrong_address_is_never_routed_again_and_keeps_its_stock(acme, rival, shop):
    """Contract 3 and 12: the fulfillment is not routed again, and keeps its reserved units.

    The order waits in `exception`.
    """
    sku = unique("TWIN")
    new_variant(acme, stock=5, sku=sku, wholesale_price=1)
    new_variant(rival, stock=5, sku=sku, wholesale_price=2)
    order = push(shop, {"sku": sku, "quantity": 2})
    done(act(acme, held_by(acme, order)[0]["id"], "wrong_address"), "wrong_address")
    order = read(shop, order)
    assert order["processing_state"] == "exception"
    assert len(order["fulfillments"]) == 1
    assert numbers(acme, sku) == (5, 2)
    done(shop.post(f"orders/{order['id']}/cancel"), "order_canceled")
    assert numbers(acme, sku) == (5, 0)


def test_a_short_line_may_be_accepted_and_shipped(acme, shop):
    """Contract 4: the supplier decides about short units, and may ship them."""
    variant = new_variant(acme, stock=1)
    order = push(shop, {"variant_id": variant["id"], "quantity": 3})
    for held in held_by(acme, order):
        bring_to("shipped", acme, shop, order, held["id"])
    assert state_of(shop, order) == "completed"
    assert numbers(acme, variant["sku"]) == (0, 0)


# --- setStatus ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "left_out", [("supplier_id",), ("fulfillment_id",), ("supplier_id", "fulfillment_id")], ids=str
)
def test_the_ids_in_the_body_may_be_left_out(acme, shop, left_out):
    """Contract 12: `supplier_id` and `fulfillment_id` may be left out."""
    order, held = one_fulfillment(acme, shop)
    bring_to("canceling", acme, shop, order, held["id"])
    body = {"supplier_id": acme.id, "fulfillment_id": held["id"], "status": "canceled"}
    body = {name: value for name, value in body.items() if name not in left_out}
    done(acme.put(f"fulfillments/{held['id']}/setStatus", body), "canceled")


@pytest.mark.parametrize("field", ["supplier_id", "fulfillment_id"])
def test_the_ids_in_the_body_must_match(acme, shop, field):
    """Contract 12: ids in the body that differ from the path get 400 `id_mismatch`."""
    order, held = one_fulfillment(acme, shop)
    bring_to("canceling", acme, shop, order, held["id"])
    body = {"supplier_id": acme.id, "fulfillment_id": held["id"], "status": "canceled", field: 2_000_000_000}
    fault(acme.put(f"fulfillments/{held['id']}/setStatus", body), 400, "id_mismatch")
    assert fulfillment(acme, held["id"])["fulfillment_state"] == "canceling"


@pytest.mark.parametrize(
    "spelling", [REFUSED, "cancellation not allowed", "cancelation_not_allowed", "cancellation_not_allowed"]
)
def test_every_spelling_of_the_refusal_is_accepted(acme, shop, spelling):
    """Contract 10: `status` may have one or two l, and blanks or underscores."""
    order, held = one_fulfillment(acme, shop)
    bring_to("canceling", acme, shop, order, held["id"])
    done(answer_cancel(acme, held["id"], spelling), "cancelation_not_allowed")
    assert fulfillment(acme, held["id"])["fulfillment_state"] == REFUSED


@pytest.mark.parametrize("body", [{}, None, {"supplier_id": 1}], ids=repr)
def test_set_status_without_a_status_is_refused(acme, shop, body):
    """Contract 2: a missing required field gets `missing_parameter`."""
    _, held = one_fulfillment(acme, shop)
    if body:
        body = {"supplier_id": acme.id}
    fault(acme.put(f"fulfillments/{held['id']}/setStatus", body), 400, "missing_parameter", "status")


@pytest.mark.parametrize("status", ["new", "done", "", 5, None, [], "cancelling", "wrong_adress"], ids=repr)
def test_set_status_with_an_unknown_status_is_refused(acme, shop, status):
    """Interface 7: only `canceled` and `cancelation not allowed` are allowed."""
    _, held = one_fulfillment(acme, shop)
    answer = answer_cancel(acme, held["id"], status)
    fault(answer, 400, ("validation_error", "missing_parameter"), "status")
    assert status in ("", None) or REFUSED in answer.text, "the message must name the allowed values"


@pytest.mark.parametrize("status", ["done", "new", "canceling", "SHIPPED", "cancelation%20not%20allowed"])
def test_an_unknown_status_path_is_refused(acme, shop, status):
    """Contract 2: the answer is a clear 4xx error in the envelope, and nothing changes."""
    _, held = one_fulfillment(acme, shop)
    answer = act(acme, held["id"], status, {"tracking_number": "T"})
    assert answer.status in (400, 404, 409), answer
    assert answer.json["success"] is False
    assert fulfillment(acme, held["id"])["fulfillment_state"] == "new"


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
def test_a_status_update_is_a_put(acme, shop, method):
    """Interface 4: the method is PUT. Contract 2: other methods get 405 `method_not_allowed`."""
    _, held = one_fulfillment(acme, shop)
    fault(acme.request(method, f"fulfillments/{held['id']}/setStatus/accepted"), 405, "method_not_allowed")


def test_reservations_are_kept_while_canceling_and_given_back_when_canceled(acme, shop):
    """Contract 12: units stay reserved in `canceling`, and are released by `canceled`."""
    variant = new_variant(acme, stock=5)
    order = push(shop, {"variant_id": variant["id"], "quantity": 2})
    held = held_by(acme, order)[0]
    bring_to("canceling", acme, shop, order, held["id"])
    assert numbers(acme, variant["sku"]) == (5, 2)
    done(answer_cancel(acme, held["id"], "canceled"), "canceled")
    assert numbers(acme, variant["sku"]) == (5, 0)
