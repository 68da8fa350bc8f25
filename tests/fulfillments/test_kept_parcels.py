"""Parcels that left before their order was held: kept, and shipped at the release (contract 17)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from api.errors import InvalidTransition
from api.renderers import iso
from fulfillments.admin.actions import ACTIONS
from fulfillments.admin.admin import FulfillmentAdmin
from fulfillments.admin.unit_forms import ReassignForm
from fulfillments.models import Fulfillment
from fulfillments.reassigning import find_alternatives
from fulfillments.tasks import answer_cancelations
from orders.models import Order
from orders.services import release
from tests.orders.fixtures import OPERATOR, line_units, order_state, state_of, status

LAMP = {"sku": "LAMP", "quantity": 1}


def outcome(answer) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


@pytest.fixture
def left():
    """Return a moment before the hold that the test makes next."""
    return timezone.now() - timedelta(hours=1)


def parcel(moment, number="T", **fields):
    return {"tracking_number": number, "carrier": "UPS", "shipped_at": iso(moment), **fields}


def test_a_parcel_that_left_before_the_hold_is_kept_shown_and_shipped_at_the_release(
    left, work, an_order_at_acme, acme_api, hold_it
):
    """The goods are under way, so the supplier must be able to report them."""
    acme_api.put(status(work, "accepted"))
    hold_it(an_order_at_acme)

    kept = acme_api.put(status(work, "shipped"), parcel(left, lines=[line_units(work, "LAMP", 2)]))
    again = acme_api.put(status(work, "shipped"), parcel(left))

    assert (outcome(kept), outcome(again)) == ((200, "shipped"), (200, "unchanged"))
    assert "kept" in kept.json()["message"]
    shown = acme_api.get(f"fulfillments/{work.pk}").json()
    [waiting] = shown["kept_shipments"]
    assert (shown["fulfillment_state"], shown["shipments"]) == ("accepted", [])
    assert (waiting["tracking_number"], waiting["carrier"], waiting["shipped_at"]) == ("T", "UPS", iso(left))
    assert [item["quantity"] for item in waiting["items"]] == [2]

    hold_it(an_order_at_acme, release)

    shown = acme_api.get(f"fulfillments/{work.pk}").json()
    assert shown["kept_shipments"] == []
    [shipment] = shown["shipments"]
    assert (shipment["tracking_number"], shipment["shipped_at"]) == ("T", iso(left))
    assert order_state(an_order_at_acme) == "partially_shipped"
    assert acme_api.put(status(work, "shipped"), parcel(left)).json()["code"] == "unchanged"
    events = acme_api.get("events").json()["results"][-4:]
    assert [event["type"] for event in events] == [
        *("fulfillment.held", "fulfillment.parcel_kept"),
        *("fulfillment.released", "fulfillment.shipped"),
    ]
    assert events[1]["data"]["shipped_at"] == iso(left)


def test_a_parcel_of_new_work_is_accepted_at_the_release(left, work, an_order_at_acme, acme_api, hold_it):
    """The supplier cannot accept the work during the hold, so the release accepts it."""
    hold_it(an_order_at_acme)
    acme_api.put(status(work, "shipped"), parcel(left))
    assert state_of(work) == "new"

    hold_it(an_order_at_acme, release)

    assert (state_of(work), order_state(an_order_at_acme)) == ("shipped", "completed")


def test_a_parcel_that_left_after_the_hold_waits(work, an_order_at_acme, acme_api, hold_it):
    acme_api.put(status(work, "accepted"))
    hold_it(an_order_at_acme)

    assert outcome(acme_api.put(status(work, "shipped"), parcel(timezone.now()))) == (409, "order_held")


def test_kept_parcels_have_no_more_units_than_are_open(left, work, an_order_at_acme, acme_api, hold_it):
    hold_it(an_order_at_acme)
    acme_api.put(status(work, "shipped"), parcel(left, lines=[line_units(work, "LAMP", 2)]))

    two = {"lines": [line_units(work, "LAMP", 2)]}
    assert acme_api.put(status(work, "shipped"), parcel(left, "U", **two)).status_code == 400
    assert acme_api.put(status(work, "shipped"), parcel(left, "U")).json()["code"] == "shipped"
    assert acme_api.put(status(work, "shipped"), parcel(left, "V")).status_code == 400
    assert acme_api.put(status(work, "shipped"), parcel(left, **two)).json()["code"] == "unchanged"
    other = {"lines": [line_units(work, "LAMP", 1)]}
    assert outcome(acme_api.put(status(work, "shipped"), parcel(left, **other))) == (
        409,
        "invalid_transition",
    )


def test_a_kept_parcel_waits_for_the_answer_to_a_cancellation(
    left, work, an_order_at_acme, acme_api, shop_api, hold_it
):
    acme_api.put(status(work, "accepted"))
    hold_it(an_order_at_acme)
    acme_api.put(status(work, "shipped"), parcel(left))
    shop_api.post(f"orders/{an_order_at_acme.pk}/cancel")
    hold_it(an_order_at_acme, release)
    assert (state_of(work), work.kept_parcels.count()) == ("canceling", 1)

    acme_api.put(status(work), {"status": "cancelation not allowed"})

    assert (state_of(work), work.kept_parcels.count()) == ("shipped", 0)


def test_several_parcels_at_once_are_kept_too(left, work, an_order_at_acme, acme_api, hold_it):
    hold_it(an_order_at_acme)
    parcels = [{"trackingNumber": "T", "items": [LAMP], "shipped_at": iso(left)}]

    answer = acme_api.post("fulfillments/shipments", {"id": work.pk, "shipments": parcels})

    assert outcome(answer) == (200, "shipped")
    assert work.kept_parcels.count() == 1


def test_without_a_hold_the_parcel_has_the_moment_at_which_it_left(left, work, acme_api):
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), parcel(left))

    [shipment] = acme_api.get(f"fulfillments/{work.pk}").json()["shipments"]
    assert shipment["shipped_at"] == iso(left)


def test_a_parcel_cannot_leave_in_the_future(work, acme_api):
    acme_api.put(status(work, "accepted"))
    answer = acme_api.put(status(work, "shipped"), parcel(timezone.now() + timedelta(hours=1)))

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "shipped_at")


@pytest.fixture
def work_with_kept_lamps(left, acme, rival, a_variant, push, work_of, acme_api, hold_it):
    """Return a function that keeps a parcel of `units` of three lamps, in Acme's work for a held order."""

    def keep(units: int) -> Fulfillment:
        a_variant(acme, "LAMP", stock=10, wholesale_price="10")
        a_variant(rival, "LAMP", stock=10, wholesale_price="11")
        order = push({"sku": "LAMP", "quantity": 3})
        work = work_of(order, acme)
        acme_api.put(status(work, "accepted"))
        hold_it(order)
        kept = acme_api.put(status(work, "shipped"), parcel(left, lines=[line_units(work, "LAMP", units)]))
        assert outcome(kept) == (200, "shipped")
        return Fulfillment.objects.get(pk=work.pk)

    return keep


def withdraw(work) -> None:
    with Order.objects.get(pk=work.order_id).change(by=OPERATOR) as change:
        Fulfillment.objects.get(pk=work.pk).withdraw(change)


def test_units_that_left_in_a_kept_parcel_are_not_reassigned(work_with_kept_lamps, rival, hold_it):
    """Otherwise the consumer would get these units from both suppliers."""
    work = work_with_kept_lamps(units=2)

    withdraw(work)
    hold_it(work.order, release)

    sent = {each.supplier_id: each.lines.get().quantity for each in work.order.fulfillments.all()}
    assert sent == {work.supplier_id: 3, rival.pk: 1}
    assert (state_of(work), work.shipments.get().items[0]["quantity"]) == ("shipped", 2)


def test_a_fulfillment_whose_units_all_left_cannot_be_reassigned(work_with_kept_lamps):
    work = work_with_kept_lamps(units=3)

    with pytest.raises(InvalidTransition, match=r"left.* T.*[Rr]elease"):
        withdraw(work)

    assert work.order.fulfillments.count() == 1


def test_the_form_of_a_reassignment_has_no_units_that_left(work_with_kept_lamps, rival):
    work = work_with_kept_lamps(units=2)

    form = ReassignForm.of(work, None)

    assert form.fields[f"line_{work.lines.get().pk}"].widget.attrs["max"] == 1
    assert find_alternatives(work).lines[0]["quantity"] == 1


def test_the_form_of_a_reassignment_says_that_all_units_left(work_with_kept_lamps):
    assert "left" in ReassignForm.of(work_with_kept_lamps(units=3), None).why_not


def test_a_kept_parcel_is_shipped_after_the_default_answer_to_a_cancellation(
    left, work, shop, an_order_at_acme, acme_api, shop_api, hold_it
):
    shop.partnerships.update(cancelation_default="refuse", hours_to_answer=1)
    acme_api.put(status(work, "accepted"))
    hold_it(an_order_at_acme)
    acme_api.put(status(work, "shipped"), parcel(left))
    shop_api.post(f"orders/{an_order_at_acme.pk}/cancel")
    hold_it(an_order_at_acme, release)
    Fulfillment.objects.update(due_at=timezone.now() - timedelta(minutes=1))

    assert answer_cancelations() == 1

    assert (state_of(work), work.shipments.get().tracking_number) == ("shipped", "T")
    assert work.kept_parcels.count() == 0


def test_an_operator_approves_a_cancellation_of_units_that_left_in_a_kept_parcel(
    left, work, an_order_at_acme, acme_api, shop_api, hold_it
):
    """The page of the admin reads the lines before the approval, which leaves one unit open."""
    acme_api.put(status(work, "accepted"))
    hold_it(an_order_at_acme)
    acme_api.put(status(work, "shipped"), parcel(left, lines=[line_units(work, "LAMP", 3)]))
    shop_api.post(f"orders/{an_order_at_acme.pk}/cancel", {"lines": [{"sku": "LAMP", "quantity": 2}]})
    hold_it(an_order_at_acme, release)
    shown = Fulfillment.objects.prefetch_related(*FulfillmentAdmin.acts_with).get(pk=work.pk)

    approve = next(each for each in ACTIONS if each.name == "approve-cancelation")
    approve.run(shown, OPERATOR, {})

    assert [item["quantity"] for item in work.shipments.get().items] == [1]
    assert work.kept_parcels.count() == 0


@pytest.mark.parametrize(
    ("asked", "answer", "code"),
    [
        ([{"sku": "MAT"}], "canceled", "canceled"),
        ([{"sku": "MAT"}], "cancelation not allowed", "cancelation_not_allowed"),
        ([{"sku": "LAMP", "quantity": 2}, {"sku": "MAT"}], "canceled", "canceled"),
    ],
)
def test_the_answer_that_ships_a_kept_parcel_can_be_repeated(
    asked, answer, code, left, work, an_order_at_acme, acme_api, shop_api, hold_it
):
    """The kept parcel changes the state again, but a supplier that lost our reply repeats its answer."""
    hold_it(an_order_at_acme)
    acme_api.put(status(work, "shipped"), parcel(left, lines=[line_units(work, "LAMP", 1)]))
    shop_api.post(f"orders/{an_order_at_acme.pk}/cancel", {"lines": asked})
    hold_it(an_order_at_acme, release)

    codes = [acme_api.put(status(work), {"status": answer}).json()["code"] for _ in range(2)]

    assert (codes, work.shipments.count()) == ([code, "unchanged"], 1)


def test_a_kept_parcel_of_canceled_work_is_still_shown(
    left, work, an_order_at_acme, acme_api, shop_api, hold_it
):
    hold_it(an_order_at_acme)
    acme_api.put(status(work, "shipped"), parcel(left))
    shop_api.post(f"orders/{an_order_at_acme.pk}/cancel")

    acme_api.put(status(work), {"status": "canceled"})

    shown = acme_api.get(f"fulfillments/{work.pk}").json()
    assert (shown["fulfillment_state"], len(shown["kept_shipments"])) == ("canceled", 1)


def test_a_parcel_is_not_corrected_to_the_number_of_a_kept_parcel(
    left, work, an_order_at_acme, acme_api, hold_it
):
    """Otherwise the release could not ship the kept parcel."""
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T1", "lines": [line_units(work, "LAMP", 1)]})
    hold_it(an_order_at_acme)
    acme_api.put(status(work, "shipped"), parcel(left, "T2", lines=[line_units(work, "LAMP", 2)]))

    path = f"fulfillments/{work.pk}/shipments/{work.shipments.get().pk}"
    answer = acme_api.request("PATCH", path, {"tracking_number": "T2"})

    assert outcome(answer) == (409, "tracking_number_taken")
    hold_it(an_order_at_acme, release)
    assert sorted(work.shipments.values_list("tracking_number", flat=True)) == ["T1", "T2"]


def test_units_named_by_sku_fill_the_line_that_still_has_units(
    left, acme, a_variant, push, work_of, acme_api, hold_it
):
    """The order has two lines with the same sku, and the kept parcel has all units of the first line."""
    a_variant(acme, "LAMP", stock=10)
    order = push(
        {"sku": "LAMP", "quantity": 2}, {"sku": "LAMP", "quantity": 2}, {"sku": "LAMP", "quantity": 2}
    )
    work = work_of(order, acme)
    hold_it(order)
    two = [{"sku": "LAMP", "quantity": 2}]

    def in_parcels(number):
        parcels = [{"trackingNumber": number, "items": two, "shipped_at": iso(left)}]
        return acme_api.post("fulfillments/shipments", {"id": work.pk, "shipments": parcels})

    assert outcome(in_parcels("T1")) == (200, "shipped")
    assert outcome(in_parcels("T2")) == (200, "shipped")
    assert outcome(acme_api.put(status(work, "shipped"), parcel(left, "T3", lines=two))) == (200, "shipped")
    assert outcome(in_parcels("T1")) == (200, "unchanged")


def test_one_parcel_in_several_elements_has_the_moment_that_any_of_them_names(
    left, work, an_order_at_acme, acme_api, hold_it
):
    hold_it(an_order_at_acme)
    mat = {"trackingNumber": "T", "items": [{"sku": "MAT", "quantity": 1}]}
    parcels = [{"trackingNumber": "T", "items": [LAMP]}, {**mat, "shipped_at": iso(left)}]

    answer = acme_api.post("fulfillments/shipments", {"id": work.pk, "shipments": parcels})

    assert outcome(answer) == (200, "shipped")
    assert (work.kept_parcels.get().shipped_at, len(work.kept_parcels.get().items)) == (left, 2)


def test_one_parcel_cannot_leave_at_two_moments(left, work, acme_api):
    element = {"trackingNumber": "T", "items": [LAMP], "shipped_at": iso(left)}
    later = {**element, "shipped_at": iso(left + timedelta(minutes=1))}

    answer = acme_api.post("fulfillments/shipments", {"id": work.pk, "shipments": [element, later]})

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "shipments")
    assert "moment" in answer.json()["errors"][0]["message"]
