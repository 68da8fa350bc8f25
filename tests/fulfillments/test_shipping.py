"""Parcels: whole, split, by line, several at once, in the spellings that clients use."""

from __future__ import annotations

import pytest

from orders.models import Order
from tests.factories import set_stock
from tests.orders.fixtures import line_units, order_state, state_of, status


@pytest.fixture
def accepted(work, acme_api):
    assert acme_api.put(status(work, "accepted")).status_code == 200
    return work


@pytest.fixture
def ship(acme_api):
    def ship_one(work, tracking_number="T-1", **body):
        return acme_api.put(status(work, "shipped"), {"tracking_number": tracking_number, **body})

    return ship_one


def refused(answer, status_code: int, code: str, field: str | None = None) -> str:
    """Check the refusal's code and field; return its message."""
    body = answer.json()
    assert (answer.status_code, body["code"], body["success"]) == (status_code, code, False)
    if field is not None:
        assert body["errors"][0]["field"] == field
    message: str = body["message"]
    return message


def test_a_parcel_takes_the_line_that_a_parcel_of_the_same_moment_leaves(
    acme, a_variant, push, work_of, acme_api, ship, monkeypatch
):
    """Two lines have the sku. Another parcel takes the first line before this request locks the order."""
    a_variant(acme, "LAMP", stock=10)
    work = work_of(push({"sku": "LAMP", "quantity": 2}, {"sku": "LAMP", "quantity": 2}), acme)
    acme_api.put(status(work, "accepted"))
    lamps, unpatched = [{"sku": "LAMP", "quantity": 2}], Order.change

    def change_after_another_parcel(order, *, by):
        monkeypatch.setattr(Order, "change", unpatched)
        assert ship(work, "T-1", lines=lamps).status_code == 200
        return order.change(by=by)

    monkeypatch.setattr(Order, "change", change_after_another_parcel)

    assert ship(work, "T-2", lines=lamps).status_code == 200
    assert [line.shipped for line in work.lines.all()] == [2, 2]


def test_a_parcel_without_lines_takes_all_open_units(accepted, ship, acme_api):
    assert ship(accepted, carrier="UPS").json() == {
        "success": True,
        "code": "shipped",
        "message": "Parcel T-1 is shipped.",
        "warnings": [],
    }

    [parcel] = acme_api.get(f"fulfillments/{accepted.pk}").json()["shipments"]
    assert (parcel["tracking_number"], parcel["carrier"]) == ("T-1", "UPS")
    assert [(each["sku"], each["quantity"]) for each in parcel["items"]] == [("LAMP", 3), ("MAT", 2)]
    assert order_state(accepted.order) == "completed"


def test_a_split_shipment_is_the_same_call_once_for_each_parcel(accepted, ship, shop_api):
    assert ship(accepted, "T-1").json()["code"] == "shipped"
    assert ship(accepted, "T-2").json()["code"] == "shipped"
    assert ship(accepted, "T-2").json()["code"] == "unchanged"
    assert ship(accepted, "T-1").json()["code"] == "unchanged"

    [shown] = shop_api.get(f"orders/{accepted.order_id}").json()["fulfillments"]
    assert shown["tracking_numbers"] == ["T-1", "T-2"]
    assert accepted.lines.get(variant__sku="LAMP").shipped == 3


def test_a_split_by_line_keeps_the_rest_open(accepted, ship):
    assert ship(accepted, "T-1", lines=[line_units(accepted, "LAMP", 1)]).json()["code"] == "shipped"
    assert (state_of(accepted), order_state(accepted.order)) == ("accepted", "partially_shipped")

    assert ship(accepted, "T-2", lines=[line_units(accepted, "LAMP", 2)]).json()["code"] == "shipped"
    assert state_of(accepted) == "accepted"

    assert ship(accepted, "T-3").json()["code"] == "shipped"
    assert (state_of(accepted), order_state(accepted.order)) == ("shipped", "completed")


def test_a_repeated_parcel_of_a_split_is_recognized(accepted, ship):
    lines = [line_units(accepted, "LAMP", 1)]
    ship(accepted, "T-1", lines=lines)

    assert ship(accepted, "T-1", lines=lines).json()["code"] == "unchanged"
    assert ship(accepted, "T-1").json()["code"] == "unchanged"
    message = refused(
        ship(accepted, "T-1", lines=[line_units(accepted, "MAT", 1)]), 409, "invalid_transition"
    )
    assert "T-1" in message
    assert "The fulfillment is 'accepted'; from there it can be shipped, " in message
    message = refused(ship(accepted, "T-1", carrier="UPS"), 409, "invalid_transition")
    assert "The fulfillment is 'accepted'; from there it can be shipped, " in message
    assert accepted.lines.get(variant__sku="MAT").shipped == 0


def test_a_repeated_accept_with_another_number_is_refused_with_the_state(accepted, acme_api):
    answer = acme_api.put(status(accepted, "accepted"), {"tracking_number": "Q"})
    message = refused(answer, 409, "invalid_transition")
    assert "it cannot be repeated with 'Q'. The fulfillment is 'accepted'; from there it can be" in message


@pytest.mark.parametrize("since", ["asked back", "wrong address"])
def test_a_repeated_parcel_is_recognized_after_any_later_change(since, accepted, ship, acme_api, shop_api):
    """The client missed the answer. The retailer may have canceled the other units before the repetition."""
    lines = [line_units(accepted, "LAMP", 1)]
    ship(accepted, "T-1", lines=lines)
    if since == "asked back":
        shop_api.post(f"orders/{accepted.order_id}/cancel")
    else:
        acme_api.put(status(accepted, "wrong_address"))
    parcels = [{"trackingNumber": "T-1", "items": [{"sku": "LAMP", "quantity": 1}]}]

    assert ship(accepted, "T-1", lines=lines).json()["code"] == "unchanged"
    again = acme_api.post("fulfillments/shipments", {"id": accepted.pk, "shipments": parcels})
    assert again.json()["code"] == "unchanged"
    message = refused(
        ship(accepted, "T-1", lines=[line_units(accepted, "MAT", 1)]), 409, "invalid_transition"
    )
    assert "(LAMP); it cannot be repeated with 1 of line" in message
    refused(ship(accepted, "T-2", lines=lines), 409, "invalid_transition")


def test_the_same_line_twice_in_a_parcel_adds_up(accepted, ship):
    line = line_units(accepted, "LAMP", 1)

    assert ship(accepted, lines=[line, line]).json()["code"] == "shipped"

    assert accepted.lines.get(variant__sku="LAMP").shipped == 2


def test_more_than_is_open_is_refused_with_the_numbers(accepted, ship):
    ship(accepted, "T-1", lines=[line_units(accepted, "LAMP", 2)])

    message = refused(
        ship(accepted, "T-2", lines=[line_units(accepted, "LAMP", 2)]),
        400,
        "validation_error",
        "lines[0].quantity",
    )

    assert "1 " in message
    assert "2 " in message
    assert accepted.shipments.count() == 1


def test_a_line_of_another_fulfillment_is_refused(accepted, ship, rival, a_variant, push, work_of):
    a_variant(rival, "RUG", stock=5)
    other = work_of(push({"sku": "RUG", "quantity": 1}), rival)

    answer = ship(accepted, lines=[line_units(other, "RUG", 1)])

    refused(answer, 400, "validation_error", "lines[0].id")
    assert state_of(accepted) == "accepted"


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({}, "missing_parameter", "tracking_number"),
        ({"tracking_number": ""}, "missing_parameter", "tracking_number"),
        ({"tracking_number": None}, "missing_parameter", "tracking_number"),
        ({"tracking_number": 5}, "validation_error", "tracking_number"),
        ({"tracking_number": ["T-1", "T-2"]}, "validation_error", "tracking_number"),
        ({"tracking_number": "x" * 101}, "validation_error", "tracking_number"),
        ({"tracking_number": "a\x00b"}, "validation_error", "tracking_number"),
        ({"tracking_number": "T-1", "data": "T-2"}, "validation_error", "data"),
        ({"tracking_number": "T-1", "carrier": 5}, "validation_error", "carrier"),
        ({"tracking_number": "T-1", "lines": []}, "validation_error", "lines"),
        ({"tracking_number": "T-1", "lines": {}}, "validation_error", "lines"),
        ({"tracking_number": "T-1", "lines": "all"}, "validation_error", "lines"),
        ({"tracking_number": "T-1", "lines": [5]}, "validation_error", "lines[0]"),
        ({"tracking_number": "T-1", "lines": [{"id": 1}]}, "missing_parameter", "lines[0].quantity"),
        ({"tracking_number": "T-1", "lines": [{"quantity": 1}]}, "missing_parameter", "lines[0].id"),
        (
            {"tracking_number": "T-1", "lines": [{"id": 1, "quantity": 0}]},
            "validation_error",
            "lines[0].quantity",
        ),
        (
            {"tracking_number": "T-1", "lines": [{"id": 1, "quantity": 1.5}]},
            "validation_error",
            "lines[0].quantity",
        ),
        ({"tracking_number": "T-1", "lines": [{"id": 0, "quantity": 1}]}, "validation_error", "lines[0].id"),
        (
            {"tracking_number": "T-1", "lines": [{"id": 2**63, "quantity": 1}]},
            "validation_error",
            "lines[0].id",
        ),
    ],
)
def test_a_wrong_parcel_names_the_fault_and_ships_nothing(body, code, field, accepted, acme_api):
    refused(acme_api.put(status(accepted, "shipped"), body), 400, code, field)
    assert state_of(accepted) == "accepted"
    assert accepted.shipments.count() == 0


def test_the_body_is_read_before_the_state_is_judged(work, acme_api):
    """For a fulfillment that cannot be shipped yet, the missing tracking number is reported first."""
    refused(acme_api.put(status(work, "shipped")), 400, "missing_parameter", "tracking_number")
    refused(acme_api.put(status(work, "shipped"), {"data": "T"}), 409, "invalid_transition")


@pytest.mark.parametrize("value", ["accepted", "shipped"])
def test_a_tracking_number_is_also_called_data(value, work, acme_api):
    acme_api.put(status(work, "accepted"), {"data": "T-7"})
    if value == "shipped":
        acme_api.put(status(work, "shipped"), {"data": "T-7"})

    shown = acme_api.get(f"fulfillments/{work.pk}").json()
    assert shown["tracking_number"] == "T-7"
    assert [each["tracking_number"] for each in shown["shipments"]] == (["T-7"] if value == "shipped" else [])


@pytest.mark.parametrize("body", [None, {}, b"", b"{}", {"tracking_number": None}, {"tracking_number": ""}])
def test_accepting_requires_nothing(body, work, acme_api):
    assert acme_api.put(status(work, "accepted"), body).json()["code"] == "accepted"


def test_accepting_again_keeps_the_tracking_number(work, acme_api):
    acme_api.put(status(work, "accepted"), {"tracking_number": "T-1"})

    assert acme_api.put(status(work, "accepted")).json()["code"] == "unchanged"
    assert acme_api.put(status(work, "accepted"), {"tracking_number": "T-1"}).json()["code"] == "unchanged"
    assert acme_api.get(f"fulfillments/{work.pk}").json()["tracking_number"] == "T-1"


def test_shipping_takes_the_units_from_on_hand_and_from_reserved(accepted, ship):
    stock = accepted.lines.get(variant__sku="LAMP").variant.stock
    ship(accepted, "T-1", lines=[line_units(accepted, "LAMP", 2)])
    assert stock.values_list("on_hand", "reserved").get() == (8, 1)
    ship(accepted, "T-2")
    assert stock.values_list("on_hand", "reserved").get() == (7, 0)


def test_a_shipment_never_makes_stock_negative(accepted, ship):
    stock = accepted.lines.get(variant__sku="LAMP").variant.stock
    set_stock(on_hand=1, pk=stock.get().pk)

    ship(accepted)

    assert stock.values_list("on_hand", "reserved").get() == (0, 0)


# --- Several parcels at once (contract 10) -------------------------------------------------------


def parcels(work, *contents):
    return {
        "id": work.pk,
        "shipments": [
            {"trackingNumber": number, "items": [{"sku": sku, "quantity": units} for sku, units in items]}
            for number, items in contents
        ],
    }


def test_several_parcels_ship_at_once(accepted, acme_api):
    body = parcels(accepted, ("T-1", [("LAMP", 1)]), ("T-2", [("LAMP", 1), ("MAT", 2)]))

    assert acme_api.post("fulfillments/shipments", body).json()["code"] == "shipped"
    assert state_of(accepted) == "accepted"
    assert [
        [(item["sku"], item["quantity"]) for item in each["items"]]
        for each in acme_api.get(f"fulfillments/{accepted.pk}").json()["shipments"]
    ] == [[("LAMP", 1)], [("LAMP", 1), ("MAT", 2)]]

    assert acme_api.post("fulfillments/shipments", body).json()["code"] == "unchanged"
    more = parcels(accepted, ("T-1", [("LAMP", 1)]), ("T-3", [("LAMP", 1)]))
    assert acme_api.post("fulfillments/shipments", more).json()["code"] == "shipped"
    assert (state_of(accepted), accepted.shipments.count()) == ("shipped", 3)
    assert acme_api.post("fulfillments/shipments", body).json()["code"] == "unchanged"


@pytest.mark.parametrize("name", ["upc", "ean"])
def test_an_item_may_be_named_by_its_code(name, accepted, acme_api):
    code = {"upc": "036000291452", "ean": "4006381333931"}[name]
    variant = accepted.lines.get(variant__sku="LAMP").variant
    setattr(variant, name, code)
    variant.save(update_fields=[name])
    body = {
        "id": accepted.pk,
        "shipments": [{"tracking_number": "T-1", "items": [{name: code, "quantity": 3}]}],
    }

    assert acme_api.post("fulfillments/shipments", body).json()["code"] == "shipped"
    assert accepted.lines.get(variant__sku="LAMP").shipped == 3


def test_all_parcels_of_a_call_ship_or_no_parcel(accepted, acme_api):
    body = parcels(accepted, ("T-1", [("LAMP", 2)]), ("T-2", [("LAMP", 2)]))

    message = refused(
        acme_api.post("fulfillments/shipments", body),
        400,
        "validation_error",
        "shipments[1].items[0].quantity",
    )

    assert "2 " in message
    assert accepted.shipments.count() == 0
    assert accepted.lines.get(variant__sku="LAMP").shipped == 0


def test_a_tracking_number_names_one_parcel_of_a_call(accepted, acme_api):
    body = parcels(accepted, ("T-1", [("LAMP", 2)]), ("T-1", [("MAT", 2)]))

    assert acme_api.post("fulfillments/shipments", body).json()["code"] == "shipped"

    [parcel] = accepted.shipments.all()
    assert sum(item["quantity"] for item in parcel.items) == 4


LAMP = {"sku": "LAMP", "quantity": 1}


def test_elements_of_one_parcel_may_spell_its_carrier_differently_or_leave_it_out(accepted, acme_api):
    sent = [
        {"trackingNumber": "T-1", "items": [LAMP], **carrier}
        for carrier in ({}, {"carrier": "ups"}, {"carrier": "U.P.S."})
    ]

    answer = acme_api.post("fulfillments/shipments", {"id": accepted.pk, "shipments": sent})

    assert answer.json()["code"] == "shipped"
    assert accepted.shipments.get().carrier == "UPS"
    again = acme_api.post("fulfillments/shipments", {"id": accepted.pk, "shipments": sent})
    assert again.json()["code"] == "unchanged"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"id": None}, "id"),
        ({"id": "x"}, "id"),
        ({"shipments": None}, "shipments"),
        ({"shipments": []}, "shipments"),
        ({"shipments": [5]}, "shipments[0]"),
        ({"shipments": [{"items": [{"sku": "LAMP", "quantity": 1}]}]}, "shipments[0].trackingNumber"),
        ({"shipments": [{"trackingNumber": "", "items": []}]}, "shipments[0].trackingNumber"),
        ({"shipments": [{"trackingNumber": "T"}]}, "shipments[0].items"),
        ({"shipments": [{"trackingNumber": "T", "items": []}]}, "shipments[0].items"),
        ({"shipments": [{"trackingNumber": "T", "items": [{"quantity": 1}]}]}, "shipments[0].items[0].sku"),
        (
            {"shipments": [{"trackingNumber": "T", "tracking_number": "U", "items": [LAMP]}]},
            "shipments[0].tracking_number",
        ),
        (
            {"shipments": [{"trackingNumber": "T", "carrier": name, "items": [LAMP]} for name in "AB"]},
            "shipments",
        ),
        (
            {"shipments": [{"trackingNumber": "T", "items": [{"sku": "LAMP"}]}]},
            "shipments[0].items[0].quantity",
        ),
        (
            {"shipments": [{"trackingNumber": "T", "items": [{"sku": "SOFA", "quantity": 1}]}]},
            "shipments[0].items[0].sku",
        ),
        (
            {"shipments": [{"trackingNumber": "T", "items": [{"upc": "036000291452", "quantity": 1}]}]},
            "shipments[0].items[0].upc",
        ),
    ],
)
def test_wrong_parcels_name_the_fault(change, field, accepted, acme_api):
    body = parcels(accepted, ("T-1", [("LAMP", 1)])) | change

    answer = acme_api.post("fulfillments/shipments", body)

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)
    assert accepted.shipments.count() == 0


def test_parcels_for_the_fulfillment_of_another_supplier_are_refused(accepted, rival_api):
    answer = rival_api.post("fulfillments/shipments", parcels(accepted, ("T-1", [("LAMP", 1)])))

    refused(answer, 404, "not_found")


def test_parcels_wait_for_the_acceptance(work, acme_api):
    answer = acme_api.post("fulfillments/shipments", parcels(work, ("T-1", [("LAMP", 1)])))

    assert "'new'" in refused(answer, 409, "invalid_transition")


# --- Returns and the invoice (contract 10) -------------------------------------------------------


@pytest.fixture
def shipped(accepted, ship):
    ship(accepted)
    return accepted


def a_return(quantity=1, **body):
    return {"reason": "too big", "return_lines": [{"sku": "LAMP", "quantity": quantity}], **body}


def test_a_return_is_recorded_once(shipped, acme_api):
    path = f"fulfillments/{shipped.pk}/returns"

    assert acme_api.post(path, a_return(return_id="R-1")).json()["code"] == "return_recorded"
    assert acme_api.post(path, a_return(return_id="R-1")).json()["code"] == "unchanged"
    assert acme_api.post(path, a_return(return_id="R-2")).json()["code"] == "return_recorded"

    shown = acme_api.get(f"fulfillments/{shipped.pk}").json()
    assert [(each["return_id"], each["reason"]) for each in shown["returns"]] == [
        ("R-1", "too big"),
        ("R-2", "too big"),
    ]
    assert shown["lines"][0]["quantity_returned"] == 2
    assert (state_of(shipped), order_state(shipped.order)) == ("shipped", "completed")


def test_returns_never_exceed_the_shipped_units(shipped, acme_api):
    path = f"fulfillments/{shipped.pk}/returns"
    acme_api.post(path, a_return(2))

    again = acme_api.post(path, a_return(2))
    message = refused(again, 400, "validation_error", "return_lines[0].quantity")

    assert "1 " in message
    assert shipped.returns.count() == 1


def test_unshipped_units_cannot_be_returned(accepted, acme_api):
    answer = acme_api.post(f"fulfillments/{accepted.pk}/returns", a_return())

    refused(answer, 400, "validation_error", "return_lines[0].quantity")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"reason": None}, "reason"),
        ({"reason": ""}, "reason"),
        ({"reason": "x" * 501}, "reason"),
        ({"return_id": 7}, "return_id"),
        ({"return_lines": []}, "return_lines"),
        ({"return_lines": [{"sku": "LAMP"}]}, "return_lines[0].quantity"),
        ({"return_lines": [{"sku": "LAMP", "quantity": -1}]}, "return_lines[0].quantity"),
        ({"return_lines": [{"sku": "SOFA", "quantity": 1}]}, "return_lines[0].sku"),
        ({"return_lines": [{"sku": 7, "quantity": 1}]}, "return_lines[0].sku"),
    ],
)
def test_a_wrong_return_names_the_fault(change, field, shipped, acme_api):
    answer = acme_api.post(f"fulfillments/{shipped.pk}/returns", a_return() | change)

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)
    assert shipped.returns.count() == 0


def test_an_invoice_number_is_kept_and_may_be_corrected(shipped, acme_api):
    path = f"fulfillments/{shipped.pk}"

    assert acme_api.put(path, {"invoice_id": "I-1"}).json()["code"] == "invoice_saved"
    assert acme_api.put(path, {"invoice_id": "I-1"}).json()["code"] == "unchanged"
    assert acme_api.put(path, {"invoice_id": "I-2"}).json()["code"] == "invoice_saved"
    assert acme_api.get(path).json()["invoice_id"] == "I-2"


@pytest.mark.parametrize("body", [{}, {"invoice_id": ""}, {"invoice_id": None}, {"invoice_id": 5}])
def test_an_invoice_needs_its_number(body, shipped, acme_api):
    answer = acme_api.put(f"fulfillments/{shipped.pk}", body)

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "invoice_id")


@pytest.mark.parametrize("lines", [1, 8])
def test_shipping_any_number_of_lines_costs_the_same(
    lines, acme, a_variant, push, work_of, acme_api, django_assert_max_num_queries
):
    for number in range(lines):
        a_variant(acme, f"LAMP-{number}", stock=9)
    work = work_of(push(*({"sku": f"LAMP-{number}", "quantity": 1} for number in range(lines))), acme)
    acme_api.put(status(work, "accepted"))

    # Queries: two for the savepoint; the key; the fulfillment; the order locked; the fulfillment locked, its
    # lines; the parcel looked up and created; fulfillment and lines written; stock locked and written; the
    # order's state derived; events; the stamp; the order written.
    with django_assert_max_num_queries(17):
        acme_api.put(status(work, "shipped"), {"tracking_number": "T-1"})


def test_a_line_is_named_by_its_sku_as_in_a_call_for_several_parcels(accepted, ship, acme_api):
    answer = ship(accepted, lines=[{"sku": "LAMP", "quantity": 2}])
    assert answer.json()["code"] == "shipped"

    [parcel] = acme_api.get(f"fulfillments/{accepted.pk}").json()["shipments"]
    assert [(each["sku"], each["quantity"]) for each in parcel["items"]] == [("LAMP", 2)]
    unknown = ship(accepted, "T-2", lines=[{"sku": "ROPE", "quantity": 1}])
    assert "LAMP, MAT" in refused(unknown, 400, "validation_error", "lines[0].sku")
    assert refused(
        ship(accepted, "T-2", lines=[{"id": 999_999, "quantity": 1}]), 400, "validation_error", "lines[0].id"
    )


def test_names_of_different_lines_are_refused(accepted, ship, acme_api):
    """A client that mixed up its rows would otherwise ship, reject or return the wrong goods."""
    accepted.lines.filter(sku="MAT").update(upc="036000291452")
    lamp = line_units(accepted, "LAMP", 1)
    mixed = {"sku": "LAMP", "upc": "036000291452", "quantity": 1}

    answer = ship(accepted, lines=[lamp, lamp | {"sku": "MAT"}])
    assert "(MAT), but this element names line" in refused(answer, 400, "validation_error", "lines[1].sku")
    parcels = {"id": accepted.pk, "shipments": [{"trackingNumber": "T-1", "items": [mixed]}]}
    answer = acme_api.post("fulfillments/shipments", parcels)
    refused(answer, 400, "validation_error", "shipments[0].items[0].upc")
    answer = acme_api.post("fulfillments/rejections", [{"id": accepted.pk, "items": [mixed]}])
    refused(answer, 400, "validation_error", "items[0].upc")

    same = {"sku": "LAMP", "upc": "012345678905", "quantity": 1}
    assert ship(accepted, lines=[lamp | {"sku": "LAMP"}, same]).json()["code"] == "shipped"
    assert [line.shipped for line in accepted.lines.order_by("pk")] == [2, 0]
