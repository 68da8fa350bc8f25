"""Paths that existing clients use: parcels, partial rejections, returns and invoices (contract 10)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from .http_client import digits, done, fault, unique, well
from .steps import (
    act,
    bring_to,
    fulfillment,
    held_by,
    new_variant,
    numbers,
    one_fulfillment,
    push,
    read,
    state_of,
)

NOBODY = 2_000_000_000


@pytest.fixture
def pair(acme, shop):
    """Create an accepted fulfillment with two lines of 3 and 2 units.

    Return the order, the fulfillment and the two variants.
    """
    one = new_variant(acme, stock=10, upc=digits(12), ean=digits(13))
    two = new_variant(acme, stock=10)
    order = push(
        shop,
        *[{"sku": each["sku"], "supplier_id": acme.id, "quantity": n} for each, n in ((one, 3), (two, 2))],
    )
    held = held_by(acme, order)[0]
    bring_to("accepted", acme, shop, order, held["id"])
    return order, held, (one, two)


def quantities(supplier, held, field):
    return {line["sku"]: line[f"quantity_{field}"] for line in fulfillment(supplier, held["id"])["lines"]}


# --- invoice -----------------------------------------------------------------------------------------------


def test_an_invoice_id_is_saved(acme, shop):
    """Contract 10 and 12: `PUT …/fulfillments/{fulfillment_id}` saves an `invoice_id`, which answers show.

    The code is `invoice_saved`.
    """
    _, held = one_fulfillment(acme, shop)
    done(acme.put(f"fulfillments/{held['id']}", {"invoice_id": "INV-1"}), "invoice_saved")
    assert fulfillment(acme, held["id"])["invoice_id"] == "INV-1"
    assert acme.put(f"fulfillments/{held['id']}", {"invoice_id": "INV-1"}).json["code"] in (
        "invoice_saved",
        "unchanged",
    )
    done(acme.put(f"fulfillments/{held['id']}", {"invoice_id": "INV-2"}), "invoice_saved")
    assert fulfillment(acme, held["id"])["invoice_id"] == "INV-2"


def test_an_invoice_without_an_id_is_refused(acme, shop):
    """Contract 2: a missing required field gets `missing_parameter`."""
    _, held = one_fulfillment(acme, shop)
    fault(acme.put(f"fulfillments/{held['id']}", {}), 400, "missing_parameter", "invoice_id")


@pytest.mark.parametrize("value", [5, [], {}, "x" * 5000], ids=lambda value: repr(value)[:10])
def test_an_invalid_invoice_id_is_refused(acme, shop, value):
    """Contract 2: the answer is 400 and names the field."""
    _, held = one_fulfillment(acme, shop)
    fault(
        acme.put(f"fulfillments/{held['id']}", {"invoice_id": value}), 400, "validation_error", "invoice_id"
    )


# --- parcels -----------------------------------------------------------------------------------------------


def parcel(number, *items):
    return {"trackingNumber": number, "items": list(items)}


def parcels(supplier, held, *each):
    return supplier.post("fulfillments/shipments", {"id": held["id"], "shipments": list(each)})


@pytest.mark.parametrize("by", ["sku", "upc", "ean"])
def test_several_parcels_are_shipped_at_once_line_by_line(acme, shop, pair, by):
    """Contract 10: one request can ship several parcels of a fulfillment. Items name a sku, upc or ean.

    Contract 12: the code is `shipped`.
    """
    order, held, (one, two) = pair
    answer = parcels(
        acme,
        held,
        parcel("P-1", {by: one[by], "quantity": 1}, {"sku": two["sku"], "quantity": 2}),
        parcel("P-2", {by: one[by], "quantity": 2}),
    )
    done(answer, "shipped")
    after = fulfillment(acme, held["id"])
    assert after["fulfillment_state"] == "shipped"
    assert sorted(each["tracking_number"] for each in after["shipments"]) == ["P-1", "P-2"]
    assert quantities(acme, held, "shipped") == {one["sku"]: 3, two["sku"]: 2}
    assert state_of(shop, order) == "completed"
    assert numbers(acme, one["sku"]) == (7, 0)


def test_some_parcels_leave_the_rest_open(acme, shop, pair):
    """Contract 3: a fulfillment stays `accepted` while some of its units are open."""
    order, held, (one, _) = pair
    done(parcels(acme, held, parcel("P-1", {"sku": one["sku"], "quantity": 1})), "shipped")
    assert fulfillment(acme, held["id"])["fulfillment_state"] == "accepted"
    assert state_of(shop, order) == "partially_shipped"


def test_the_same_parcels_again_are_unchanged(acme, pair):
    """Contract 12: a repetition of the same parcels is answered with `unchanged`."""
    _, held, (one, _) = pair
    same = parcel("P-1", {"sku": one["sku"], "quantity": 1})
    done(parcels(acme, held, same), "shipped")
    done(parcels(acme, held, same), "unchanged")
    assert quantities(acme, held, "shipped")[one["sku"]] == 1


def test_one_parcel_named_twice_is_one_parcel_or_an_error(acme, pair):
    """Contract, head: no input is ignored silently.

    If the request succeeds, it ships the units of both items.
    """
    _, held, (one, _) = pair
    item = {"sku": one["sku"], "quantity": 1}
    answer = parcels(acme, held, parcel("P-1", item), parcel("P-1", item))
    if answer.status == 200:
        assert quantities(acme, held, "shipped")[one["sku"]] == 2
    else:
        fault(answer, 400, "validation_error")
        assert quantities(acme, held, "shipped")[one["sku"]] == 0


def test_more_than_is_left_ships_nothing(acme, pair):
    """Contract 3: no more units than ordered are shipped. All parcels of a request are one transaction."""
    _, held, (one, two) = pair
    answer = parcels(
        acme,
        held,
        parcel("P-1", {"sku": two["sku"], "quantity": 1}),
        parcel("P-2", {"sku": one["sku"], "quantity": 4}),
    )
    assert answer.status in (400, 409), answer
    fault(answer, answer.status, ("validation_error", "invalid_transition"))
    assert quantities(acme, held, "shipped") == {one["sku"]: 0, two["sku"]: 0}


@pytest.mark.parametrize("state", ["new", "canceling", "canceled", "out_of_stock"])
def test_parcels_of_a_fulfillment_that_cannot_be_shipped_are_refused(acme, shop, state):
    """Contract 3: a move that the table does not allow gets 409 `invalid_transition`."""
    order, held = one_fulfillment(acme, shop)
    bring_to(state, acme, shop, order, held["id"])
    answer = parcels(acme, held, parcel("P", {"sku": held["lines"][0]["sku"], "quantity": 1}))
    fault(answer, 409, "invalid_transition")


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ({}, "id"),
        ({"id": "HELD"}, "shipments"),
        ({"shipments": []}, "id"),
        ({"id": "HELD", "shipments": "x"}, "shipments"),
        ({"id": "HELD", "shipments": []}, "shipments"),
        ({"id": "HELD", "shipments": [5]}, "shipments[0]"),
        (
            {"id": "HELD", "shipments": [{"items": [{"sku": "SKU", "quantity": 1}]}]},
            "shipments[0].trackingNumber",
        ),
        (
            {"id": "HELD", "shipments": [{"trackingNumber": 5, "items": [{"sku": "SKU", "quantity": 1}]}]},
            "shipments[0].trackingNumber",
        ),
        ({"id": "HELD", "shipments": [{"trackingNumber": "P"}]}, "shipments[0].items"),
        ({"id": "HELD", "shipments": [{"trackingNumber": "P", "items": []}]}, "shipments[0].items"),
        ({"id": "HELD", "shipments": [{"trackingNumber": "P", "items": [5]}]}, "shipments[0].items[0]"),
        (
            {"id": "HELD", "shipments": [{"trackingNumber": "P", "items": [{"quantity": 1}]}]},
            "shipments[0].items[0]",
        ),
        (
            {"id": "HELD", "shipments": [{"trackingNumber": "P", "items": [{"sku": "NO", "quantity": 1}]}]},
            "shipments[0].items[0]",
        ),
        (
            {"id": "HELD", "shipments": [{"trackingNumber": "P", "items": [{"sku": "SKU", "quantity": 0}]}]},
            "shipments[0].items[0].quantity",
        ),
        (
            {
                "id": "HELD",
                "shipments": [{"trackingNumber": "P", "items": [{"sku": "SKU", "quantity": "x"}]}],
            },
            "shipments[0].items[0].quantity",
        ),
        (
            {"id": "HELD", "shipments": [{"trackingNumber": "P", "items": [{"sku": "SKU"}]}]},
            "shipments[0].items[0].quantity",
        ),
    ],
    ids=str,
)
def test_wrong_parcels_are_refused(acme, pair, body, at):
    """Contract 2: the answer is 400, with the path of the wrong field."""
    _, held, (one, _) = pair
    answer = acme.post("fulfillments/shipments", filled(body, held["id"], one["sku"]))
    found = fault(answer, 400, ("validation_error", "missing_parameter"))
    assert any(error["field"].startswith(at) for error in found["errors"]), answer
    assert fulfillment(acme, held["id"])["shipments"] == []


def filled(body, number, sku):
    """Return the body with the fulfillment's id instead of HELD, and the SKU instead of `SKU`."""
    if isinstance(body, dict):
        return {key: filled(value, number, sku) for key, value in body.items()}
    if isinstance(body, list):
        return [filled(value, number, sku) for value in body]
    return {"HELD": number, "SKU": sku}.get(body, body) if isinstance(body, str) else body


def test_parcels_of_another_suppliers_fulfillment_are_refused(acme, rival, shop):
    """Contract 1: an object of another party looks like an object that does not exist."""
    _, held = one_fulfillment(rival, shop)
    item = {"sku": held["lines"][0]["sku"], "quantity": 1}
    theirs, nobodys = parcels(acme, held, parcel("P", item)), parcels(acme, {"id": NOBODY}, parcel("P", item))
    assert theirs.status == nobodys.status == 404, theirs
    assert theirs.json["code"] == nobodys.json["code"]


# --- rejections --------------------------------------------------------------------------------------------


def rejection(held, *items, **more):
    return {"id": held["id"], "items": list(items)} | more


def test_part_of_a_line_is_refused(acme, shop, pair):
    """Contract 10: a supplier may reject some units of a line. Contract 12: the code is `lines_rejected`.

    The order is in `exception` because of the rejected units.
    """
    order, held, (one, two) = pair
    answer = acme.post("fulfillments/rejections", [rejection(held, {"sku": one["sku"], "quantity": 1})])
    done(answer, "lines_rejected")
    assert quantities(acme, held, "rejected") == {one["sku"]: 1, two["sku"]: 0}
    after = fulfillment(acme, held["id"])
    assert after["fulfillment_state"] == "accepted"
    assert after["rejections"], "contract 12: a fulfillment must show its `rejections`"
    assert state_of(shop, order) == "exception"
    assert [line["quantity_rejected"] for line in read(shop, order)["order_lines"]] == [1, 0]


def test_the_rest_after_a_partial_rejection_is_shipped(acme, shop, pair):
    """Contract 3: when nothing is open and something was shipped, the state is `shipped`."""
    _, held, (one, two) = pair
    acme.post("fulfillments/rejections", [rejection(held, {"sku": one["sku"], "quantity": 1})])
    done(act(acme, held["id"], "shipped", {"tracking_number": "T"}), "shipped")
    assert quantities(acme, held, "shipped") == {one["sku"]: 2, two["sku"]: 2}
    assert fulfillment(acme, held["id"])["fulfillment_state"] == "shipped"


@pytest.mark.parametrize("by", ["sku", "upc", "ean"])
def test_out_of_stock_of_part_of_a_line_empties_the_warehouse_too(acme, pair, by):
    """Contract 3: after *out of stock*, even for a part of a line, the warehouse has no stock on hand."""
    _, held, (one, two) = pair
    done(
        acme.post(
            "fulfillments/rejections", [rejection(held, {by: one[by], "quantity": 1}, reason="out_of_stock")]
        ),
        "lines_rejected",
    )
    assert numbers(acme, one["sku"])[0] == 0
    assert numbers(acme, two["sku"]) == (10, 2)


@pytest.mark.parametrize("reason", [None, "out_of_stock", "missing_sku", "wrong_address"])
def test_a_fulfillment_with_all_lines_refused_has_the_reason_as_its_state(acme, pair, reason):
    """Contract 12: the reason is `out_of_stock` (the default), `missing_sku` or `wrong_address`.

    If all units are rejected, the reason is the state of the fulfillment.
    """
    _, held, (one, two) = pair
    items = [{"sku": one["sku"], "quantity": 3}, {"sku": two["sku"], "quantity": 2}]
    more = {"reason": reason} if reason else {}
    done(acme.post("fulfillments/rejections", [rejection(held, *items, **more)]), "lines_rejected")
    assert fulfillment(acme, held["id"])["fulfillment_state"] == (reason or "out_of_stock")


def test_a_repeated_snapshot_refuses_no_more_units(acme, pair):
    """Contract 10: without `rejectId`, the array has the sums of all units rejected until now."""
    _, held, (one, _) = pair
    same = [rejection(held, {"sku": one["sku"], "quantity": 1})]
    done(acme.post("fulfillments/rejections", same), "lines_rejected")
    assert acme.post("fulfillments/rejections", same).status == 200
    assert quantities(acme, held, "rejected")[one["sku"]] == 1
    assert (
        acme.post("fulfillments/rejections", [rejection(held, {"sku": one["sku"], "quantity": 2})]).status
        == 200
    )
    assert quantities(acme, held, "rejected")[one["sku"]] == 2


def test_a_reject_id_seen_before_is_ignored_and_another_adds(acme, pair):
    """Contract 10: a rejection with a known `rejectId` is ignored."""
    _, held, (one, _) = pair
    first, second = unique("R"), unique("R")
    for name, expected in ((first, 1), (first, 1), (second, 2)):
        answer = acme.post(
            "fulfillments/rejections", [rejection(held, {"sku": one["sku"], "quantity": 1}, rejectId=name)]
        )
        assert answer.status == 200, answer
        assert quantities(acme, held, "rejected")[one["sku"]] == expected


def test_a_partly_refused_line_is_routed_again(acme, rival, shop):
    """Contract 10: rejected units are routed again."""
    sku = unique("TWIN")
    new_variant(acme, stock=5, sku=sku, wholesale_price=1)
    new_variant(rival, stock=5, sku=sku, wholesale_price=2)
    order = push(shop, {"sku": sku, "quantity": 3})
    held = held_by(acme, order)[0]
    act(acme, held["id"], "accepted", {})
    done(
        acme.post("fulfillments/rejections", [rejection(held, {"sku": sku, "quantity": 1})]), "lines_rejected"
    )
    other = held_by(rival, read(shop, order))
    assert [line["quantity"] for line in other[0]["lines"]] == [1]
    act(acme, held["id"], "shipped", {"tracking_number": "T"})
    bring_to("shipped", rival, shop, order, other[0]["id"])
    assert state_of(shop, order) == "completed"


def test_several_fulfillments_are_answered_for_each(acme, shop, pair):
    """Contract 3: `rejections` has a result for each element, because each order is one transaction."""
    _, held, (one, _) = pair
    _, other = one_fulfillment(acme, shop)
    answer = acme.post(
        "fulfillments/rejections",
        [
            rejection(held, {"sku": one["sku"], "quantity": 1}),
            rejection({"id": NOBODY}, {"sku": one["sku"], "quantity": 1}),
            rejection(other, {"sku": other["lines"][0]["sku"], "quantity": 2}),
        ],
    )
    assert answer.status in (200, 404), answer
    assert str(NOBODY) in answer.text or "[1]" in answer.text, "the answer must name the wrong element"
    if answer.status == 200:
        assert quantities(acme, held, "rejected")[one["sku"]] == 1
        assert fulfillment(acme, other["id"])["fulfillment_state"] == "out_of_stock"


@pytest.mark.parametrize(
    "body",
    [
        {},
        "x",
        [5],
        [{}],
        [{"id": "HELD"}],
        [{"items": []}],
        [{"id": "HELD", "items": "x"}],
        [{"id": "HELD", "items": [5]}],
        [{"id": "HELD", "items": [{"quantity": 1}]}],
        [{"id": "HELD", "items": [{"sku": "SKU"}]}],
        [{"id": "HELD", "items": [{"sku": "NO", "quantity": 1}]}],
        [{"id": "HELD", "items": [{"sku": "SKU", "quantity": -1}]}],
        [{"id": "HELD", "items": [{"sku": "SKU", "quantity": 99}]}],
        [{"id": "HELD", "items": [{"sku": "SKU", "quantity": Decimal("0.5")}]}],
        [{"id": "HELD", "reason": "bored", "items": [{"sku": "SKU", "quantity": 1}]}],
        [{"id": "HELD", "rejectId": [], "items": [{"sku": "SKU", "quantity": 1}]}],
    ],
    ids=str,
)
def test_wrong_rejections_are_refused(acme, pair, body):
    """Contract 2 and 3: the answer or the element's result has a clear error, and no unit is rejected."""
    _, held, (one, two) = pair
    answer = acme.post("fulfillments/rejections", filled(body, held["id"], one["sku"]))
    if answer.status == 200:
        assert (
            "validation_error" in answer.text
            or "missing_parameter" in answer.text
            or "not_found" in answer.text
        ), answer
    else:
        fault(
            answer,
            answer.status,
            ("validation_error", "missing_parameter", "invalid_transition", "not_found", "invalid_json"),
        )
        assert answer.status in (400, 404, 409)
    assert quantities(acme, held, "rejected") == {one["sku"]: 0, two["sku"]: 0}


# --- returns -----------------------------------------------------------------------------------------------


def give_back(supplier, held, *lines, **more):
    return supplier.post(
        f"fulfillments/{held['id']}/returns", {"reason": "broken", "return_lines": list(lines)} | more
    )


@pytest.fixture
def shipped(acme, shop, pair):
    order, held, variants = pair
    done(act(acme, held["id"], "shipped", {"tracking_number": "T"}), "shipped")
    return order, held, variants


def test_returned_goods_are_recorded(acme, shipped):
    """Contract 10: a return records units that came back after their shipment.

    Contract 12: the code is `return_recorded`. The fulfillment shows `returns` and `quantity_returned`.
    """
    _, held, (one, two) = shipped
    done(give_back(acme, held, {"sku": one["sku"], "quantity": 2}), "return_recorded")
    after = fulfillment(acme, held["id"])
    assert after["fulfillment_state"] == "shipped"
    assert len(after["returns"]) == 1
    assert after["returns"][0]["reason"] == "broken"
    assert quantities(acme, held, "returned") == {one["sku"]: 2, two["sku"]: 0}


def test_the_returned_units_never_exceed_the_shipped_units(acme, shipped):
    """Contract 10: no more units are returned than were shipped."""
    _, held, (one, _) = shipped
    for lines in ([4], [2, 2]):
        answer = give_back(acme, held, *[{"sku": one["sku"], "quantity": quantity} for quantity in lines])
        assert answer.status in (400, 409), answer
        if answer.status == 400:
            assert answer.json["errors"][0]["field"].startswith("return_lines"), answer
    done(give_back(acme, held, {"sku": one["sku"], "quantity": 2}), "return_recorded")
    answer = give_back(acme, held, {"sku": one["sku"], "quantity": 2})
    assert answer.status in (400, 409), answer
    assert quantities(acme, held, "returned")[one["sku"]] == 2


def test_a_return_id_seen_before_is_ignored(acme, shipped):
    """Contract 10: a return with a known `return_id` is ignored."""
    _, held, (one, _) = shipped
    name = unique("RET")
    done(give_back(acme, held, {"sku": one["sku"], "quantity": 1}, return_id=name), "return_recorded")
    assert give_back(acme, held, {"sku": one["sku"], "quantity": 1}, return_id=name).status == 200
    assert quantities(acme, held, "returned")[one["sku"]] == 1
    done(
        give_back(acme, held, {"sku": one["sku"], "quantity": 1}, return_id=unique("RET")), "return_recorded"
    )
    assert quantities(acme, held, "returned")[one["sku"]] == 2


def test_units_cannot_be_returned_before_their_shipment(acme, pair):
    """Contract 10: only shipped units can be returned."""
    _, held, (one, _) = pair
    answer = give_back(acme, held, {"sku": one["sku"], "quantity": 1})
    assert answer.status in (400, 409), answer
    fault(answer, answer.status, ("invalid_transition", "validation_error"))


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"reason": "x"},
        {"return_lines": [{"sku": "SKU", "quantity": 1}], "reason": 5},
        {"reason": "x", "return_lines": []},
        {"reason": "x", "return_lines": "x"},
        {"reason": "x", "return_lines": [5]},
        {"reason": "x", "return_lines": [{"quantity": 1}]},
        {"reason": "x", "return_lines": [{"sku": "SKU"}]},
        {"reason": "x", "return_lines": [{"sku": "NO", "quantity": 1}]},
        {"reason": "x", "return_lines": [{"sku": "SKU", "quantity": 0}]},
        {"reason": "x", "return_lines": [{"sku": "SKU", "quantity": "1x"}]},
        {"reason": "x", "return_id": [], "return_lines": [{"sku": "SKU", "quantity": 1}]},
    ],
    ids=str,
)
def test_wrong_returns_are_refused(acme, shipped, body):
    """Contract 2: the answer is 400 and names the field."""
    _, held, (one, two) = shipped
    answer = acme.post(f"fulfillments/{held['id']}/returns", filled(body, held["id"], one["sku"]))
    found = fault(answer, 400, ("validation_error", "missing_parameter"))
    assert found["errors"], answer
    assert quantities(acme, held, "returned") == {one["sku"]: 0, two["sku"]: 0}


def test_a_return_does_not_reopen_the_order(acme, shop, shipped):
    """Contract 4: an order stays `completed` when nothing is open and something was shipped."""
    order, held, (one, _) = shipped
    give_back(acme, held, {"sku": one["sku"], "quantity": 1})
    assert state_of(shop, order) == "completed"
    assert well(acme.get(f"fulfillments/{held['id']}"))["lines"][0]["quantity_shipped"] == 3
