"""Complete and partial refusals, their effects on stock and catalog, and the next supplier."""

from __future__ import annotations

import json

import pytest

from accounts.models import Supplier
from fulfillments.models import Fulfillment
from inventory.models import StockLevel
from orders.models import Order
from orders.services import correct_address, route_again
from tests.factories import (
    PartnershipFactory,
    StockLevelFactory,
    SupplierFactory,
    WarehouseFactory,
    set_stock,
)
from tests.orders.fixtures import OPERATOR, line_units, order_state, state_of, status


@pytest.fixture
def third(shop) -> Supplier:
    """Create a third supplier that Shop buys from."""
    supplier = SupplierFactory.create(name="Third")
    WarehouseFactory.create(supplier=supplier, name="Third East", is_default=True)
    PartnershipFactory.create(retailer=shop, supplier=supplier)
    return supplier


@pytest.fixture
def everywhere(acme, rival, a_variant):
    """Create LAMP at Acme, the cheapest supplier, and at Rival: ten units each."""
    return {
        supplier.name: a_variant(supplier, "LAMP", stock=10, wholesale_price=price)
        for supplier, price in ((acme, "1"), (rival, "2"))
    }


def reject(api, work, reason="out_of_stock"):
    return api.put(status(work, reason))


def at(supplier, sku="LAMP") -> list[tuple[str, int]]:
    """Return state and units of the supplier's fulfillments with a sku, oldest first."""
    works = Fulfillment.objects.filter(supplier=supplier, lines__variant__sku=sku).order_by("pk")
    return [(each.state, each.lines.get(variant__sku=sku).quantity) for each in works]


def stock_of(variant) -> tuple[int, int]:
    return StockLevel.objects.values_list("on_hand", "reserved").get(variant=variant)


def test_out_of_stock_units_go_to_the_next_supplier(everywhere, acme, rival, acme_api, push, work_of):
    order = push({"sku": "LAMP", "quantity": 3})

    assert reject(acme_api, work_of(order, acme)).json()["code"] == "out_of_stock"

    assert (at(acme), at(rival)) == ([("out_of_stock", 3)], [("new", 3)])
    assert stock_of(everywhere["Acme"]) == (0, 0)
    assert stock_of(everywhere["Rival"]) == (10, 3)
    assert order_state(order) == "received"


def test_a_missing_sku_is_delisted_and_goes_to_the_next_supplier(
    everywhere, acme, rival, acme_api, shop_api, push, work_of
):
    order = push({"sku": "LAMP", "quantity": 3})

    assert reject(acme_api, work_of(order, acme), "missing_sku").json()["code"] == "missing_sku"

    assert (at(acme), at(rival)) == ([("missing_sku", 3)], [("new", 3)])
    everywhere["Acme"].refresh_from_db()
    assert everywhere["Acme"].listed is False
    assert stock_of(everywhere["Acme"]) == (10, 0)
    groups = json.loads(shop_api.get("variants", {"service_type": "ecommerce"}).getvalue())
    assert [group["variants"] for group in groups] == [[everywhere["Rival"].pk]]


@pytest.mark.parametrize("pin", ["supplier_id", "variant_id"])
@pytest.mark.parametrize("reason", ["out_of_stock", "missing_sku"])
def test_a_pinned_line_goes_to_no_other_supplier(
    pin, reason, everywhere, acme, rival, acme_api, push, work_of
):
    pinned = {"supplier_id": acme.pk} if pin == "supplier_id" else {"variant_id": everywhere["Acme"].pk}
    order = push({"sku": "LAMP", "quantity": 3, **pinned})

    reject(acme_api, work_of(order, acme), reason)

    assert at(rival) == []
    assert order_state(order) == "exception"
    assert order.lines.get().rejected == 3


def test_a_supplier_that_refused_a_line_is_not_asked_again(
    everywhere, third, a_variant, acme, rival, acme_api, rival_api, client_for, push, work_of
):
    """When all suppliers have refused, an operator decides: later stock changes nothing by itself."""
    a_variant(third, "LAMP", stock=10, wholesale_price="3")
    order = push({"sku": "LAMP", "quantity": 2})

    reject(acme_api, work_of(order, acme))
    set_stock(on_hand=50, variant=everywhere["Acme"])
    reject(rival_api, work_of(order, rival))
    assert (at(acme), at(rival), at(third)) == ([("out_of_stock", 2)], [("out_of_stock", 2)], [("new", 2)])

    reject(client_for(third), work_of(order, third))
    assert Fulfillment.objects.count() == 3
    assert order_state(order) == "exception"

    with Order.objects.get().change(by=OPERATOR) as change:
        assert route_again(change) == 2
    assert Fulfillment.objects.count() == 3


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("out_of_stock", "this warehouse was out of stock for the line before."),
        ("missing_sku", "this supplier refused the line before."),
    ],
)
def test_the_decision_names_the_excluded_suppliers(
    reason, said, everywhere, acme, rival, acme_api, shop_api, push, work_of
):
    order = push({"sku": "LAMP", "quantity": 1})
    acme_api.put(status(work_of(order, acme), reason))

    routed = shop_api.get(f"orders/{order.pk}/routing").json()["decisions"][-1]

    [line] = routed["lines"]
    reasons = {each["supplier_id"]: each["reason"] for each in line["candidates"]}
    assert reasons[acme.pk] == f"Not asked: {said}"
    assert reasons[rival.pk].startswith("Chosen for 1 of 1")


def test_units_that_the_next_supplier_has_only_in_part_are_split(
    everywhere, acme, rival, acme_api, push, work_of
):
    set_stock(on_hand=2, variant=everywhere["Rival"])
    order = push({"sku": "LAMP", "quantity": 3})

    reject(acme_api, work_of(order, acme))

    assert at(rival) == [("new", 2)]
    line = order.lines.get()
    assert (line.open, line.rejected, line.reserved) == (2, 1, 2)
    assert order_state(order) == "exception"


def test_an_operator_routes_again_when_a_supplier_that_was_not_asked_has_stock(
    everywhere, acme, rival, acme_api, push, work_of
):
    set_stock(on_hand=0, variant=everywhere["Rival"])
    order = push({"sku": "LAMP", "quantity": 3})
    reject(acme_api, work_of(order, acme))
    assert (at(rival), order_state(order)) == ([], "exception")

    set_stock(on_hand=5, variant=everywhere["Rival"])
    with Order.objects.get().change(by=OPERATOR) as change:
        assert route_again(change) == 3

    assert (at(rival), order_state(order)) == ([("new", 3)], "received")


def test_an_inactive_partner_is_not_asked(everywhere, acme, rival, shop, acme_api, push, work_of):
    order = push({"sku": "LAMP", "quantity": 1})
    shop.partnerships.filter(supplier=rival).update(is_active=False)

    reject(acme_api, work_of(order, acme))

    assert (at(rival), order_state(order)) == ([], "exception")


def test_only_the_stock_of_this_warehouse_becomes_0(acme, a_variant, acme_api, push, work_of):
    variant = a_variant(acme, "LAMP", stock=5)
    west = StockLevelFactory.create(
        variant=variant, warehouse=acme.warehouses.get(is_default=False), on_hand=4
    )
    order = push({"sku": "LAMP", "quantity": 3})

    reject(acme_api, work_of(order, acme))

    west.refresh_from_db()
    assert (west.on_hand, west.reserved) == (4, 3)  # after the refusal, routing chose this warehouse
    assert variant.stock.get(warehouse__is_default=True).on_hand == 0
    assert order_state(order) == "received"


def test_another_orders_reservation_outlives_an_empty_stock(acme, a_variant, acme_api, push, work_of):
    variant = a_variant(acme, "LAMP", stock=5)
    first, second = push({"sku": "LAMP", "quantity": 2}), push({"sku": "LAMP", "quantity": 3})

    reject(acme_api, work_of(first, acme))

    assert stock_of(variant) == (0, 3)
    assert work_of(second, acme).state == "new"


def test_a_wrong_address_waits_for_an_operator_with_its_stock_kept(
    everywhere, acme, rival, acme_api, push, work_of
):
    order = push({"sku": "LAMP", "quantity": 3})
    work = work_of(order, acme)

    assert reject(acme_api, work, "wrong_address").json()["code"] == "wrong_address"
    assert (at(rival), order_state(order)) == ([], "exception")
    assert stock_of(everywhere["Acme"]) == (10, 3)

    with Order.objects.get().change(by=OPERATOR) as change:
        correct_address(change, {"address1": "1 New Street"})
    assert (state_of(work), order_state(order)) == ("new", "received")
    [shown] = acme_api.get("fulfillments", {"fulfillment_state": "new"}).json()
    assert shown["shipping_address"]["address1"] == "1 New Street"
    assert shown["shipping_address"]["city"] == "London"


def test_a_corrected_address_releases_all_waiting_fulfillments(
    acme, rival, a_variant, acme_api, rival_api, push, work_of
):
    a_variant(acme, "LAMP", stock=5)
    a_variant(rival, "RUG", stock=5)
    order = push({"sku": "LAMP", "quantity": 1}, {"sku": "RUG", "quantity": 1})
    reject(acme_api, work_of(order, acme), "wrong_address")
    reject(rival_api, work_of(order, rival), "wrong_address")

    with Order.objects.get().change(by=OPERATOR) as change:
        correct_address(change, {"city": "Leeds"})

    assert [*Fulfillment.objects.values_list("state", flat=True)] == ["new", "new"]


def test_the_rest_of_a_partial_shipment_is_refused_once(work, acme_api, an_order_at_acme):
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T", "lines": [line_units(work, "LAMP", 2)]})

    assert reject(acme_api, work).json()["code"] == "out_of_stock"
    assert (state_of(work), order_state(an_order_at_acme)) == ("shipped", "exception")
    assert reject(acme_api, work).json()["code"] == "unchanged"
    assert reject(acme_api, work, "missing_sku").status_code == 409
    assert work.rejections.count() == 1


@pytest.mark.parametrize("body", [None, {}, {"reason": "gone"}, b"[]"])
def test_a_refusal_needs_no_body_and_accepts_one(body, work, acme_api):
    assert acme_api.put(status(work, "out_of_stock"), body).json()["code"] == "out_of_stock"


def test_a_body_that_cannot_be_read_refuses_nothing(work, acme_api):
    answer = acme_api.put(status(work, "out_of_stock"), b"{")

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_json")
    assert state_of(work) == "new"


# --- In part (contract 10) -----------------------------------------------------------------------


def refusal(work, quantity=1, sku="LAMP", **more):
    return {"id": work.pk, "items": [{"sku": sku, "quantity": quantity}], **more}


@pytest.fixture
def reject_lines(acme_api):
    def send(*elements):
        return acme_api.post("fulfillments/rejections", [*elements])

    return send


def test_lines_refused_in_part_leave_the_rest_to_be_shipped(work, reject_lines, acme_api, an_order_at_acme):
    answer = reject_lines(refusal(work, 2, rejectId="J-1")).json()

    assert (answer["success"], answer["code"]) == (True, "lines_rejected")
    assert [(each["id"], each["success"], each["code"]) for each in answer["results"]] == [
        (work.pk, True, "lines_rejected")
    ]
    assert (state_of(work), order_state(an_order_at_acme)) == ("new", "exception")
    item = acme_api.get(f"fulfillments/{work.pk}").json()
    assert [each["quantity_rejected"] for each in item["lines"]] == [2, 0]
    [kept] = item["rejections"]
    assert (kept["reject_id"], kept["reason"]) == ("J-1", "out_of_stock")
    assert [(each["sku"], each["quantity"]) for each in kept["items"]] == [("LAMP", 2)]

    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T"})
    assert state_of(work) == "shipped"
    assert order_state(an_order_at_acme) == "exception"


def test_partly_refused_units_go_to_the_next_supplier(everywhere, acme, rival, reject_lines, push, work_of):
    order = push({"sku": "LAMP", "quantity": 5})

    reject_lines(refusal(work_of(order, acme), 2))

    assert (at(acme), at(rival)) == ([("new", 5)], [("new", 2)])
    assert stock_of(everywhere["Acme"]) == (0, 3)
    assert (order.lines.get().open, order_state(order)) == (5, "received")


def test_a_reject_id_is_seen_once(work, reject_lines):
    assert reject_lines(refusal(work, rejectId="J-1")).json()["code"] == "lines_rejected"
    assert reject_lines(refusal(work, rejectId="J-1")).json()["code"] == "unchanged"
    assert reject_lines(refusal(work, reject_id="J-1")).json()["code"] == "unchanged"
    assert reject_lines(refusal(work, rejectId="J-2")).json()["code"] == "lines_rejected"
    assert work.lines.get(variant__sku="LAMP").rejected == 2


def test_a_snapshot_contains_all_units_refused_so_far(work, reject_lines):
    assert reject_lines(refusal(work, 1)).json()["code"] == "lines_rejected"
    assert reject_lines(refusal(work, 1)).json()["code"] == "unchanged"
    assert reject_lines(refusal(work, 3)).json()["code"] == "lines_rejected"
    assert work.lines.get(variant__sku="LAMP").rejected == 3
    assert [each.items[0]["quantity"] for each in work.rejections.all()] == [1, 2]

    fewer = reject_lines(refusal(work, 2))
    assert (fewer.status_code, fewer.json()["errors"][0]["field"]) == (400, "items")


def test_a_snapshot_has_no_units_that_an_operator_reassigned(
    everywhere, acme, acme_api, reject_lines, push, work_of
):
    """The supplier has not refused these units, so its own list of refusals does not have them."""
    work = work_of(push({"sku": "LAMP", "quantity": 5}), acme)
    assert reject_lines(refusal(work, 1)).json()["code"] == "lines_rejected"
    with work.order.change(by=OPERATOR) as change:
        Fulfillment.objects.get(pk=work.pk).withdraw(change, quantities={work.lines.get().pk: 2})

    assert reject_lines(refusal(work, 1)).json()["code"] == "unchanged"
    assert reject_lines(refusal(work, 2)).json()["code"] == "lines_rejected"
    assert work.lines.get().open == 1
    assert reject_lines(refusal(work, 4)).status_code == 400


@pytest.mark.parametrize("reason", ["out_of_stock", "missing_sku", "wrong_address"])
def test_a_fulfillment_whose_lines_are_all_refused_takes_the_reasons_state(
    reason, work, reject_lines, an_order_at_acme
):
    items = [{"sku": "LAMP", "quantity": 3}, {"sku": "MAT", "quantity": 2}]
    body = {"id": work.pk, "reason": reason, "items": items}

    assert reject_lines(body).json()["code"] == "lines_rejected"
    assert (state_of(work), order_state(an_order_at_acme)) == (reason, "exception")
    assert reject_lines(body).json()["code"] == "unchanged"


def test_a_part_may_be_refused_for_its_address(work, reject_lines, acme_api, an_order_at_acme, acme):
    """Units that are refused for the address are never routed elsewhere.

    After the correction, the same supplier gets them back.
    """
    acme_api.get("fulfillments")
    assert reject_lines(refusal(work, 1, reason="wrong_address")).json()["code"] == "lines_rejected"
    assert (state_of(work), order_state(an_order_at_acme)) == ("new", "exception")
    assert Fulfillment.objects.count() == 1

    with Order.objects.get().change(by=OPERATOR) as change:
        correct_address(change, {"city": "Leeds"})

    assert at(acme) == [("new", 3), ("new", 1)]
    assert order_state(an_order_at_acme) == "received"


@pytest.mark.parametrize("reject_id", [None, "J-9"])
def test_more_than_is_open_is_never_refused(reject_id, work, reject_lines):
    answer = reject_lines(refusal(work, 4, rejectId=reject_id))

    assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")
    assert answer.json()["errors"][0]["field"] == "items[0].quantity"
    assert work.rejections.count() == 0


@pytest.mark.parametrize("reject_id", [None, "J-9"])
def test_a_refused_line_cannot_be_refused_again(reject_id, work, reject_lines, acme_api):
    reject(acme_api, work)

    answer = reject_lines(refusal(work, 4, rejectId=reject_id))

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "items[0].quantity")


def test_each_element_is_answered_for_itself(work, reject_lines):
    answer = reject_lines(refusal(work), refusal(work, sku="SOFA"), {**refusal(work), "id": 10**9})

    assert answer.status_code == 200
    assert answer.json()["success"] is False
    assert [(each["success"], each["code"]) for each in answer.json()["results"]] == [
        (True, "lines_rejected"),
        (False, "validation_error"),
        (False, "not_found"),
    ]
    assert work.lines.get(variant__sku="LAMP").rejected == 1


def test_each_element_is_answered_also_if_all_fail(work, reject_lines):
    """The status and the code are those of the first element."""
    answer = reject_lines({**refusal(work), "id": 10**9}, refusal(work, sku="SOFA"))

    assert (answer.status_code, answer.json()["success"], answer.json()["code"]) == (404, False, "not_found")
    assert [(each["id"], each["success"], each["code"]) for each in answer.json()["results"]] == [
        (10**9, False, "not_found"),
        (work.pk, False, "validation_error"),
    ]


def test_the_fulfillment_of_another_supplier_cannot_be_refused(work, rival_api):
    answer = rival_api.post("fulfillments/rejections", [refusal(work)])

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body"),
        ([], "body"),
        ([5], "[0]"),
        ([{}], "[0].id"),
        ([{"id": 1}], "[0].items"),
        ([{"id": 1, "items": []}], "[0].items"),
        ([{"id": 1, "items": [{"sku": "LAMP"}]}], "[0].items[0].quantity"),
        ([{"id": 1, "items": [{"sku": "LAMP", "quantity": 0}]}], "[0].items[0].quantity"),
        ([{"id": 1, "items": [{"quantity": 1}]}], "[0].items[0].sku"),
        ([{"id": 1, "items": [{"sku": 5, "quantity": 1}]}], "[0].items[0].sku"),
        ([{"id": 1, "reason": "x", "items": [{"sku": "L", "quantity": 1}]}], "[0].reason"),
        ([{"id": 1, "rejectId": 5, "items": [{"sku": "L", "quantity": 1}]}], "[0].rejectId"),
        ([{"id": 1, "itmes": [{"sku": "L", "quantity": 1}]}], "[0].itmes"),
    ],
)
def test_wrong_refusals_name_the_fault(body, field, acme_api):
    answer = acme_api.post("fulfillments/rejections", body)

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == field
    if field.endswith("reason"):
        assert "out_of_stock, missing_sku, wrong_address" in answer.json()["message"]


@pytest.mark.parametrize("lines", [1, 8])
def test_refusing_any_number_of_lines_costs_the_same(
    lines, acme, rival, a_variant, push, work_of, acme_api, django_assert_max_num_queries
):
    for number in range(lines):
        for supplier, price in ((acme, "1"), (rival, "2")):
            a_variant(supplier, f"LAMP-{number}", stock=9, wholesale_price=price)
    work = work_of(push(*({"sku": f"LAMP-{number}", "quantity": 1} for number in range(lines))), acme)

    # Besides the queries of every move: earlier refusals; the lines that are routed again, the partners
    # with their warehouses, their variants; the new fulfillments and lines; the decision.
    with django_assert_max_num_queries(31):
        assert reject(acme_api, work).json()["code"] == "out_of_stock"
    assert Fulfillment.objects.filter(supplier=rival).count() == 1
