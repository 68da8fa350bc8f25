"""Cancellations that add units to a waiting request, and cancel requests that run once (contract 13)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Partnership
from events.models import Event
from fulfillments.models import Fulfillment
from inventory.models import StockLevel
from orders.models import Order
from tests.orders.fixtures import line_units, order_state, state_of, status

LET_GO, KEPT = {"status": "canceled"}, {"status": "cancelation not allowed"}


@pytest.fixture
def cancel(shop_api):
    """Return a function that requests the cancellation of lines or of the whole order, as the retailer. It
    returns the status and the code of the answer.
    """

    def post(order, *lines, **fields):
        body = {**({"lines": list(lines)} if lines else {}), **fields}
        answer = shop_api.post(f"orders/{order.pk}/cancel", body)
        return answer.status_code, answer.json()["code"]

    return post


def lamps(quantity=None):
    return {"sku": "LAMP"} | ({"quantity": quantity} if quantity else {})


def asked(work) -> dict[str, int]:
    """Return the units of the open cancellation request."""
    return dict(work.lines.values_list("variant__sku", "cancel_requested"))


def lines(order) -> dict[str, tuple[int, int, int]]:
    """Return the open, shipped and canceled units of each line."""
    return {line.sku: (line.open, line.shipped, line.canceled) for line in order.lines.all()}


REQUESTED, UNCHANGED, CONFLICT = (200, "cancel_requested"), (200, "unchanged"), (409, "cancel_conflict")


def test_the_cancellation_of_the_largest_possible_line_can_be_requested(acme, a_variant, push, cancel):
    """One unit is reserved. The sum of reserved and requested units would overflow the column."""
    a_variant(acme, "LAMP", stock=1)
    acme.partnerships.update(max_units_per_line=2**31 - 1)
    order = push({"sku": "LAMP", "quantity": 2**31 - 1})
    assert cancel(order) == REQUESTED
    assert asked(order.fulfillments.get()) == {"LAMP": 2**31 - 1}


def test_the_whole_order_can_be_canceled_after_a_request_for_a_part(work, an_order_at_acme, acme_api, cancel):
    """An answer `unchanged` would let the supplier ship the units that the first request did not name."""
    assert cancel(an_order_at_acme, lamps(1)) == REQUESTED
    assert cancel(an_order_at_acme) == REQUESTED
    assert asked(work) == {"LAMP": 3, "MAT": 2}
    assert cancel(an_order_at_acme) == UNCHANGED

    assert acme_api.put(status(work), LET_GO).json()["code"] == "canceled"

    assert (state_of(work), order_state(an_order_at_acme)) == ("canceled", "canceled")
    assert not StockLevel.objects.filter(reserved__gt=0).exists()


@pytest.mark.parametrize(
    ("more", "then"),
    [
        (lamps(1), {"LAMP": 1, "MAT": 0}),
        (lamps(2), {"LAMP": 2, "MAT": 0}),
        (lamps(3), {"LAMP": 3, "MAT": 0}),
        (lamps(), {"LAMP": 3, "MAT": 0}),
        ({"sku": "MAT", "quantity": 1}, {"LAMP": 1, "MAT": 1}),
        ({"sku": "MAT"}, {"LAMP": 1, "MAT": 2}),
    ],
)
def test_a_quantity_includes_units_that_wait_for_an_answer(more, then, work, an_order_at_acme, cancel):
    cancel(an_order_at_acme, lamps(1))

    expected = UNCHANGED if more == lamps(1) else REQUESTED

    assert cancel(an_order_at_acme, more) == expected
    assert asked(work) == then
    assert cancel(an_order_at_acme, more) == UNCHANGED
    assert cancel(an_order_at_acme, lamps(1)) == UNCHANGED  # a late repetition of the first request
    assert asked(work) == then


def test_waiting_units_count_once_for_a_line_named_twice(work, an_order_at_acme, cancel):
    cancel(an_order_at_acme, lamps(1), lamps(1))
    assert asked(work)["LAMP"] == 2

    assert cancel(an_order_at_acme, lamps(1), lamps(1)) == UNCHANGED
    assert cancel(an_order_at_acme, lamps(1), lamps(2)) == REQUESTED
    assert asked(work)["LAMP"] == 3


def test_more_units_than_remain_are_refused(work, an_order_at_acme, shop_api, cancel):
    cancel(an_order_at_acme, lamps(1))

    answer = shop_api.post(f"orders/{an_order_at_acme.pk}/cancel", {"lines": [lamps(4)]})

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "lines[0].quantity")
    assert "Only 2 can still be canceled, not 3" in answer.json()["message"]
    assert "already requested: 1" in answer.json()["message"]
    assert asked(work)["LAMP"] == 1


def test_a_wider_request_has_its_own_event_and_time_limit(work, an_order_at_acme, acme, cancel):
    Partnership.objects.filter(supplier=acme).update(hours_to_answer=4)
    cancel(an_order_at_acme, lamps(1), reason="too many")
    Fulfillment.objects.filter(pk=work.pk).update(due_at=timezone.now() + timedelta(minutes=1))
    before = Order.objects.values_list("updated_at", flat=True).get()

    cancel(an_order_at_acme, lamps(2), reason="none at all")

    assert Fulfillment.objects.filter(due_at__gt=timezone.now() + timedelta(hours=3)).count() == 1
    assert Order.objects.filter(updated_at__gt=before).exists()
    [_, wider] = Event.objects.filter(type="fulfillment.cancelation_requested").order_by("id")
    line = work.lines.get(variant__sku="LAMP")
    named = {"line": line.pk, "order_line_id": line.order_line_id}
    assert (wider.from_state, wider.to_state) == ("canceling", "canceling")
    assert wider.data == {
        "reason": "none at all",
        "items": [{**named, "quantity": 2}],
        "added": [{**named, "quantity": 1}],
    }
    [_, asked_for] = Event.objects.filter(type="order.cancel_requested").order_by("id")
    order_line = an_order_at_acme.lines.get(sku="LAMP").pk
    assert asked_for.data["items"] == [{"order_line_id": order_line, "quantity": 1}]


def test_a_repeated_request_does_not_extend_the_time_limit(work, an_order_at_acme, acme, cancel):
    Partnership.objects.filter(supplier=acme).update(hours_to_answer=4)
    cancel(an_order_at_acme)
    work.refresh_from_db()
    before = work.due_at

    cancel(an_order_at_acme)

    work.refresh_from_db()
    assert work.due_at == before


@pytest.mark.parametrize("accepted", [False, True], ids=["new", "accepted"])
def test_after_an_approved_wider_part_the_state_is_that_before_the_first_request(
    accepted, work, an_order_at_acme, acme_api, cancel
):
    if accepted:
        acme_api.put(status(work, "accepted"))
    before = state_of(work)
    cancel(an_order_at_acme, lamps(1))
    cancel(an_order_at_acme, lamps(2))
    shown = acme_api.get(f"fulfillments/{work.pk}").json()["lines"]
    assert [line["quantity_cancel_requested"] for line in shown] == [2, 0]

    acme_api.put(status(work), LET_GO)

    assert state_of(work) == before
    assert lines(an_order_at_acme) == {"LAMP": (1, 0, 2), "MAT": (2, 0, 0)}
    assert acme_api.put(status(work), LET_GO).json()["code"] == "unchanged"


def test_after_a_refused_wider_request_all_units_stay(work, an_order_at_acme, acme_api, cancel):
    cancel(an_order_at_acme, lamps(1))
    cancel(an_order_at_acme)

    acme_api.put(status(work), KEPT)

    assert (state_of(work), asked(work)) == ("cancelation not allowed", {"LAMP": 0, "MAT": 0})
    assert cancel(an_order_at_acme) == REQUESTED


def test_the_rest_of_a_partial_shipment_can_be_canceled_in_several_requests(
    work, an_order_at_acme, acme_api, cancel
):
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T", "lines": [line_units(work, "LAMP", 1)]})

    assert cancel(an_order_at_acme, lamps(1)) == REQUESTED
    assert cancel(an_order_at_acme) == REQUESTED
    acme_api.put(status(work), LET_GO)

    assert (state_of(work), order_state(an_order_at_acme)) == ("shipped", "completed")
    assert lines(an_order_at_acme) == {"LAMP": (0, 1, 2), "MAT": (0, 0, 2)}


def test_a_larger_cancellation_asks_both_suppliers(acme, rival, a_variant, push, cancel, work_of, acme_api):
    a_variant(acme, "LAMP", stock=10)
    a_variant(rival, "RUG", stock=10)
    order = push({"sku": "LAMP", "quantity": 3}, {"sku": "RUG", "quantity": 2})
    cancel(order, lamps(1))

    assert cancel(order) == REQUESTED

    assert (asked(work_of(order, acme)), asked(work_of(order, rival))) == ({"LAMP": 3}, {"RUG": 2})
    acme_api.put(status(work_of(order, acme)), LET_GO)
    assert cancel(order) == UNCHANGED  # Rival has not answered yet
    assert lines(order) == {"LAMP": (0, 0, 3), "RUG": (2, 0, 0)}


def test_units_refused_during_a_request_are_canceled_by_the_next_one(
    acme, rival, a_variant, push, cancel, work_of, acme_api, rival_api
):
    """A line is split over two suppliers.

    One supplier has a cancel request, and the other supplier has refused its units.
    """
    for supplier in (acme, rival):
        a_variant(supplier, "SOFA", stock=2, upc="036000291452")
    order = push({"upc": "036000291452", "quantity": 4})
    sofas = {"id": order.lines.get().pk}
    cancel(order, sofas | {"quantity": 1})
    [other] = Fulfillment.objects.filter(order=order, state="new")
    (acme_api if other.supplier == acme else rival_api).put(status(other, "out_of_stock"))

    assert cancel(order, sofas | {"quantity": 3}) == REQUESTED

    assert order.lines.get().canceled == 2
    assert sum(each.cancel_requested for each in order.lines.get().fulfillment_lines.all()) == 1


def test_a_repeated_cancel_of_a_completed_order_is_unchanged(work, an_order_at_acme, acme_api, cancel):
    """Refused units are canceled at once, which completes the order."""
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T", "lines": [line_units(work, "LAMP", 1)]})
    acme_api.put(status(work, "out_of_stock"))

    assert cancel(an_order_at_acme) == REQUESTED
    assert order_state(an_order_at_acme) == "completed"
    assert cancel(an_order_at_acme) == UNCHANGED

    acme_api.post(f"fulfillments/{work.pk}/returns", {"reason": "x", "return_lines": [lamps(1)]})
    assert cancel(an_order_at_acme) == (409, "invalid_transition")


# --- cancel_id -------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [LET_GO, KEPT, None], ids=["let go", "kept", "not answered"])
def test_a_cancel_id_is_carried_out_once_with_any_result(answer, work, an_order_at_acme, acme_api, cancel):
    assert cancel(an_order_at_acme, lamps(1), cancel_id="C-1") == REQUESTED
    if answer:
        acme_api.put(status(work), answer)
    events, stamp = Event.objects.count(), Order.objects.get().updated_at

    assert cancel(an_order_at_acme, lamps(1), cancel_id="C-1") == UNCHANGED

    assert (Event.objects.count(), Order.objects.get().updated_at) == (events, stamp)
    assert asked(work)["LAMP"] == (0 if answer else 1)
    assert lines(an_order_at_acme)["LAMP"] == ((2, 0, 1) if answer == LET_GO else (3, 0, 0))


def test_requests_of_different_ids_add_up(work, an_order_at_acme, acme_api, cancel):
    assert cancel(an_order_at_acme, lamps(1), cancel_id="C-1") == REQUESTED
    assert cancel(an_order_at_acme, lamps(1), cancel_id="C-2") == REQUESTED
    assert asked(work)["LAMP"] == 2
    acme_api.put(status(work), LET_GO)
    assert cancel(an_order_at_acme, lamps(1), cancel_id="C-3") == REQUESTED

    for known in ("C-1", "C-2", "C-3"):
        assert cancel(an_order_at_acme, lamps(1), cancel_id=known) == UNCHANGED
    acme_api.put(status(work), LET_GO)

    assert lines(an_order_at_acme)["LAMP"] == (0, 0, 3)


@pytest.mark.parametrize(
    "other",
    [
        {"lines": [lamps(2)]},
        {"lines": [lamps()]},
        {"lines": [{"sku": "MAT", "quantity": 1}]},
        {"lines": [lamps(1), {"sku": "MAT"}]},
        {},
        {"lines": [lamps(1)], "reason": "another"},
    ],
)
def test_a_cancel_id_with_other_content_is_a_conflict(other, work, an_order_at_acme, shop_api, cancel):
    cancel(an_order_at_acme, lamps(1), cancel_id="C-1")
    events = Event.objects.count()

    answer = shop_api.post(f"orders/{an_order_at_acme.pk}/cancel", {**other, "cancel_id": "C-1"})

    assert (answer.status_code, answer.json()["code"]) == CONFLICT
    assert "C-1" in answer.json()["message"]
    assert (asked(work)["LAMP"], Event.objects.count()) == (1, events)


def test_the_same_content_in_another_spelling_is_the_same_request(work, an_order_at_acme, cancel):
    line = an_order_at_acme.lines.get(sku="LAMP").pk
    cancel(an_order_at_acme, {"id": line, "quantity": 1}, {"sku": "MAT", "quantity": None}, cancel_id="C-1")

    again = [{"sku": "MAT", "id": None}, {"quantity": "1", "id": str(line)}]
    assert cancel(an_order_at_acme, *again, cancel_id="C-1", reason=None) == UNCHANGED


def test_an_id_that_was_refused_is_free(work, an_order_at_acme, acme_api, cancel):
    """Nothing was done under this cancel_id, so the request can be corrected."""
    assert cancel(an_order_at_acme, lamps(9), cancel_id="C-1")[0] == 400

    assert cancel(an_order_at_acme, lamps(1), cancel_id="C-1") == REQUESTED


def test_an_id_of_a_request_without_effect_is_taken(work, an_order_at_acme, acme_api, cancel):
    cancel(an_order_at_acme)
    assert cancel(an_order_at_acme, lamps(1), cancel_id="C-1") == UNCHANGED
    acme_api.put(status(work), KEPT)

    assert cancel(an_order_at_acme, lamps(1), cancel_id="C-1") == UNCHANGED
    assert asked(work)["LAMP"] == 0


def test_an_id_belongs_to_its_order(work, an_order_at_acme, push, cancel):
    other = push({"sku": "LAMP", "quantity": 1})

    assert cancel(an_order_at_acme, lamps(1), cancel_id="C-1") == REQUESTED
    assert cancel(other, lamps(1), cancel_id="C-1") == REQUESTED


def test_a_repeated_cancel_id_of_a_whole_order_changes_nothing(work, an_order_at_acme, acme_api, cancel):
    assert cancel(an_order_at_acme, cancel_id="ALL") == REQUESTED
    acme_api.put(status(work), KEPT)

    assert cancel(an_order_at_acme, cancel_id="ALL") == UNCHANGED
    assert state_of(work) == "cancelation not allowed"


def test_units_without_a_supplier_are_dropped_once(work, an_order_at_acme, acme_api, cancel):
    acme_api.put(status(work, "out_of_stock"))

    assert cancel(an_order_at_acme, lamps(1), cancel_id="C-1") == REQUESTED
    assert cancel(an_order_at_acme, lamps(1), cancel_id="C-1") == UNCHANGED

    assert lines(an_order_at_acme)["LAMP"] == (0, 0, 1)


def test_a_cancel_id_works_beside_an_idempotency_key(work, an_order_at_acme, shop_api, acme_api):
    path, body = f"orders/{an_order_at_acme.pk}/cancel", {"lines": [lamps(1)], "cancel_id": "C-1"}
    first = shop_api.post(path, body, Idempotency_Key="K-1")
    replayed = shop_api.post(path, body, Idempotency_Key="K-1")
    other = shop_api.post(path, body, Idempotency_Key="K-2")

    assert [first.json()["code"], replayed.json()["code"], other.json()["code"]] == [
        "cancel_requested",
        "cancel_requested",
        "unchanged",
    ]
    assert replayed.headers["Idempotent-Replayed"] == "true"
    assert "Units that suppliers are asked to release: 1." in other.json()["message"]
    assert asked(work)["LAMP"] == 1


@pytest.mark.parametrize("cancel_id", ["", " ", 5, "x" * 101, [], {}, True])
def test_a_cancel_id_is_a_text(cancel_id, work, an_order_at_acme, shop_api):
    answer = shop_api.post(f"orders/{an_order_at_acme.pk}/cancel", {"cancel_id": cancel_id})

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "cancel_id")
    assert state_of(work) == "new"


@pytest.mark.parametrize("name", ["cancelId", "cancel_ID", "cancelid"])
def test_a_misspelt_cancel_id_cancels_nothing(name, work, an_order_at_acme, shop_api):
    answer = shop_api.post(f"orders/{an_order_at_acme.pk}/cancel", {"lines": [lamps(1)], name: "C-1"})

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, name)
    assert state_of(work) == "new"


@pytest.mark.parametrize(
    "body",
    [
        b'{"lines": [{"sku": "LAMP", "quantity": NaN}]}',
        b'{"lines": NaN}',
        b'{"cancel_id": NaN}',
        b'{"reason": Infinity}',
    ],
)
def test_an_invalid_number_cancels_nothing(body, work, an_order_at_acme, shop_api):
    assert shop_api.post(f"orders/{an_order_at_acme.pk}/cancel", body).status_code == 400
    assert state_of(work) == "new"


@pytest.mark.parametrize("named", [(), (lamps(1),)], ids=["the whole order", "a line"])
def test_a_new_cancel_id_for_units_that_are_all_shipped_or_canceled_is_refused(
    named, work, an_order_at_acme, acme_api, cancel
):
    """An answer `unchanged` would let the retailer refund a shipped unit."""
    cancel(an_order_at_acme, lamps(1), cancel_id="C-1")
    acme_api.put(status(work), LET_GO)
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "A"})

    assert cancel(an_order_at_acme, *named, cancel_id="C-2") == (409, "invalid_transition")
    assert cancel(an_order_at_acme, lamps(1), cancel_id="C-1") == UNCHANGED
    assert not an_order_at_acme.cancel_requests.filter(cancel_id="C-2").exists()


def test_a_new_cancel_id_for_an_order_that_is_canceled_is_refused(work, an_order_at_acme, acme_api, cancel):
    cancel(an_order_at_acme, cancel_id="C-1")
    acme_api.put(status(work), LET_GO)

    assert cancel(an_order_at_acme, cancel_id="C-2") == (409, "invalid_transition")
    assert cancel(an_order_at_acme, cancel_id="C-1") == UNCHANGED
    assert cancel(an_order_at_acme) == UNCHANGED


def test_a_new_cancel_id_for_a_canceled_line_is_refused_despite_a_pending_request(
    work, an_order_at_acme, acme_api, cancel
):
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "A", "lines": [line_units(work, "LAMP", 2)]})
    cancel(an_order_at_acme, lamps(1))
    acme_api.put(status(work), LET_GO)
    cancel(an_order_at_acme, {"sku": "MAT"})

    assert cancel(an_order_at_acme, lamps(1), cancel_id="C-1") == (409, "invalid_transition")
    assert cancel(an_order_at_acme, {"sku": "MAT"}, cancel_id="C-2") == UNCHANGED
