"""Cancellation of whole orders or of some units, by request or at once (interface 4.16)."""

from __future__ import annotations

import pytest

from events.models import Event
from fulfillments.models import Fulfillment
from inventory.models import StockLevel
from orders.models import Order
from tests.orders.fixtures import line_units, order_state, state_of, status


@pytest.fixture
def two(acme, rival, a_variant, push):
    """Push an order of three of Acme's lamps and two of Rival's rugs."""
    a_variant(acme, "LAMP", stock=10)
    a_variant(rival, "RUG", stock=10)
    return push({"sku": "LAMP", "quantity": 3}, {"sku": "RUG", "quantity": 2})


@pytest.fixture
def cancel(shop_api):
    def post(order, body=None):
        return shop_api.post(f"orders/{order.pk}/cancel", body)

    return post


def states(order) -> list[str]:
    return [*Fulfillment.objects.filter(order=order).order_by("pk").values_list("state", flat=True)]


def lines(order) -> list[tuple[int, int, int, int]]:
    """Return the open, shipped, rejected and canceled units of each line."""
    return [*order.lines.order_by("pk").values_list("open", "shipped", "rejected", "canceled")]


def outcome(answer) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_a_cancellation_of_more_units_than_are_left_is_no_repetition_and_is_refused(
    push, a_variant, acme, work_of, acme_api, shop_api
):
    a_variant(acme, "LAMP", stock=20)
    order = push({"sku": "LAMP", "quantity": 10})
    shop_api.post(f"orders/{order.pk}/cancel", {"lines": [{"sku": "LAMP", "quantity": 6}]})
    acme_api.put(status(work_of(order, acme)), {"status": "canceled"})

    answer = shop_api.post(f"orders/{order.pk}/cancel", {"lines": [{"sku": "LAMP", "quantity": 5}]})

    assert answer.status_code == 400
    assert "Only 4 can still be canceled, not 5" in answer.json()["message"]


@pytest.mark.parametrize("answer", ["canceled", "cancelation not allowed"])
def test_a_request_after_its_answer_is_a_new_request(
    push, a_variant, acme, rival, work_of, acme_api, shop_api, answer
):
    a_variant(acme, "LAMP", stock=10)
    a_variant(rival, "MAT", stock=10)
    order = push({"sku": "LAMP", "quantity": 5}, {"sku": "MAT", "quantity": 5})

    def ask(sku):
        return shop_api.post(f"orders/{order.pk}/cancel", {"lines": [{"sku": sku, "quantity": 1}]}).json()

    ask("MAT")  # Rival does not answer
    ask("LAMP")
    assert ask("LAMP")["code"] == "unchanged"
    acme_api.put(status(work_of(order, acme)), {"status": answer})

    assert ask("LAMP")["code"] == "cancel_requested"


def test_the_cancellation_of_a_whole_order_is_requested_and_approved(
    two, acme, rival, acme_api, rival_api, cancel, work_of
):
    assert outcome(cancel(two)) == (200, "cancel_requested")
    assert (states(two), order_state(two)) == (["canceling", "canceling"], "canceling")

    acme_api.put(status(work_of(two, acme)), {"status": "canceled"})
    assert order_state(two) == "canceling"
    rival_api.put(status(work_of(two, rival)), {"status": "canceled"})

    assert (states(two), order_state(two)) == (["canceled", "canceled"], "canceled")
    assert lines(two) == [(0, 0, 0, 3), (0, 0, 0, 2)]


def test_after_an_approval_and_a_refusal_the_refused_units_stay(
    two, acme, rival, acme_api, rival_api, cancel, work_of
):
    cancel(two)
    acme_api.put(status(work_of(two, acme)), {"status": "canceled"})
    rival_api.put(status(work_of(two, rival)), {"status": "cancelation not allowed"})
    assert (states(two), order_state(two)) == (["canceled", "cancelation not allowed"], "processing")

    rival_api.put(status(work_of(two, rival), "shipped"), {"tracking_number": "T"})
    assert order_state(two) == "completed"
    assert lines(two) == [(0, 0, 0, 3), (0, 2, 0, 0)]


def test_a_refused_cancellation_can_be_requested_again(two, acme, acme_api, cancel, work_of):
    cancel(two)
    acme_api.put(status(work_of(two, acme)), {"status": "cancelation not allowed"})

    assert outcome(cancel(two)) == (200, "cancel_requested")
    assert states(two) == ["canceling", "canceling"]


@pytest.mark.parametrize("accepted", [False, True], ids=["new", "accepted"])
def test_an_approved_partial_cancellation_restores_the_state_before(
    accepted, work, an_order_at_acme, acme_api, cancel
):
    if accepted:
        acme_api.put(status(work, "accepted"))
    before = state_of(work)

    assert outcome(cancel(an_order_at_acme, {"lines": [{"sku": "LAMP", "quantity": 2}]}))[0] == 200
    assert (state_of(work), order_state(an_order_at_acme)) == ("canceling", "canceling")

    assert acme_api.put(status(work), {"status": "canceled"}).json()["code"] == "canceled"
    assert state_of(work) == before
    assert lines(an_order_at_acme) == [(1, 0, 0, 2), (2, 0, 0, 0)]
    assert StockLevel.objects.get(variant__sku="LAMP").reserved == 1
    assert acme_api.put(status(work), {"status": "canceled"}).json()["code"] == "unchanged"
    assert acme_api.put(status(work), {"status": "cancelation not allowed"}).status_code == 409


def test_a_repeated_approval_does_not_approve_a_later_request(work, an_order_at_acme, acme_api, cancel):
    cancel(an_order_at_acme, {"lines": [{"sku": "LAMP", "quantity": 2}]})
    acme_api.put(status(work), {"status": "canceled"})
    acme_api.put(status(work, "accepted"))

    assert outcome(acme_api.put(status(work), {"status": "canceled"})) == (409, "invalid_transition")


def test_a_refused_partial_cancellation_keeps_all_units(work, an_order_at_acme, acme_api, cancel):
    cancel(an_order_at_acme, {"lines": [{"sku": "LAMP", "quantity": 2}]})

    acme_api.put(status(work), {"status": "cancelation not allowed"})

    assert state_of(work) == "cancelation not allowed"
    assert lines(an_order_at_acme) == [(3, 0, 0, 0), (2, 0, 0, 0)]


def test_shipped_units_stay_and_the_message_says_so(work, an_order_at_acme, acme_api, cancel):
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T", "lines": [line_units(work, "LAMP", 2)]})

    answer = cancel(an_order_at_acme)

    assert outcome(answer) == (200, "cancel_requested")
    assert "units already shipped" in answer.json()["message"]
    acme_api.put(status(work), {"status": "canceled"})
    assert (state_of(work), order_state(an_order_at_acme)) == ("shipped", "completed")
    assert lines(an_order_at_acme) == [(0, 2, 0, 1), (0, 0, 0, 2)]
    assert acme_api.put(status(work), {"status": "canceled"}).json()["code"] == "unchanged"


def test_a_mixed_order_is_canceled_as_far_as_possible(two, acme, rival, acme_api, rival_api, cancel, work_of):
    acme_api.put(status(work_of(two, acme), "accepted"))
    acme_api.put(status(work_of(two, acme), "shipped"), {"tracking_number": "T"})

    assert outcome(cancel(two)) == (200, "cancel_requested")

    assert states(two) == ["shipped", "canceling"]
    rival_api.put(status(work_of(two, rival)), {"status": "canceled"})
    assert order_state(two) == "completed"


def test_units_that_wait_for_an_address_are_canceled_at_once(
    two, acme, rival, acme_api, rival_api, cancel, work_of
):
    acme_api.put(status(work_of(two, acme), "wrong_address"))
    rival_api.put(status(work_of(two, rival), "wrong_address"))

    assert outcome(cancel(two)) == (200, "order_canceled")
    assert (states(two), order_state(two)) == (["canceled", "canceled"], "canceled")
    assert not StockLevel.objects.filter(reserved__gt=0).exists()


def test_a_part_that_waits_for_an_address_is_canceled_at_once(work, an_order_at_acme, acme_api, cancel):
    acme_api.put(status(work, "wrong_address"))

    cancel(an_order_at_acme, {"lines": [{"sku": "LAMP"}]})

    assert (state_of(work), order_state(an_order_at_acme)) == ("wrong_address", "exception")
    assert lines(an_order_at_acme) == [(0, 0, 0, 3), (2, 0, 0, 0)]


def test_the_refused_rest_of_a_partial_shipment_is_canceled_at_once(work, an_order_at_acme, acme_api, cancel):
    acme_api.put(status(work, "accepted"))
    parcel = {"tracking_number": "T-1", "lines": [line_units(work, "LAMP", 1)]}
    acme_api.put(status(work, "shipped"), parcel)
    acme_api.put(status(work, "wrong_address"))

    assert cancel(an_order_at_acme).status_code == 200

    assert (state_of(work), order_state(an_order_at_acme)) == ("shipped", "completed")
    assert lines(an_order_at_acme) == [(0, 1, 0, 2), (0, 0, 0, 2)]


def test_units_without_a_supplier_are_canceled_at_once(two, acme, acme_api, cancel, work_of):
    acme_api.put(status(work_of(two, acme), "out_of_stock"))
    assert order_state(two) == "exception"

    answer = cancel(two, {"lines": [{"sku": "LAMP"}]})

    assert answer.status_code == 200
    assert (states(two), order_state(two)) == (["out_of_stock", "new"], "received")
    assert lines(two) == [(0, 0, 0, 3), (2, 0, 0, 0)]


@pytest.mark.parametrize("name", ["id", "sku", "variant_id"])
def test_a_line_is_named_by_its_id_its_sku_or_its_variant(name, two, cancel):
    line = two.lines.get(sku="LAMP")
    value = {"id": line.pk, "sku": "LAMP", "variant_id": line.fulfillment_lines.get().variant_id}[name]

    assert outcome(cancel(two, {"lines": [{name: value, "quantity": 1}], "reason": "mistake"})) == (
        200,
        "cancel_requested",
    )

    assert [part.cancel_requested for part in line.fulfillment_lines.all()] == [1]
    assert Event.objects.filter(type="order.cancel_requested", data__reason="mistake").count() == 1


@pytest.mark.parametrize("body", [None, {}, {"lines": None}, {"reason": None}, {"reason": ""}])
def test_a_cancel_without_lines_means_the_whole_order(body, two, cancel):
    assert cancel(two, body).status_code == 200
    assert states(two) == ["canceling", "canceling"]


def test_a_repeated_request_asks_once(two, cancel):
    cancel(two)
    events, stamp = Event.objects.count(), Order.objects.get().updated_at

    assert outcome(cancel(two)) == (200, "unchanged")

    assert (Event.objects.count(), Order.objects.get().updated_at) == (events, stamp)


def test_a_repeated_request_for_a_part_asks_once(work, an_order_at_acme, cancel):
    part = {"lines": [{"sku": "LAMP", "quantity": 2}]}
    cancel(an_order_at_acme, part)

    assert outcome(cancel(an_order_at_acme, part)) == (200, "unchanged")
    assert work.lines.get(variant__sku="LAMP").cancel_requested == 2


def test_a_repeated_request_for_a_part_does_not_ask_the_other_supplier(acme, rival, a_variant, push, cancel):
    """Both suppliers have units of the line. A second request could go to the supplier that was not asked."""
    for supplier in (acme, rival):
        a_variant(supplier, "SOFA", stock=2, upc="036000291452")
    order = push({"upc": "036000291452", "quantity": 4})
    part = {"lines": [{"sku": "SOFA", "quantity": 2}]}
    cancel(order, part)

    assert outcome(cancel(order, part)) == (200, "unchanged")
    assert sorted(states(order)) == ["canceling", "new"]
    assert outcome(cancel(order, {"lines": [{"sku": "SOFA", "quantity": 1}]})) == (200, "unchanged")
    assert outcome(cancel(order, {"lines": [{"sku": "SOFA", "quantity": 3}]})) == (200, "cancel_requested")
    assert states(order) == ["canceling", "canceling"]


def test_a_cancellation_of_another_suppliers_part_may_be_requested_meanwhile(
    two, acme, rival, cancel, work_of
):
    cancel(two, {"lines": [{"sku": "LAMP", "quantity": 1}]})

    assert outcome(cancel(two, {"lines": [{"sku": "RUG", "quantity": 1}]})) == (200, "cancel_requested")
    assert states(two) == ["canceling", "canceling"]


def test_a_canceled_order_is_unchanged_also_when_lines_are_named(work, an_order_at_acme, acme_api, cancel):
    cancel(an_order_at_acme)
    acme_api.put(status(work), {"status": "canceled"})

    for body in (None, {"lines": [{"sku": "LAMP"}]}, {"lines": [{"sku": "LAMP", "quantity": 3}]}):
        assert outcome(cancel(an_order_at_acme, body)) == (200, "unchanged")


@pytest.mark.parametrize(
    "body", [None, {"lines": [{"sku": "LAMP"}]}, {"lines": [{"sku": "LAMP", "quantity": 1}]}]
)
def test_a_completed_order_has_nothing_left_to_cancel(body, work, an_order_at_acme, acme_api, cancel):
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T"})

    answer = cancel(an_order_at_acme, body)

    assert outcome(answer) == (409, "invalid_transition")
    assert order_state(an_order_at_acme) == "completed"


def test_a_shipped_line_is_refused_although_a_cancellation_of_another_line_waits(
    two, acme, acme_api, cancel, work_of
):
    acme_api.put(status(work_of(two, acme), "accepted"))
    acme_api.put(status(work_of(two, acme), "shipped"), {"tracking_number": "T"})
    cancel(two)

    answer = cancel(two, {"lines": [{"sku": "LAMP"}]})

    assert outcome(answer) == (409, "invalid_transition")
    assert "shipped: 3" in answer.json()["message"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"reason": 5}, "reason"),
        ({"reason": "x" * 501}, "reason"),
        ({"lines": []}, "lines"),
        ({"lines": {}}, "lines"),
        ({"lines": "all"}, "lines"),
        ({"lines": [5]}, "lines[0]"),
        ({"lines": [{}]}, "lines[0].id"),
        ({"lines": [{"quantity": 1}]}, "lines[0].id"),
        ({"lines": [{"sku": 5}]}, "lines[0].sku"),
        ({"lines": [{"id": "x"}]}, "lines[0].id"),
        ({"lines": [{"id": 2**63}]}, "lines[0].id"),
        ({"lines": [{"sku": "LAMP", "quantity": 0}]}, "lines[0].quantity"),
        ({"lines": [{"sku": "LAMP", "quantity": 1.5}]}, "lines[0].quantity"),
        ({"lines": [{"sku": "LAMP", "quantity": 4}]}, "lines[0].quantity"),
        ({"lines": [{"sku": "LAMP", "quantity": 2}, {"sku": "LAMP", "quantity": 2}]}, "lines[1].quantity"),
        ({"lines": [{"sku": "LAMP"}, {"sku": "SOFA"}]}, "lines[1]"),
        ({"lines": [{"id": 10**15}]}, "lines[0]"),
        ({"lines": [{"variant_id": 10**15}]}, "lines[0]"),
    ],
)
def test_a_wrong_cancel_names_the_fault_and_cancels_nothing(body, field, two, cancel):
    events = Event.objects.count()

    answer = cancel(two, body)

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)
    assert (states(two), Event.objects.count()) == (["new", "new"], events)


def test_a_body_that_cannot_be_read_cancels_nothing(two, cancel):
    assert outcome(cancel(two, b'{"lines": [')) == (400, "invalid_json")
    assert outcome(cancel(two, b"[]")) == (400, "validation_error")
    assert states(two) == ["new", "new"]


@pytest.mark.parametrize(
    "body",
    [b'{"reason": "x", "because": NaN}', b'{"lines": [{"sku": "LAMP", "quantity": Infinity}]}', b"NaN"],
)
def test_a_number_that_is_no_valid_json_cancels_nothing(body, two, cancel):
    assert outcome(cancel(two, body)) == (400, "invalid_json")
    assert states(two) == ["new", "new"]


def test_an_order_of_another_retailer_is_not_found(two, boutique, client_for):
    api = client_for(boutique)

    theirs, none = (api.post(f"orders/{pk}/cancel").json() for pk in (two.pk, 10**15))

    assert theirs.pop("request_id") != none.pop("request_id")
    assert theirs == none
    assert theirs["code"] == "not_found"


@pytest.mark.parametrize("count", [1, 8])
def test_the_cost_of_a_cancel_is_independent_of_the_number_of_lines(
    count, acme, a_variant, push, acme_api, cancel, work_of, django_assert_max_num_queries
):
    """Acme has one unit of each line, and has refused the other unit."""
    for number in range(count):
        a_variant(acme, f"LAMP-{number}", stock=9)
    order = push(*({"sku": f"LAMP-{number}", "quantity": 2} for number in range(count)))
    items = [{"sku": f"LAMP-{number}", "quantity": 1} for number in range(count)]
    acme_api.post("fulfillments/rejections", [{"id": work_of(order, acme).pk, "items": items}])

    # Queries: the key; the order; savepoints; the order locked; lines, parts, variants; the cancelable units;
    # dropped lines; the fulfillment locked, its lines; both written; the state derived; events; stamp.
    with django_assert_max_num_queries(20):
        assert cancel(order).status_code == 200
