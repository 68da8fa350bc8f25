"""`reconcile --fix` repairs a value if two other sources agree. Otherwise it only reports the value."""

from __future__ import annotations

import pytest
from django.core.management import CommandError

from events.models import Event
from events.recording import record
from fulfillments.models import FulfillmentLine, Shipment
from fulfillments.scorecard.sums import add_up
from inventory.models import StockLevel, StockMovement
from orders.reconciling.reconciling import differences
from orders.services import hold
from tests.orders.fixtures import OPERATOR, line_units, status
from tests.orders.test_reconcile import damage, everything, reconcile


@pytest.fixture(autouse=True)
def _invariants_hold():
    """Switch the invariants off, because these tests damage histories and ledgers beyond repair."""


@pytest.fixture
def lamps(work, acme_api):
    """Order three of ten lamps, and ship one lamp: 9 are on hand, and 2 are reserved."""
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T-1", "lines": [line_units(work, "LAMP", 1)]})
    assert found() == []
    return StockLevel.objects.get(variant__sku="LAMP")


def found() -> list[str]:
    return [str(each) for each in differences()]


def numbers(level) -> tuple[int, int]:
    level.refresh_from_db()
    return level.on_hand, level.reserved


def lost(level, kind: str) -> None:
    StockMovement.objects.filter(variant_id=level.variant_id, kind=kind).delete()


# --- Stock ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ship", "reserve", "opening"])
def test_a_lost_movement_does_not_change_the_stock(lamps, work, kind):
    sound = everything()
    lost(lamps, kind)
    assert found()

    reconcile("--fix")

    assert numbers(lamps) == (9, 2)
    assert everything() == sound
    assert found() == []


def test_a_lost_count_leaves_the_row_unchanged(lamps):
    lamps.count(50, by=OPERATOR)
    lost(lamps, "count")

    reconcile("--fix")

    assert numbers(lamps) == (50, 2)
    assert found() == []


def test_a_movement_that_makes_up_for_lost_reservations_names_their_fulfillment(lamps, work):
    lost(lamps, "reserve")
    reconcile("--fix")
    made_up = StockMovement.objects.get(kind="adjust", fulfillment_id=work.pk)
    assert (made_up.reserved_change, made_up.order_id) == (3, work.order_id)
    assert made_up.reason == "reconcile: a movement of this fulfillment is missing"


def test_three_different_numbers_of_stock_are_left_to_a_person(lamps):
    damage("UPDATE inventory_stocklevel SET on_hand = 77")
    damage("UPDATE inventory_stockmovement SET on_hand_change = on_hand_change + 5 WHERE kind = 'opening'")

    with pytest.raises(CommandError, match="could not be repaired"):
        reconcile("--fix")

    assert numbers(lamps) == (77, 2)


# --- Units and parcels ---------------------------------------------------------------------------


def test_a_lost_parcel_is_restored_and_shipped_units_stay_shipped(lamps, work):
    sound = everything()
    parcel = Shipment.objects.get()
    Shipment.objects.all().delete()
    assert any(each.startswith("parcels: fulfillment line") for each in found())

    reconcile("--fix")

    restored = Shipment.objects.get()
    assert (restored.tracking_number, restored.items) == (parcel.tracking_number, parcel.items)
    assert everything() == sound
    assert found() == []


def test_a_damaged_parcel_is_restored_from_its_event(lamps):
    damage("UPDATE fulfillments_shipment SET items = jsonb_set(items, '{0,quantity}', '99')")
    reconcile("--fix")
    assert Shipment.objects.get().items[0]["quantity"] == 1
    assert found() == []


def test_a_lost_event_takes_back_no_shipped_units_and_is_reported(lamps):
    sound = everything()
    Event.objects.filter(type="fulfillment.shipped").delete()

    with pytest.raises(CommandError, match="could not be repaired"):
        reconcile("--fix")

    assert everything() == sound
    line = FulfillmentLine.objects.get(variant_id=lamps.variant_id).pk
    recorded = "has shipped 1, its sources have shipped 1 in its parcels and 0 in its events"
    assert f"parcels: fulfillment line {line} {recorded}" in found()


def test_canceled_units_stay_canceled_when_their_event_is_lost(lamps, work, shop_api, acme_api):
    shop_api.post(f"orders/{work.order_id}/cancel")
    acme_api.put(status(work), {"status": "canceled"})
    sound = everything()
    Event.objects.filter(type__in=["fulfillment.canceled", "order.cancel_requested"]).delete()

    with pytest.raises(CommandError, match="could not be repaired"):
        reconcile("--fix")

    assert everything() == sound


# --- States --------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["fulfillment.accepted", "fulfillment.shipped"])
def test_a_fulfillment_never_moves_backward(work, acme_api, event):
    acme_api.put(status(work, "accepted"))
    if event == "fulfillment.shipped":
        acme_api.put(status(work, "shipped"), {"tracking_number": "T-1"})
    sound = everything()
    Event.objects.filter(type=event).delete()
    assert any(each.startswith(f"fulfillment state: fulfillment {work.pk} has") for each in found())

    with pytest.raises(CommandError, match="could not be repaired"):
        reconcile("--fix")

    assert everything() == sound


def test_a_lost_request_leaves_a_cancellation_open(work, shop_api):
    shop_api.post(f"orders/{work.order_id}/cancel")
    Event.objects.filter(type="fulfillment.cancelation_requested").delete()
    with pytest.raises(CommandError):
        reconcile("--fix")
    work.refresh_from_db()
    assert work.state == "canceling"


# --- Flags, limits, search and sums --------------------------------------------------------------

DAMAGES = {
    "waiting since": "UPDATE orders_orderline SET waiting_since = now()",
    "state before the cancellation": "UPDATE fulfillments_fulfillment SET state_before_cancel = 'new'",
    "finished order": "UPDATE orders_order SET held = true WHERE processing_state = 'completed'",
    "country": "UPDATE orders_order SET has_unknown_country = true",
    "time limit": "UPDATE fulfillments_fulfillment SET due_at = due_at + interval '9 days'",
    "time limit of finished work": (
        "UPDATE fulfillments_fulfillment SET due_at = now() WHERE state = 'shipped'"
    ),
    "no time limit": "UPDATE fulfillments_fulfillment SET due_at = NULL",
    "search": "DELETE FROM orders_searchentry",
    "scorecard": "UPDATE fulfillments_dailysum SET count = count + 1 WHERE measure = 'to_ship'",
    "scorecard row": "DELETE FROM fulfillments_dailysum WHERE measure = 'created'",
}


@pytest.fixture
def market(acme, shop, a_variant, push, work_of, acme_api, shop_api):
    """Push three orders.

    Ship the first order, request the cancellation of the second order, and hold the third order.
    """
    shop.partnerships.update(hours_to_accept=4, hours_to_ship=48, hours_to_answer=24)
    a_variant(acme, "LAMP", stock=20)
    shipped, canceling, held = (push({"sku": "LAMP", "quantity": 2}) for _ in range(3))
    for order in (shipped, canceling):
        acme_api.put(status(work_of(order, acme), "accepted"))
    acme_api.put(status(work_of(shipped, acme), "shipped"), {"tracking_number": "T"})
    shop_api.post(f"orders/{canceling.pk}/cancel")
    with held.change(by=OPERATOR) as change:
        hold(change)
    Event.publish()
    add_up(seconds=60)
    assert found() == []


@pytest.mark.usefixtures("market")
def test_each_damaged_value_is_found_and_mended(subtests):
    for kind, sql in DAMAGES.items():
        with subtests.test(kind):
            damage(sql)
            name = kind.partition(" of finished work")[0].removeprefix("no ").removesuffix(" row")
            assert {each.partition(":")[0] for each in found()} == {name}

            assert "were repaired" in reconcile("--fix")

            assert found() == []


@pytest.mark.usefixtures("market")
def test_time_limits_of_changed_terms_are_not_judged(shop):
    damage("UPDATE accounts_partnership SET hours_to_accept = 99, hours_to_answer = 99")
    assert {each.partition(":")[0] for each in found()} == {"time limit"}
    partnership = shop.partnerships.get(supplier__name="Acme")
    parties = {"supplier": partnership.supplier, "retailer": shop}
    record("partnership.updated", by=OPERATOR, area="accounts", **parties)
    assert found() == []


def test_returned_units_that_are_not_in_the_ledger_are_reported(lamps, work, acme_api):
    came_back = {"reason": "broken", "return_lines": [{"sku": "LAMP", "quantity": 1, "restock": True}]}
    acme_api.post(f"fulfillments/{work.pk}/returns", came_back)
    assert found() == []
    damage("UPDATE fulfillments_return SET items = jsonb_set(items, '{0,restocked}', '0')")
    [sentence] = found()
    assert sentence.startswith("returned units: variant")
    assert sentence.endswith(
        "has restocked 0, its sources have restocked 1 in its events and 1 in the ledger"
    )
