"""Each change of stock is a movement with its cause. A count applies to its own moment (contract 13)."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.db import connection

from events.models import Event
from inventory.ledger import fold
from inventory.models import StockLevel, StockMovement, Warehouse
from inventory.tasks import keep_ledger
from tests.orders.fixtures import line_units, status


def movements(**of):
    """Return the kind and the numbers of each movement, oldest first. The numbers are the changes of
    `on_hand` and `reserved`, the new `on_hand` and `reserved`, and the moved units.
    """
    found = StockMovement.objects.filter(**of).order_by("id")
    return [(m.kind, m.on_hand_change, m.reserved_change, m.on_hand, m.reserved, m.moved) for m in found]


def now() -> datetime:
    """Return the time of the database's clock. All later actions have later times on this clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment


@pytest.fixture
def count(acme, acme_api):
    """Return a function that counts lamps in Acme's default warehouse."""
    east = Warehouse.objects.get(supplier=acme, is_default=True)

    def push_count(amount, as_of=None):
        body = {"warehouse_id": east.pk, "inventories": [{"id": "LAMP", "amount": amount}]}
        answer = acme_api.post("inventory", body | ({"as_of": as_of.isoformat()} if as_of else {}))
        assert answer.status_code == 200, answer.content
        return answer.json()

    return push_count


def counted_at() -> datetime:
    moment = StockLevel.objects.get(variant__sku="LAMP").counted_at
    assert moment is not None
    return moment


def lamps():
    level = StockLevel.objects.get(variant__sku="LAMP")
    return level.on_hand, level.reserved


def test_every_stock_change_of_an_order_is_in_the_ledger(work, acme_api):
    lamp = work.lines.get(variant__sku="LAMP").variant
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T-1", "lines": [line_units(work, "LAMP", 2)]})
    acme_api.put(status(work, "out_of_stock"))

    assert movements(variant_id=lamp.pk) == [
        ("opening", 10, 0, 10, 0, 0),
        ("reserve", 0, 3, 10, 3, 0),
        ("ship", -2, -2, 8, 1, -2),
        ("refuse", -8, -1, 0, 0, 0),
    ]
    reserve, ship, refuse = StockMovement.objects.filter(order_id=work.order_id, variant_id=lamp.pk)[::-1]
    assert {each.fulfillment_id for each in (reserve, ship, refuse)} == {work.pk}
    assert [each.reason for each in (reserve, ship, refuse)] == ["", "T-1", "out_of_stock"]
    assert reserve.actor.startswith("key:")
    assert len({each.request_id for each in (reserve, ship, refuse)}) == 3


def test_canceled_units_are_released(work, shop_api, acme_api):
    shop_api.post(f"orders/{work.order_id}/cancel")
    acme_api.put(status(work, "canceled"))

    assert [(each[0], each[2]) for each in movements(order_id=work.order_id)] == [
        ("reserve", 3),
        ("reserve", 2),
        ("release", -3),
        ("release", -2),
    ]


def test_more_units_than_were_counted_can_ship(work, acme_api, count):
    count(1)
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T-1"})

    assert movements(variant_id=work.lines.get(variant__sku="LAMP").variant_id)[-1] == (
        *("ship", -1, -3),
        *(0, 0),
        -3,
    )


def test_a_count_from_before_a_parcel_does_not_restore_its_units(work, acme_api, count):
    before = now()
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T-1"})

    assert count(20, as_of=before)["updated"] == 1
    assert lamps() == (17, 0)
    assert count(20)["updated"] == 1  # counted after the parcel, so nothing is subtracted
    assert lamps() == (20, 0)


def test_stock_is_zero_if_more_units_left_after_a_count_than_were_counted(work, acme_api, count):
    before = now()
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T-1"})

    count(1, as_of=before)
    assert lamps() == (0, 0)


def test_a_count_from_before_a_refusal_is_stale(work, acme_api, count):
    before = now()
    acme_api.put(status(work, "out_of_stock"))

    answer = count(5, as_of=before)

    assert (answer["updated"], answer["rejected"]) == (0, 1)
    assert answer["errors"][0]["code"] == "stale_count"
    assert before.strftime("%Y-%m-%dT%H:%M:%S") in answer["errors"][0]["message"]
    assert counted_at().strftime("%Y-%m-%dT%H:%M:%S") in answer["errors"][0]["message"]
    assert lamps() == (0, 0)
    assert count(5)["updated"] == 1


def test_a_count_that_changes_no_number_is_a_count(work, count):
    before = now()
    known = len(movements())
    assert count(10)["unchanged"] == 1

    assert count(4, as_of=before)["errors"][0]["code"] == "stale_count"
    assert lamps() == (10, 3)
    assert len(movements()) == known


def test_the_moment_of_a_count_without_as_of_is_the_arrival_of_its_request(acme, acme_api, a_variant, count):
    a_variant(acme, "LAMP", stock=5)
    before = now()
    count(7)

    level = StockLevel.objects.get()
    assert before - timedelta(seconds=5) < counted_at() <= now()
    assert count(3, as_of=now() + timedelta(minutes=4))["updated"] == 1
    assert counted_at() <= now()  # a count cannot be in the future
    late = {"warehouse_id": level.warehouse_id, "inventories": [{"id": "LAMP", "amount": 1}]}
    late["as_of"] = (now() + timedelta(minutes=6)).isoformat()
    assert acme_api.post("inventory", late).json()["errors"][0]["field"] == "as_of"


def test_a_refusal_before_any_count_is_a_count_of_zero(acme, acme_api, a_variant, push, work_of, count):
    a_variant(acme, "LAMP")
    work = work_of(push({"sku": "LAMP", "quantity": 2}), acme)
    before = now()
    acme_api.put(status(work, "out_of_stock"))

    assert count(5, as_of=before)["errors"][0]["code"] == "stale_count"
    assert not StockLevel.objects.exists()
    assert count(5)["updated"] == 1
    assert lamps() == (5, 0)


def test_units_shipped_before_the_first_count_are_not_subtracted(
    acme, acme_api, a_variant, push, work_of, count
):
    a_variant(acme, "LAMP")
    work = work_of(push({"sku": "LAMP", "quantity": 2}), acme)
    before = now()
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T-1"})

    assert count(5, as_of=before)["updated"] == 1
    assert lamps() == (3, 0)


# --- Returns --------------------------------------------------------------------------------------


@pytest.fixture
def come_back(work, acme_api):
    """Ship all units as Acme. Return a function that records returned lamps."""
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T-1"})

    def record(quantity, return_id="R-1", **line):
        body = {"reason": "too big", "return_id": return_id}
        body["return_lines"] = [{"sku": "LAMP", "quantity": quantity, **line}]
        answer = acme_api.post(f"fulfillments/{work.pk}/returns", body)
        assert answer.status_code == 200, answer.content
        return answer.json()["code"]

    return record


def test_returned_units_stay_out_of_stock_until_they_are_restocked(work, acme_api, come_back):
    assert come_back(2) == "return_recorded"
    assert lamps() == (7, 0)

    assert come_back(2, restock=True) == "return_recorded"
    assert come_back(2, restock=True) == "unchanged"

    assert lamps() == (9, 0)
    assert movements(order_id=work.order_id)[-1] == ("return", 2, 0, 9, 0, 2)
    [shown] = acme_api.get(f"fulfillments/{work.pk}").json()["returns"]
    assert [(each["quantity"], each["restocked"]) for each in shown["items"]] == [(2, 2)]


def test_restocked_units_are_in_stock_at_once(work, come_back, count):
    before = now()
    come_back(1, restock=True)

    assert lamps() == (8, 0)
    count(4, as_of=before)  # one unit came back after the count
    assert lamps() == (5, 0)


def test_an_operator_puts_returns_back_into_stock(work, come_back, admin_client):
    come_back(2)
    path = f"/admin/fulfillments/fulfillment/{work.pk}/"
    assert b"Put returns back into stock" in admin_client.get(f"{path}change/").content

    admin_client.post(f"{path}do/restock/")

    assert lamps() == (9, 0)
    assert b"Put returns back into stock" not in admin_client.get(f"{path}change/").content
    last = StockMovement.objects.filter(kind="return").get()
    assert (last.actor, last.reason, last.moved) == ("user:admin", "too big", 2)


def test_restocked_returns_create_a_missing_stock_level(
    acme, acme_api, a_variant, push, work_of, admin_client
):
    a_variant(acme, "LAMP")
    work = work_of(push({"sku": "LAMP", "quantity": 2}), acme)
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T-1"})
    assert not StockLevel.objects.exists()

    body = {"reason": "late", "return_lines": [{"sku": "LAMP", "quantity": 1, "restock": True}]}
    assert acme_api.post(f"fulfillments/{work.pk}/returns", body).status_code == 200
    assert lamps() == (1, 0)


# --- Operators ------------------------------------------------------------------------------------


def test_an_operator_adjusts_with_a_reason(acme, a_variant, admin_client, count):
    a_variant(acme, "LAMP", stock=5)
    level = StockLevel.objects.get()
    path = f"/admin/inventory/stocklevel/{level.pk}/do/adjust/"
    before = now()

    assert admin_client.post(path, {"units": "-2"}).status_code == 200  # the reason is missing
    answer = admin_client.post(path, {"units": "-2", "reason": "water damage"})
    assert answer.status_code == 302

    assert lamps() == (3, 0)
    last = StockMovement.objects.latest("id")
    assert (last.kind, last.on_hand_change, last.reason, last.actor) == (
        *("adjust", -2, "water damage"),
        "user:admin",
    )
    event = Event.objects.get(type="inventory.adjusted")
    assert (event.data["on_hand"], event.data["reason"]) == ({"from": 5, "to": 3}, "water damage")
    count(10, as_of=before)
    assert lamps() == (8, 0)
    for units in ("-9", "0"):
        assert admin_client.post(path, {"units": units, "reason": "fire"}).status_code == 200
    assert lamps() == (8, 0)


def test_the_pages_of_stock_and_variant_explain_the_number_of_units(work, acme_api, admin_client):
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T-77"})
    level = StockLevel.objects.get(variant__sku="LAMP")

    for path in (
        f"/admin/inventory/stocklevel/{level.pk}/change/",
        f"/admin/catalog/variant/{level.variant_id}/change/",
    ):
        page = admin_client.get(path).content.decode()
        assert "T-77" in page
        assert f"order {work.order_id}" in page
        assert "key:" in page
    listed = admin_client.get("/admin/inventory/stockmovement/", {"q": f"order:{work.order_id}"})
    assert len(listed.context["cl"].result_list) == 4


# --- Old movements --------------------------------------------------------------------------------


def test_old_movements_become_one_opening_movement(work, acme_api, settings):
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T-1"})
    variant_id = work.lines.get(variant__sku="LAMP").variant_id
    last = StockMovement.objects.filter(variant_id=variant_id).latest("id").pk
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT make_stockmovement_partition('2025-03-01'), make_stockmovement_partition('2025-02-01')"
        )
        cursor.execute(
            "UPDATE inventory_stockmovement SET occurred_at = CASE kind WHEN 'opening'"
            " THEN '2025-02-10 00:00Z'::timestamptz ELSE '2025-03-10 00:00Z' END"
        )
    settings.STOCK_MOVEMENT_DAYS = 100
    assert fold() == 2

    assert movements(variant_id=variant_id) == [("opening", 7, 0, 7, 0, 0)]
    assert StockMovement.objects.get(variant_id=variant_id).pk == last
    acme_api.post(
        f"fulfillments/{work.pk}/returns",
        {"reason": "late", "return_lines": [{"sku": "LAMP", "quantity": 1, "restock": True}]},
    )
    assert [each[0] for each in movements(variant_id=variant_id)] == ["opening", "return"]
    assert fold() == 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT make_stockmovement_partition('2025-04-01')")
        cursor.execute(
            "UPDATE inventory_stockmovement SET occurred_at = '2025-04-10 00:00Z' WHERE kind = 'return'"
        )
    assert fold() == 1
    assert movements(variant_id=variant_id) == [("opening", 8, 0, 8, 0, 0)]
    keep_ledger()


def test_a_count_older_than_the_last_one_is_refused(acme, acme_api, a_variant):
    a_variant(acme, "LAMP", stock=5)
    east = Warehouse.objects.get(supplier=acme, is_default=True)
    body = {"warehouse_id": east.pk, "inventories": [{"id": "LAMP", "amount": 1}]}

    answer = acme_api.post("inventory", body | {"as_of": (now() - timedelta(days=401)).isoformat()})

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "as_of")
