"""The routing of refused units: the next supplier, and the fulfillment that they join (contract 4)."""

from __future__ import annotations

import threading
import time

import pytest
from django.db import connection, transaction

from accounts.actors import Actor, ActorKind
from events.models import Event
from fulfillments.models import Fulfillment
from fulfillments.states import State
from inventory.models import Warehouse
from orders.models import Order
from orders.tasks import serve_waiting
from tests.factories import StockLevelFactory

OPERATOR = Actor(ActorKind.OPERATOR, "operator")


@pytest.fixture
def stocked(a_variant):
    """Return a function that creates a variant with units in the supplier's warehouses East and West."""

    def make(supplier, sku, east, west=0, **fields):
        variant = a_variant(supplier, sku, **fields)
        for place, pieces in (("East", east), ("West", west)):
            if pieces:
                warehouse = Warehouse.objects.get(supplier=supplier, name=f"{supplier.name} {place}")
                StockLevelFactory.create(variant=variant, warehouse=warehouse, on_hand=pieces)
        return variant

    return make


def at(order: Order, warehouse: str) -> Fulfillment:
    return Fulfillment.objects.exclude(state__in=[State.OUT_OF_STOCK, State.MISSING_SKU]).get(
        order=order, warehouse__name=warehouse
    )


def works(order: Order) -> list[tuple[str, str]]:
    fulfillments = Fulfillment.objects.filter(order=order).order_by("pk")
    return list(fulfillments.values_list("warehouse__name", "state"))


def state_of(order: Order) -> str:
    return Order.objects.values_list("processing_state", flat=True).get(pk=order.pk)


@pytest.mark.parametrize("pinned", [False, True])
def test_the_other_warehouse_of_the_supplier_is_asked_when_one_is_out_of_stock(
    acme, acme_api, stocked, push, work_of, pinned
):
    stocked(acme, "LAMP", east=5, west=5)
    pin = {"supplier_id": acme.pk} if pinned else {}
    order = push({"sku": "LAMP", "quantity": 2, **pin})

    acme_api.put(f"fulfillments/{work_of(order, acme).pk}/setStatus/out_of_stock")

    assert works(order) == [("Acme East", "out_of_stock"), ("Acme West", "new")]
    assert state_of(order) == "received"


def test_a_pinned_line_waits_for_an_operator_when_no_warehouse_of_its_supplier_is_left(
    acme, acme_api, rival, stocked, push, work_of
):
    stocked(acme, "LAMP", east=5)
    stocked(rival, "LAMP", east=5)
    order = push({"sku": "LAMP", "quantity": 2, "supplier_id": acme.pk})

    acme_api.put(f"fulfillments/{work_of(order, acme).pk}/setStatus/out_of_stock")

    assert works(order) == [("Acme East", "out_of_stock")]
    assert state_of(order) == "exception"


def test_a_supplier_without_the_sku_is_not_asked_at_another_warehouse(
    acme, acme_api, rival, stocked, push, work_of
):
    stocked(acme, "LAMP", east=5, west=5, wholesale_price="1")
    stocked(rival, "LAMP", east=5, wholesale_price="9")
    order = push({"sku": "LAMP", "quantity": 2})

    acme_api.put(f"fulfillments/{work_of(order, acme).pk}/setStatus/missing_sku")

    assert works(order) == [("Acme East", "missing_sku"), ("Rival East", "new")]


def test_a_supplier_with_other_goods_of_the_same_sku_is_not_asked(
    acme, acme_api, rival, stocked, push, work_of
):
    stocked(acme, "1001", east=5, upc="036000291452")
    stocked(rival, "1001", east=5, upc="012345678905")
    order = push({"sku": "1001", "upc": "036000291452", "quantity": 1})

    acme_api.put(f"fulfillments/{work_of(order, acme).pk}/setStatus/missing_sku")
    serve_waiting()

    assert works(order) == [("Acme East", "missing_sku")]
    assert state_of(order) == "exception"


def test_a_captured_fulfillment_is_not_joined(acme, acme_api, rival, rival_api, stocked, push, work_of):
    order = _split_order(acme, rival, stocked, push)
    rival_api.get("fulfillments")

    acme_api.put(f"fulfillments/{work_of(order, acme).pk}/setStatus/out_of_stock")

    assert works(order) == [("Acme East", "out_of_stock"), ("Rival East", "new"), ("Rival East", "new")]


def test_an_uncaptured_fulfillment_gets_the_units_and_its_supplier_an_event(
    acme, acme_api, rival, rival_api, stocked, push, work_of
):
    order = _split_order(acme, rival, stocked, push)

    acme_api.put(f"fulfillments/{work_of(order, acme).pk}/setStatus/out_of_stock")

    assert works(order) == [("Acme East", "out_of_stock"), ("Rival East", "new")]
    [captured] = rival_api.get("fulfillments").json()
    assert {(line["sku"], line["quantity"]) for line in captured["lines"]} == {("RUG", 1), ("LAMP", 2)}
    assert Event.objects.filter(fulfillment_id=captured["id"], type="fulfillment.extended").exists()


def test_the_notes_of_a_line_are_shown_once_for_units_of_two_steps(
    acme, acme_api, rival, rival_api, stocked, push, work_of
):
    stocked(acme, "LAMP", east=5)
    lamp = stocked(rival, "LAMP", east=2)
    notes = [{"name": "engraving", "value": "Ada"}]
    order = push({"sku": "LAMP", "quantity": 7, "notes": notes})
    lamp.stock.get().count(9, by=OPERATOR)

    acme_api.put(f"fulfillments/{work_of(order, acme).pk}/setStatus/out_of_stock")

    [captured] = rival_api.get("fulfillments").json()
    assert [line["quantity"] for line in captured["lines"]] == [2, 5]
    assert captured["notes"] == notes


def _split_order(acme, rival, stocked, push) -> Order:
    """Push an order of lamps from Acme and a rug from Rival. Afterwards, Rival gets lamps, too."""
    stocked(acme, "LAMP", east=5)
    lamp = stocked(rival, "LAMP", east=0)
    stocked(rival, "RUG", east=5)
    order: Order = push({"sku": "LAMP", "quantity": 2}, {"sku": "RUG", "quantity": 1})
    warehouse = Warehouse.objects.get(supplier=rival, name="Rival East")
    StockLevelFactory.create(variant=lamp, warehouse=warehouse, on_hand=5)
    return order


@pytest.mark.django_db(transaction=True)
def test_a_concurrent_capture_waits_and_shows_the_joined_units(
    acme, rival, rival_api, stocked, push, work_of
):
    order = _split_order(acme, rival, stocked, push)
    shown: list[set[str]] = []

    def capture() -> None:
        try:
            [captured] = rival_api.get("fulfillments").json()
            shown.append({line["sku"] for line in captured["lines"]})
        finally:
            connection.close()

    capturing = threading.Thread(target=capture)
    with transaction.atomic():
        with order.change(by=OPERATOR) as change:
            work_of(order, acme).reject(change, State.OUT_OF_STOCK)
        capturing.start()
        _until_somebody_waits(capturing)
    capturing.join(timeout=60)

    assert shown == [{"RUG", "LAMP"}]


def _until_somebody_waits(other: threading.Thread) -> None:
    """Wait until the other thread waits for a lock.

    Fail if the thread ends without waiting, or after a minute.
    """
    end = time.monotonic() + 60
    with connection.cursor() as cursor:
        while time.monotonic() < end:
            cursor.execute(
                "SELECT pg_stat_clear_snapshot() IS NULL, count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            if cursor.fetchone()[1]:
                return
            other.join(timeout=0.01)
            assert other.is_alive(), "the other thread ended without waiting"
    pytest.fail("the other thread did not wait for a lock within a minute")
