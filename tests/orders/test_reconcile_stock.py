"""`manage.py reconcile` checks and repairs stock by ledgers, states by histories, and clocks by stamps."""

from __future__ import annotations

import pytest
from django.core.management import CommandError

from fulfillments.models import Fulfillment, FulfillmentLine
from inventory.models import StockLevel, StockMovement
from orders.models import OrderLine, RetailerClock
from orders.reconciling.reconciling import differences
from tests.orders.fixtures import line_units, status
from tests.orders.invariants import violations
from tests.orders.test_reconcile import damage, reconcile
from tests.orders.test_stock_ledger import now


@pytest.fixture(autouse=True)
def _invariants_hold():
    """Switch the invariants off, because these tests damage the ledger, which no command repairs."""


@pytest.fixture
def lamps(work, acme_api):
    """Order three of ten lamps, and ship one lamp: 9 are on hand, and 2 are reserved.

    Order two of ten mats.
    """
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T-1", "lines": [line_units(work, "LAMP", 1)]})
    assert list(differences()) == []
    return StockLevel.objects.get(variant__sku="LAMP")


def found():
    return [str(each) for each in differences()]


def numbers(level):
    level.refresh_from_db()
    return level.on_hand, level.reserved


def last_movement(level):
    last = StockMovement.objects.filter(variant_id=level.variant_id).latest("id")
    return (last.kind, last.on_hand_change, last.reserved_change, last.on_hand, last.reserved, last.reason)


def test_stock_that_differs_from_its_movements_is_corrected_by_a_movement(lamps):
    damage("UPDATE inventory_stocklevel SET on_hand = on_hand * 2")

    name = f"variant {lamps.variant_id} in warehouse {lamps.warehouse_id}"
    assert f"stock ledger: {name} has on_hand 18, its sources have on_hand 9" in found()
    reconcile("--fix")

    assert numbers(lamps) == (9, 2)
    assert last_movement(lamps) == (
        *("adjust", 0, 0, 9, 2),
        "reconcile: the row said 18 on hand, 2 reserved",
    )
    assert StockMovement.objects.filter(kind="adjust").latest("id").actor == "system:reconcile"
    assert violations() == []


def test_a_missing_earlier_movement_is_compensated(lamps):
    damage("DELETE FROM inventory_stockmovement WHERE kind = 'opening'")
    assert len(found()) == 2

    reconcile("--fix")

    assert numbers(lamps) == (9, 2)
    assert last_movement(lamps)[:5] == ("adjust", 10, 0, 9, 2)
    assert found() == []


def test_stock_without_movements_keeps_its_numbers(lamps):
    FulfillmentLine.objects.update(reserved=0)
    OrderLine.objects.update(reserved=0)
    damage("UPDATE inventory_stocklevel SET reserved = 0; DELETE FROM inventory_stockmovement")

    reconcile("--fix")

    assert numbers(lamps) == (9, 0)
    assert last_movement(lamps)[:5] == ("adjust", 9, 0, 9, 0)


def test_reservations_that_were_lost_everywhere_at_once_come_back(lamps, work):
    FulfillmentLine.objects.update(reserved=0)
    OrderLine.objects.update(reserved=0)
    StockLevel.objects.update(reserved=0)

    sentence = f"reserved: variant {lamps.variant_id} of fulfillment {work.pk} has reserved 0"
    assert f"{sentence}, its sources have reserved 2" in found()
    reconcile("--fix")

    assert numbers(lamps) == (9, 2)
    assert FulfillmentLine.objects.get(variant_id=lamps.variant_id).reserved == 2
    assert OrderLine.objects.get(sku="LAMP").reserved == 2
    assert violations() == []


def test_reservations_above_the_open_units_are_released_for_their_fulfillment(lamps, work):
    damage(
        "UPDATE inventory_stockmovement SET reserved_change = reserved_change + 5"
        f" WHERE kind = 'reserve' AND variant_id = {lamps.variant_id}"
    )

    reconcile("--fix")

    given_up = StockMovement.objects.get(kind="adjust", fulfillment_id=work.pk)
    assert (given_up.reserved_change, given_up.order_id) == (-5, work.order_id)
    assert numbers(lamps) == (9, 2)
    assert found() == []


def test_reservations_from_before_the_ledger_are_repaired_from_their_lines(lamps, work):
    StockMovement.objects.filter(kind="reserve").update(kind="opening", order_id=None, fulfillment_id=None)
    assert found() == []

    FulfillmentLine.objects.update(reserved=1)
    reconcile("--fix")
    assert numbers(lamps) == (9, 1)


def test_stock_of_a_deleted_variant_is_no_difference(acme, a_variant):
    a_variant(acme, "GONE", stock=5).delete()

    assert found() == []


def test_a_state_without_an_event_is_replaced_by_the_state_of_the_history(lamps, work, shop_api):
    Fulfillment.objects.filter(pk=work.pk).update(state="canceled")
    assert f"fulfillment state: fulfillment {work.pk} has canceled, its sources have accepted" in found()
    last = shop_api.get("orders").json()["results"][-1]["updated_at"]

    reconcile("--fix")

    work.refresh_from_db()
    assert work.state == "accepted"
    assert found() == []
    [seen] = shop_api.get("orders", {"updated_at__gt": last}).json()["results"]
    assert seen["id"] == work.order_id


def test_a_state_that_contradicts_its_units_is_left_to_a_person(lamps, work):
    damage(
        "UPDATE events_event SET to_state = 'shipped' WHERE type = 'fulfillment.shipped';"
        "UPDATE fulfillments_fulfillment SET state = 'shipped'"
    )
    sentence = f"open work: fulfillment {work.pk} has shipped, its sources have 4 open units"
    assert sentence in found()

    with pytest.raises(CommandError, match="could not be repaired"):
        reconcile("--fix")
    assert sentence in found()


def test_a_clock_behind_the_stamps_of_its_orders_is_set_forward(lamps, work, shop_api):
    before = now()
    damage("UPDATE orders_retailerclock SET last = last - interval '1 hour'")
    [sentence] = found()
    assert sentence.startswith(f"clock: retailer {work.order.retailer_id} has ")

    reconcile("--fix")

    work.order.refresh_from_db()
    assert RetailerClock.objects.get().last == work.order.updated_at < before


def test_an_order_without_a_stamp_is_stamped(lamps, work, shop_api):
    damage("UPDATE orders_order SET updated_at = NULL")
    assert found() == [f"stamp: order {work.order_id} has no stamp, its sources have a change"]

    reconcile("--fix")

    assert [each["id"] for each in shop_api.get("orders").json()["results"]] == [work.order_id]
    assert found() == []
