"""`manage.py reconcile` finds every damaged counter, and --fix repairs it."""

from __future__ import annotations

import threading
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from events.models import Event
from fulfillments.models import COUNTS, Fulfillment, FulfillmentLine
from inventory.models import StockLevel
from orders.models import Order, OrderLine, RetailerClock
from orders.reconciling.reconciling import differences, mend
from tests.interleaving import race, waiting
from tests.orders.fixtures import line_units, status, work_of  # noqa: F401
from tests.orders.invariants import violations
from tests.orders.push_bodies import an_order


def reconcile(*options: str) -> str:
    out = StringIO()
    call_command("reconcile", *options, stdout=out)
    return out.getvalue()


def damage(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def everything() -> list[object]:
    parts = FulfillmentLine.objects.order_by("pk").values_list("pk", *COUNTS)
    counts = ("open", "reserved", "shipped", "rejected", "canceled", "returned", "dropped")
    clocks = RetailerClock.objects.values_list("completed", "canceled", "pending")
    states = Order.objects.values_list("pk", "processing_state")
    works = Fulfillment.objects.values_list("pk", "state")
    levels = StockLevel.objects.order_by("variant_id").values_list("variant_id", "on_hand", "reserved")
    lines = OrderLine.objects.order_by("pk").values_list("pk", *counts)
    return [*parts, *lines, *clocks, *states, *works, *levels]


@pytest.fixture
def lived(acme, a_variant, push, work_of, acme_api, shop_api):  # noqa: F811
    """Return an order with shipped, refused, dropped, canceled, returned and open units."""
    a_variant(acme, "LAMP", stock=20)
    order = push({"sku": "LAMP", "quantity": 12})
    work = work_of(order, acme)
    cancel = f"orders/{order.pk}/cancel"
    refusal = {"id": work.pk, "rejectId": "r", "items": [{"sku": "LAMP", "quantity": 3}]}
    came_back = {"reason": "broken", "return_lines": [{"sku": "LAMP", "quantity": 1}]}
    steps = [
        acme_api.put(status(work, "accepted")),
        acme_api.put(
            status(work, "shipped"), {"tracking_number": "T", "lines": [line_units(work, "LAMP", 2)]}
        ),
        acme_api.post("fulfillments/rejections", [refusal]),
        # Acme refused three lamps. The first request drops two of them. The second request drops the third
        # lamp, and asks Acme for another lamp.
        shop_api.post(cancel, {"lines": [{"sku": "LAMP", "quantity": 2}]}),
        shop_api.post(cancel, {"lines": [{"sku": "LAMP", "quantity": 2}]}),
        acme_api.put(status(work), {"status": "canceled"}),
        acme_api.post(f"fulfillments/{work.pk}/returns", came_back),
        shop_api.post(cancel, {"lines": [{"sku": "LAMP", "quantity": 2}]}),
    ]
    assert [each.status_code for each in steps] == [200] * len(steps)
    [part] = work.lines.all()
    assert part.counts == (6, 2, 3, 1, 1, 2)
    return order


DAMAGE = {
    "stock": "UPDATE inventory_stocklevel SET reserved = reserved + 1",
    "stock row": "DELETE FROM inventory_stocklevel",
    "part shipped": "UPDATE fulfillments_fulfillmentline SET shipped = 1",
    "part rejected": "UPDATE fulfillments_fulfillmentline SET rejected = 0",
    "part canceled": "UPDATE fulfillments_fulfillmentline SET canceled = 0",
    "part returned": "UPDATE fulfillments_fulfillmentline SET returned = 2",
    "part asked back": "UPDATE fulfillments_fulfillmentline SET cancel_requested = 1",
    "parts mixed up": "UPDATE fulfillments_fulfillmentline SET shipped = 1, rejected = 4",
    "line open": "UPDATE orders_orderline SET open = open + 1, shipped = shipped - 1",
    "line reserved": "UPDATE orders_orderline SET reserved = 0",
    "line rejected": "UPDATE orders_orderline SET rejected = rejected + 1, canceled = canceled - 1",
    "line returned": "UPDATE orders_orderline SET returned = 0",
    "line dropped": "UPDATE orders_orderline SET dropped = 1",
    "order state": "UPDATE orders_order SET processing_state = 'completed'",
    "counts": "UPDATE orders_retailerclock SET pending = 0, completed = 7",
    "counts row": "DELETE FROM orders_retailerclock",
    "stock doubled": "UPDATE inventory_stocklevel SET on_hand = 2 * on_hand + 1",
    "reserved lost": "UPDATE fulfillments_fulfillmentline SET reserved = 0",
    "reserved lost everywhere": """
        UPDATE fulfillments_fulfillmentline SET reserved = 0; UPDATE orders_orderline SET reserved = 0;
        UPDATE inventory_stocklevel SET reserved = 0
    """,
    "fulfillment state": "UPDATE fulfillments_fulfillment SET state = 'shipped'",
    "clock": "UPDATE orders_retailerclock SET last = last - interval '1 day'",
    "stamp": "UPDATE orders_order SET updated_at = NULL",
}


@pytest.mark.usefixtures("lived")
def test_each_damaged_counter_is_found_and_mended(subtests):
    sound = everything()
    for kind, sql in DAMAGE.items():
        with subtests.test(kind):
            damage(sql)

            with pytest.raises(CommandError, match="--fix repairs them"):
                reconcile()
            assert "were repaired" in reconcile("--fix")

            assert reconcile() == "Every counter agrees with its sources.\n"
            assert everything() == sound
            assert violations() == []


def test_values_that_old_events_do_not_prove_stay_unchanged(lived):
    sound = everything()
    for event in Event.objects.filter(type="order.cancel_requested"):
        Event.objects.filter(pk=event.pk).update(data={"reason": "", "canceled": 0, "requested": 0})

    assert reconcile("--fix") == "Every counter agrees with its sources.\n"
    assert everything() == sound


def test_a_difference_is_reported_with_its_name_and_both_numbers(lived):
    part = FulfillmentLine.objects.get()
    FulfillmentLine.objects.update(shipped=1)

    assert f"units: fulfillment line {part.pk} has shipped 1, its sources have shipped 2" in [
        str(each) for each in differences()
    ]
    mend()


@pytest.mark.parametrize("kind", ["line rejected", "order state"])
def test_a_poller_sees_the_orders_that_were_repaired(kind, lived, shop_api):
    last = shop_api.get("orders").json()["results"][-1]["updated_at"]
    damage(DAMAGE[kind])

    reconcile("--fix")

    [seen] = shop_api.get("orders", {"updated_at__gt": last}).json()["results"]
    assert (seen["id"], seen["processing_state"]) == (lived.pk, "canceling")


def test_a_mended_state_has_its_event(work, shop_api, acme_api):
    acme_api.put(status(work, "accepted"))
    last = shop_api.get("events").json()["results"][-1]["id"]
    damage(DAMAGE["order state"])

    reconcile("--fix")

    [event] = shop_api.get("events", {"after": last}).json()["results"]
    states = {"processing_state": "processing", "previous_state": "completed"}
    assert (event["type"], event["order_id"], event["data"]) == ("order.processing", work.order_id, states)
    reconcile("--fix")
    assert shop_api.get("events", {"after": event["id"]}).json()["results"] == []


def test_stock_has_the_time_of_its_repair_as_updated_at(lived):
    before = StockLevel.objects.get().updated_at
    damage("UPDATE inventory_stocklevel SET reserved = 0, updated_at = updated_at - interval '1 day'")

    reconcile("--fix")

    assert StockLevel.objects.get().updated_at > before - timedelta(hours=1)


def test_right_values_stay_unchanged(lived, shop_api):
    before = shop_api.get("orders").json()
    damage(DAMAGE["stock"])

    reconcile("--fix")

    assert shop_api.get("orders").json() == before


def test_sources_that_contradict_each_other_are_reported_and_nothing_is_mended(lived):
    shipped = """
        UPDATE fulfillments_shipment SET items = jsonb_set(items, '{0,quantity}', '%(units)s');
        UPDATE events_event SET data = jsonb_set(data, '{items,0,quantity}', '%(units)s')
        WHERE type = 'fulfillment.shipped'
    """
    damage(shipped % {"units": 99})

    with pytest.raises(CommandError, match="Nothing was repaired"), transaction.atomic():
        reconcile("--fix")

    damage(shipped % {"units": 2})


@pytest.mark.django_db(transaction=True)
def test_mending_waits_for_a_change_under_way_and_does_not_deadlock_with_it(
    acme, shop, a_variant, client_for
):
    a_variant(acme, "LAMP", stock=9)
    number = client_for(shop).post("orders", an_order({"sku": "LAMP", "quantity": 2})).json()["order_id"]
    damage("UPDATE inventory_stocklevel SET reserved = 5")
    damage("UPDATE orders_order SET processing_state = 'canceled'")
    locked = threading.Event()

    def change():
        with transaction.atomic():
            order = Order.objects.select_for_update(no_key=True).get(pk=number)
            locked.set()
            waiting(1)
            order.held = False
            order.save(update_fields=["held"])
        return "changed"

    def mending():
        locked.wait(60)
        mend()
        return "mended"

    assert race(change, mending) == ["changed", "mended"]
    assert list(differences()) == []
