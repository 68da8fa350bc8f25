"""Arriving stock goes to waiting orders first, oldest first, and then to new orders."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from events.models import Event
from fulfillments.models import FulfillmentLine
from inventory import arrivals
from inventory.models import MovementKind, StockLevel, StockMovement, Warehouse
from orders.backorders.allocating import allocate_all
from orders.models import Order
from orders.services import hold
from orders.tasks import serve_waiting
from tests.factories import StockLevelFactory, set_stock
from tests.orders.fixtures import OPERATOR, order_state, status

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def lamp(acme, a_variant):
    """Create a variant of Acme with a stock level of zero units."""
    return a_variant(acme, "LAMP", stock=0)


@pytest.fixture
def stock(acme_api, lamp):
    """Return a function that counts lamps in their supplier's default warehouse, Acme's by default."""

    def count(pieces, api=acme_api, variant=lamp):
        warehouse = Warehouse.objects.get(supplier=variant.supplier, is_default=True)
        elements = [{"id": variant.sku, "amount": pieces}]
        body = {"warehouse_id": warehouse.pk, "id_type": "sku", "inventories": elements}
        answer = api.post("inventory", body)
        assert answer.status_code == 200, answer.content

    return count


@pytest.fixture
def lost_callbacks(monkeypatch):
    """Simulate a process that died right after its commit: no callback runs."""
    monkeypatch.setattr(arrivals, "_registered", [])


def reserved(order) -> int:
    lines = FulfillmentLine.objects.filter(fulfillment__order=order)
    return sum(lines.values_list("reserved", flat=True))


def lamps(push, *quantities, **fields) -> list[Order]:
    """Push orders of these numbers of lamps, oldest first."""
    return [push({"sku": "LAMP", "quantity": each}, **fields) for each in quantities]


# --- Order of allocation -------------------------------------------------------------------------


def test_the_oldest_short_order_gets_stock_first(push, stock):
    orders = lamps(push, 2, 2, 2)

    stock(3)

    assert [reserved(order) for order in orders] == [2, 1, 0]


def test_very_large_backorders_block_no_other_order(push, stock, lost_callbacks, acme):
    """The sum of their units exceeds PostgreSQL's `integer`. Pushes of other orders must still succeed."""
    acme.partnerships.update(max_units_per_line=2**31 - 1)
    first, second = lamps(push, 2**31 - 1, 2**31 - 1)

    stock(3)
    [third] = lamps(push, 1)
    allocate_all(None, seconds=60)

    assert [reserved(order) for order in (first, second, third)] == [3, 0, 0]


def test_a_new_order_gets_the_units_that_waiting_orders_leave(push, stock):
    [waiting] = lamps(push, 2)
    stock(3)

    [new] = lamps(push, 2)

    assert [reserved(waiting), reserved(new)] == [2, 1]


def test_waiting_units_find_a_supplier_when_stock_arrives(push, stock, shop_api, work_of, acme):
    [order] = lamps(push, 3, when_short="wait")

    stock(2)

    [line] = shop_api.get(f"orders/{order.pk}").json()["order_lines"]
    assert (line["quantity_waiting"], line["quantity_reserved"], line["short"]) == (1, 2, 0)
    assert work_of(order, acme).state == "new"


def test_routed_units_come_before_unrouted_ones(push, stock):
    [waiting], [routed] = lamps(push, 2, when_short="wait"), lamps(push, 2)

    stock(3)

    assert [reserved(waiting), reserved(routed)] == [1, 2]


def test_the_oldest_unrouted_units_come_first(push, stock):
    orders = lamps(push, 2, 2, 2, when_short="wait")

    stock(5)

    assert [reserved(order) for order in orders] == [2, 2, 1]


def test_units_that_all_suppliers_refused_go_to_a_supplier_with_new_stock(
    push, acme_api, work_of, acme, rival, rival_api, lamp, a_variant, stock
):
    theirs = a_variant(rival, "LAMP", stock=0)
    [order] = lamps(push, 2)
    acme_api.put(status(work_of(order, acme), "out_of_stock"))
    assert order_state(order) == "exception"

    stock(2, rival_api, theirs)

    assert work_of(order, rival).lines.get().reserved == 2
    assert order_state(order) == "received"


def test_a_warehouse_that_was_out_of_stock_for_a_line_is_left_out(push, acme_api, work_of, acme, stock):
    refused, new = lamps(push, 2, 2)
    acme_api.put(status(work_of(refused, acme), "out_of_stock"))

    stock(2)

    assert order_state(refused) == "exception"
    assert reserved(new) == 2


def test_a_pinned_line_waits_for_its_own_supplier(push, lamp, rival, rival_api, a_variant, stock):
    theirs = a_variant(rival, "LAMP", stock=0)
    order = push({"variant_id": lamp.pk, "quantity": 2}, when_short="wait")

    stock(9, rival_api, theirs)
    assert reserved(order) == 0
    stock(9)

    assert reserved(order) == 2


def test_units_refused_for_the_address_wait_for_an_operator(
    push, acme_api, work_of, acme, rival, rival_api, lamp, a_variant, stock
):
    theirs = a_variant(rival, "LAMP", stock=0)
    [order] = lamps(push, 2)
    work = work_of(order, acme)
    refusal = {
        "id": work.pk,
        "rejectId": "1",
        "reason": "wrong_address",
        "items": [{"sku": "LAMP", "quantity": 1}],
    }
    acme_api.post("fulfillments/rejections", [refusal])

    stock(9, rival_api, theirs)

    assert order_state(order) == "exception"
    assert reserved(order) == 0


def test_held_orders_get_arrived_stock_too(push, stock):
    [order] = lamps(push, 2)
    with order.change(by=OPERATOR) as change:
        hold(change)

    stock(2)

    assert reserved(order) == 2


def test_canceled_units_do_not_wait_for_stock(push, stock, shop_api, acme_api, work_of, acme):
    waiting, asked_back, gone, last = lamps(push, 2, 2, 2, 2)
    for order in (asked_back, gone):
        shop_api.post(f"orders/{order.pk}/cancel")
    acme_api.put(status(work_of(gone, acme)), {"status": "canceled"})

    stock(4)

    assert [reserved(each) for each in (waiting, asked_back, gone, last)] == [2, 0, 0, 2]
    assert order_state(gone) == "canceled"


# --- Sources of stock ----------------------------------------------------------------------------


def test_units_released_by_a_cancelation_go_to_waiting_orders(push, stock, shop_api, acme_api, work_of, acme):
    stock(2)
    first, second = lamps(push, 2, 2)
    shop_api.post(f"orders/{first.pk}/cancel")

    acme_api.put(status(work_of(first, acme)), {"status": "canceled"})

    assert [reserved(first), reserved(second)] == [0, 2]


def test_restocked_units_go_to_waiting_orders(push, stock, acme_api, work_of, acme):
    stock(2)
    first, second = lamps(push, 2, 1)
    work = work_of(first, acme)
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T-1"})
    lines = [{"sku": "LAMP", "quantity": 1, "restock": True}]

    acme_api.post(f"fulfillments/{work.pk}/returns", {"reason": "too dark", "return_lines": lines})

    assert reserved(second) == 1


@pytest.mark.parametrize("method", ["count", "adjust"])
def test_units_added_by_an_operator_go_to_waiting_orders(push, lamp, method):
    [order] = lamps(push, 2)
    level = lamp.stock.get()

    if method == "count":
        level.count(2, by=OPERATOR)
    else:
        level.adjust(2, reason="found", by=OPERATOR)

    assert reserved(order) == 2


def test_a_new_stock_level_goes_to_waiting_orders(push, acme, a_variant):
    rug = a_variant(acme, "RUG")
    order = push({"sku": "RUG", "quantity": 2})
    StockLevel(variant=rug, warehouse=Warehouse.objects.get(supplier=acme, is_default=True)).open(
        2, by=OPERATOR
    )

    assert reserved(order) == 2


def test_stock_at_another_warehouse_is_not_for_routed_units(push, lamp, acme):
    [routed], [waiting] = lamps(push, 2), lamps(push, 2, when_short="wait")
    west = Warehouse.objects.get(name="Acme West")
    level = StockLevelFactory.create(variant=lamp, warehouse=west, on_hand=0)

    level.count(9, by=OPERATOR)

    assert [reserved(routed), reserved(waiting)] == [0, 2]


# --- New orders do not overtake ------------------------------------------------------------------


@pytest.mark.usefixtures("lost_callbacks")
def test_no_new_order_takes_arrived_units_before_the_waiting_orders(push, stock):
    [routed], [waiting] = lamps(push, 2), lamps(push, 2, when_short="wait")
    stock(5)

    [new] = lamps(push, 2)
    assert [reserved(each) for each in (routed, waiting, new)] == [0, 0, 1]
    allocate_all(None, seconds=20)
    assert [reserved(each) for each in (routed, waiting, new)] == [2, 2, 1]

    stock(6)
    allocate_all(None, seconds=20)
    assert reserved(new) == 2


@pytest.mark.usefixtures("lost_callbacks")
def test_the_sweep_finds_forgotten_waiting_orders(push, stock):
    orders = lamps(push, 2, 2, 2)
    stock(3)
    assert [reserved(order) for order in orders] == [0, 0, 0]

    serve_waiting()

    assert [reserved(order) for order in orders] == [2, 1, 0]


def test_units_freed_by_a_lower_safety_stock_go_to_waiting_orders(push, stock, acme):
    acme.safety_stock = 2
    acme.save(update_fields=["safety_stock"])
    [order] = lamps(push, 2)
    stock(2)
    assert reserved(order) == 0
    acme.safety_stock = 0
    acme.save(update_fields=["safety_stock"])

    serve_waiting()

    assert reserved(order) == 2


def test_an_order_that_another_transaction_has_locked_keeps_its_units(push, stock):
    first, second = lamps(push, 2, 2)
    begun, end = threading.Event(), threading.Event()

    def change():
        try:
            with transaction.atomic():
                Order.objects.select_for_update().get(pk=first.pk)
                begun.set()
                end.wait(60)
        finally:
            connection.close()

    changing = threading.Thread(target=change)
    changing.start()
    begun.wait(60)
    stock(3)
    between = [reserved(first), reserved(second)]
    end.set()
    changing.join(60)
    serve_waiting()

    assert between == [0, 1]
    assert [reserved(first), reserved(second)] == [2, 1]


def test_an_order_that_finds_claimed_stock_starts_its_allocation(push, stock, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(arrivals, "_registered", [])
        [waiting] = lamps(push, 2)
        stock(3)

    [new] = lamps(push, 3)

    assert [reserved(waiting), reserved(new)] == [2, 1]


# --- Visibility ----------------------------------------------------------------------------------


def test_both_sides_get_events_and_the_ledger_names_the_cause(push, stock, shop_api, acme_api, work_of, acme):
    [order] = lamps(push, 2)
    before = shop_api.get(f"orders/{order.pk}").json()["updated_at"]

    stock(2)

    work, line = work_of(order, acme), FulfillmentLine.objects.get()
    event = Event.objects.get(type="fulfillment.stock_arrived")
    assert (event.order_id, event.fulfillment_id) == (order.pk, work.pk)
    assert event.data == {"items": [{"line": line.pk, "order_line_id": line.order_line_id, "quantity": 2}]}
    assert event.supplier_id == acme.pk
    assert event.retailer_id == order.retailer_id
    changed = shop_api.get("orders", {"updated_at__gt": before}).json()["results"]
    assert [each["id"] for each in changed] == [order.pk]
    movement = StockMovement.objects.get(kind=MovementKind.RESERVE)
    assert (movement.reserved_change, movement.order_id, movement.fulfillment_id) == (2, order.pk, work.pk)
    assert movement.reason == "stock arrived"


def test_the_routing_of_waiting_units_is_in_the_history(push, stock, shop_api):
    [order] = lamps(push, 2, when_short="wait")

    stock(2)

    types = [*Event.objects.filter(order_id=order.pk).order_by("id").values_list("type", flat=True)]
    assert types == ["order.created", "order.stock_arrived", "fulfillment.created"]
    event = Event.objects.get(type="order.stock_arrived")
    assert event.data == {"items": [{"order_line_id": order.lines.get().pk, "quantity": 2}]}
    decisions = shop_api.get(f"orders/{order.pk}/routing").json()["decisions"]
    assert [each["cause"] for each in decisions] == ["order.created", "stock arrived"]


def test_later_units_join_a_fulfillment_that_is_not_captured(push, stock, acme_api):
    stock(1)
    [order] = lamps(push, 3, when_short="wait")

    stock(2)
    acme_api.get("fulfillments")
    stock(3)

    assert [work.lines.count() for work in order.fulfillments.order_by("pk")] == [2, 1]


def test_the_start_of_the_wait_is_kept_until_all_units_are_reserved(push, stock):
    [order] = lamps(push, 2)
    since = order.lines.get().waiting_since
    assert since is not None

    stock(1)
    assert order.lines.get().waiting_since == since
    stock(2)

    assert order.lines.get().waiting_since is None


def test_without_waiting_orders_nothing_is_written(push, stock):
    stock(9)
    [order] = lamps(push, 2)
    before = Event.objects.count(), Order.objects.values_list("updated_at").get()

    assert allocate_all(None, seconds=20)

    assert (Event.objects.count(), Order.objects.values_list("updated_at").get()) == before
    assert reserved(order) == 2


# --- Costs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("when_short", ["ship_partial", "wait"])
def test_allocating_to_an_order_takes_the_same_queries_for_any_number_of_lines(
    acme, a_variant, push, when_short
):
    def asked(lines: int) -> int:
        variants = [a_variant(acme, f"V-{lines}-{each}", stock=0) for each in range(lines)]
        order = push(*({"sku": each.sku, "quantity": 1} for each in variants), when_short=when_short)
        set_stock(on_hand=5, variant__in=variants)
        with CaptureQueriesContext(connection) as statements:
            allocate_all([each.pk for each in variants], seconds=20)
        assert reserved(order) == lines
        return len(statements)

    assert asked(9) == asked(1)


def test_a_stock_push_takes_the_same_queries_for_any_number_of_variants(acme, acme_api, a_variant):
    east = Warehouse.objects.get(supplier=acme, is_default=True)

    def asked(elements: int) -> int:
        skus = [a_variant(acme, f"V-{elements}-{each}", stock=0).sku for each in range(elements)]
        body = {"warehouse_id": east.pk, "id_type": "sku"}
        body["inventories"] = [{"id": sku, "amount": 3} for sku in skus]
        with CaptureQueriesContext(connection) as statements:
            assert acme_api.post("inventory", body).json()["updated"] == elements
        return len(statements)

    asked(1)  # the first request of a key makes one query more
    assert asked(9) == asked(2)
