"""The unit of work: one change of an order at a time, written whole or not at all."""

from __future__ import annotations

import inspect
from functools import partial

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from api.errors import Invalid
from events.models import Event
from fulfillments.effects import Effects, StockEffect
from fulfillments.models import Fulfillment, MoveOutcome, Shipment
from fulfillments.states import ACCEPT, State
from inventory.models import MovementKind, StockLevel
from orders.change import OrderChange, first_change_of
from orders.models import Order
from orders.services import hold, release
from tests.orders.fixtures import OPERATOR, state_of

LAMP = [{"sku": "LAMP", "quantity": 1}]
# Every method that moves a fulfillment.
MOVES = {
    "accept": lambda work, change: work.accept(change),
    "ship": lambda work, change: work.ship(change, tracking_number="T-1"),
    "ship_parcels": lambda work, change: work.ship_parcels(
        change, [{"tracking_number": "T-1", "items": LAMP}]
    ),
    "correct_shipment": lambda work, change: work.correct_shipment(change, Shipment(fulfillment=work)),
    "reject": lambda work, change: work.reject(change, State.OUT_OF_STOCK),
    "reject_items": lambda work, change: work.reject_items(change, State.OUT_OF_STOCK, LAMP, reject_id=None),
    "record_return": lambda work, change: work.record_return(change, LAMP, reason="broken"),
    "restock": lambda work, change: work.restock(change),
    "save_invoice": lambda work, change: work.save_invoice(change, "INV-1"),
    "request_cancelation": lambda work, change: work.request_cancelation(change),
    "approve_cancelation": lambda work, change: work.approve_cancelation(change),
    "refuse_cancelation": lambda work, change: work.refuse_cancelation(change),
    "answer_by_default": lambda work, change: work.answer_by_default(change),
    "correct_address": lambda work, change: work.correct_address(change),
    "give_up": lambda work, change: work.give_up(change),
    "cancel_uncaptured": lambda work, change: work.cancel_uncaptured(change, quantities={}),
    "withdraw": lambda work, change: work.withdraw(change),
}


@pytest.fixture
def order(an_order_at_acme):
    return an_order_at_acme


@pytest.fixture
def two(acme, rival, a_variant, push, work_of):
    """Push an order, and return its fulfillments at Acme and at Rival."""
    a_variant(acme, "LAMP", stock=10)
    a_variant(rival, "RUG", stock=10)
    order = push({"sku": "LAMP", "quantity": 3}, {"sku": "RUG", "quantity": 2})
    return work_of(order, acme), work_of(order, rival)


class Broken(Exception):
    """An internal error in the middle of a change."""


def change_and_break(order, *actions):
    with order.change(by=OPERATOR) as change:
        for action in actions:
            action(change)
        raise Broken


def stamps(order):
    return Order.objects.values_list("processing_state", "updated_at").get(pk=order.pk)


def stock():
    return [*StockLevel.objects.order_by("pk").values_list("on_hand", "reserved")]


# --- Whole, or not at all ------------------------------------------------------------------------


def test_several_moves_of_one_change_are_stamped_once_and_lock_stock_once(two):
    first, second = two
    order = first.order

    with (
        CaptureQueriesContext(
            connection,
        ) as captured,
        order.change(by=OPERATOR) as change,
    ):
        for work in (first, second):
            work.accept(change)
            work.ship(change, tracking_number=f"T-{work.pk}")
        change.record("order.note", data={"text": "called the customer"})

    statements = [query["sql"] for query in captured]
    assert sum('FROM "inventory_stocklevel"' in each and "FOR UPDATE" in each for each in statements) == 1
    assert sum("orders_retailerclock" in each for each in statements) == 1
    assert stamps(order) == ("completed", order.updated_at)
    assert order.processing_state == "completed"
    assert [*Event.objects.filter(actor=OPERATOR.name).order_by("id").values_list("type", flat=True)] == [
        *("fulfillment.accepted", "fulfillment.shipped") * 2,
        *("order.note", "order.completed"),
    ]


def test_a_change_that_records_nothing_writes_nothing(order, work):
    with order.change(by=OPERATOR) as change:
        release(change)
    before = stamps(order), Event.objects.count()

    with order.change(by=OPERATOR) as change:
        assert release(change) is MoveOutcome.UNCHANGED
        assert work.ship_parcels(change, []) is MoveOutcome.UNCHANGED

    assert (stamps(order), Event.objects.count()) == before


def test_a_change_that_fails_leaves_nothing(order, work):
    before = stamps(order), stock(), Event.objects.count()

    with pytest.raises(Broken):
        change_and_break(order, work.accept, partial(work.ship, tracking_number="T-1"), hold)

    assert (stamps(order), stock(), Event.objects.count()) == before
    assert state_of(work) == State.NEW
    assert not Order.objects.get().held


def test_a_failed_change_leaves_nothing_to_the_next_change(order, work):
    with pytest.raises(Broken):
        change_and_break(order, partial(work.reject, reason=State.MISSING_SKU))

    with order.change(by=OPERATOR) as change:
        assert work.accept(change) is MoveOutcome.DONE

    assert stamps(order)[0] == "processing"
    happened = Event.objects.filter(actor=OPERATOR.name).order_by("id").values_list("type", flat=True)
    assert [*happened] == ["fulfillment.accepted", "order.processing"]


def test_a_refused_move_has_no_effect_in_a_change_that_continues(order, work):
    line = work.lines.first()
    with order.change(by=OPERATOR) as change:
        work.accept(change)
        with pytest.raises(Invalid):
            work.ship(change, tracking_number="T-1", quantities={line.pk: 99})

    assert state_of(work) == State.ACCEPTED
    assert stock() == [(10, 3), (10, 2)]


# --- Moves need a change of their own order --------------------------------------------------------


def test_every_move_is_tried_here():
    taking = {
        name
        for name, method in inspect.getmembers(Fulfillment, inspect.isfunction)
        if name[0] != "_" and "change" in inspect.signature(method).parameters
    }

    assert set(MOVES) == taking


@pytest.mark.parametrize("move", MOVES)
def test_no_fulfillment_is_moved_in_the_change_of_another_order(move, order, work, push):
    other = push({"sku": "LAMP", "quantity": 1})
    before = stamps(order), stamps(other), stock(), Event.objects.count()

    message = f"a change of order {other.pk}. Move a fulfillment of order {order.pk}"
    with (
        pytest.raises(RuntimeError, match=message),
        other.change(by=OPERATOR) as change,
    ):
        MOVES[move](work, change)

    assert (stamps(order), stamps(other), stock(), Event.objects.count()) == before


@pytest.mark.parametrize("move", MOVES)
def test_no_fulfillment_is_moved_in_a_change_that_has_ended(move, order, work):
    with order.change(by=OPERATOR) as change:
        hold(change)
    before = stamps(order), stock(), Event.objects.count()

    with pytest.raises(RuntimeError, match=f"change of order {order.pk} has ended"):
        MOVES[move](work, change)

    assert (stamps(order), stock(), Event.objects.count()) == before


def test_a_change_that_has_ended_records_nothing(order):
    with order.change(by=OPERATOR) as change:
        hold(change)
    with pytest.raises(RuntimeError, match="has ended"):
        change.record("order.note")


def test_a_move_needs_a_change_that_was_entered(order, work):
    with pytest.raises(RuntimeError, match="has ended"):
        work.accept(OrderChange(order, OPERATOR))


def test_other_copies_of_the_order_and_the_fulfillment_move_in_the_one_change(order, work):
    """If two copies of the order wrote their state, stamp and counts, the stored values would be wrong."""
    copy = Fulfillment.objects.select_related("order").get(pk=work.pk)
    copy.order.ship_until = None
    assert copy.order is not order

    with order.change(by=OPERATOR) as change:
        work.accept(change)
        copy.ship(change, tracking_number="T-1")

    assert state_of(work) == State.SHIPPED
    assert stamps(order) == ("completed", order.updated_at)


# --- One at a time -------------------------------------------------------------------------------


def test_a_second_change_of_the_same_order_cannot_be_opened(order, work):
    copy = Order.objects.get(pk=order.pk)
    with order.change(by=OPERATOR) as change:
        work.accept(change)
        for each in (order, copy, work.order):
            with (
                pytest.raises(RuntimeError, match=f"Order {order.pk} is already being changed"),
                each.change(by=OPERATOR),
            ):
                pass
        work.ship(change, tracking_number="T-1")

    assert stamps(order) == ("completed", order.updated_at)
    # accepted, shipped, and the order's new state
    assert Event.objects.filter(actor=OPERATOR.name).count() == 3


def test_a_second_change_in_a_savepoint_is_refused_and_the_first_stays_open(order, work):
    with order.change(by=OPERATOR) as change:
        work.accept(change)
        with (
            pytest.raises(RuntimeError, match="is already being changed"),
            transaction.atomic(),
            order.change(by=OPERATOR) as second,
        ):
            work.ship(second, tracking_number="T-1")

    assert state_of(work) == State.ACCEPTED
    assert stamps(order) == ("processing", order.updated_at)


def test_a_change_of_another_order_inside_a_change_is_refused(order, push):
    other = push({"sku": "LAMP", "quantity": 1})
    with order.change(by=OPERATOR) as change:
        hold(change)
        with (
            pytest.raises(RuntimeError, match=f"Change order {other.pk} after that change has ended"),
            other.change(by=OPERATOR),
        ):
            pass

    assert Order.objects.get(pk=order.pk).held


def test_changes_follow_each_other_in_one_transaction(order, work):
    with transaction.atomic():
        with order.change(by=OPERATOR) as change:
            work.accept(change)
        first = stamps(order)
        with pytest.raises(Broken), transaction.atomic():
            change_and_break(order, hold)
        with Order.objects.get(pk=order.pk).change(by=OPERATOR) as change:
            work.ship(change, tracking_number="T-1")

    state, stamp = stamps(order)
    assert (state, stamp > first[1]) == ("completed", True)


@pytest.mark.django_db(transaction=True)
def test_the_first_change_of_an_order_belongs_to_the_transaction_that_makes_it(shop):
    with (
        pytest.raises(RuntimeError, match="can only be changed in a transaction"),
        first_change_of(Order(pk=1, retailer=shop), by=OPERATOR),
    ):
        pass


# --- No effect without a record ------------------------------------------------------------------


def test_effects_enter_a_change_only_with_a_recorded_event(order, work):
    key = (work.lines.first().variant_id, work.warehouse_id)
    with order.change(by=OPERATOR) as change:
        assert not hasattr(change, "effects")
        change.record("order.note", effects=Effects([StockEffect(MovementKind.REFUSE, key, 0, 0, work.pk)]))

    assert StockLevel.objects.get(variant_id=key[0]).on_hand == 0


def test_a_repetition_records_nothing_and_has_no_effects(order, work):
    key = (work.lines.first().variant_id, work.warehouse_id)
    with order.change(by=OPERATOR) as change:
        work.accept(change)
    before = stock()

    with (
        pytest.raises(RuntimeError, match="accept: a repetition records no event"),
        order.change(by=OPERATOR) as change,
        work._move(change, ACCEPT) as move,
    ):
        move.effects.stock.append(StockEffect(MovementKind.REFUSE, key, 0, 0, work.pk))

    assert stock() == before
