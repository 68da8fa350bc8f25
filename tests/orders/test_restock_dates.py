"""Restock dates: kept until stock arrives, shown wherever a buyer waits, and announced to waiting orders."""

from datetime import UTC, datetime, timedelta

import pytest

from events.models import Event
from fulfillments.models import Fulfillment
from inventory.models import ExpectedStock
from orders.tasks import announce_restock_dates
from tests.orders.fixtures import status

TODAY = datetime.now(UTC).date()
SOON, LATER = ((TODAY + timedelta(days=days)).isoformat() for days in (7, 14))
PAST = (TODAY - timedelta(days=2)).isoformat()


def a_body(number, quantity):
    address = {"address1": "1 Main St", "country": "US"}
    lines = [{"sku": "LAMP", "quantity": quantity}]
    return {"retailer_order_id": number, "shipping_address": address, "order_lines": lines}


@pytest.fixture
def lamp(acme, a_variant):
    return a_variant(acme, "LAMP", stock=0)


@pytest.fixture
def count(acme, lamp, client_for):
    """Return a function that counts the lamp as Acme, and announces changed dates."""
    warehouse = acme.warehouses.first().pk

    def push(amount=0, **fields):
        element = {"sku": "LAMP", "quantity": amount, **fields}
        body = {"warehouse_id": warehouse, "id_type": "sku", "inventories": [element]}
        answer = client_for(acme).post("inventory", body).json()
        announce_restock_dates()
        return answer

    return push


@pytest.fixture
def waiting(shop, lamp, client_for):
    """Push an order of Shop that waits for a lamp; return its id."""
    body = a_body("W-1", 1) | {"when_short": "wait"}
    return client_for(shop).post("orders", body).json()["order_id"]


@pytest.fixture
def seen(shop, lamp, client_for):
    """Return a function that reads the date in an order and in the pull, and checks the variant's date."""

    def look(order):
        api = client_for(shop)
        [line] = api.get(f"orders/{order}").json()["order_lines"]
        [group] = list(api.get("variants", {"service_type": "ecommerce", "limit": 9}).json())
        variant = api.get(f"/v3/variants/{lamp.pk}").json()
        assert group["expected_at"] == variant["expected_at"]
        return line["expected_at"], group["expected_at"]

    return look


def test_a_date_is_shown_everywhere_until_stock_arrives(waiting, count, seen):
    count(expected_at=SOON)
    assert seen(waiting) == (SOON, SOON)

    count()
    assert seen(waiting) == (SOON, SOON)

    count(expected_at=LATER)
    assert seen(waiting) == (LATER, LATER)

    count(5)
    assert seen(waiting) == (None, None)


def test_waiting_orders_get_one_event_of_a_changed_date(waiting, shop, count, client_for):
    api = client_for(shop)
    before = api.get(f"orders/{waiting}").json()["updated_at"]

    for _ in range(2):
        count(expected_at=SOON)
    count(expected_at=None)

    events = Event.objects.filter(type="order.stock_expected").order_by("id")
    line = api.get(f"orders/{waiting}").json()["order_lines"][0]["id"]
    assert [event.data["expected"] for event in events] == [
        [{"order_line_id": line, "expected_at": SOON}],
        [{"order_line_id": line, "expected_at": None}],
    ]
    assert {event.retailer_id for event in events} == {shop.pk}
    assert api.get(f"orders/{waiting}").json()["updated_at"] > before


def test_an_order_that_still_waits_hears_that_the_date_is_gone_with_the_stock(
    waiting, shop, lamp, count, client_for
):
    api = client_for(shop)
    second = api.post("orders", a_body("W-2", 5) | {"when_short": "wait"}).json()["order_id"]
    count(expected_at=SOON)
    before = api.get(f"orders/{second}").json()

    count(1)
    after = api.get(f"orders/{second}").json()

    assert [each["order_lines"][0]["expected_at"] for each in (before, after)] == [SOON, None]
    assert after["updated_at"] > before["updated_at"]
    last = Event.objects.filter(order_id=second, type="order.stock_expected").latest("id")
    assert last.data["expected"][0]["expected_at"] is None


@pytest.mark.parametrize("day", [PAST, "soon", "2030-02-30", 20300101, ""])
def test_a_wrong_date_rejects_its_element_only(lamp, count, day):
    answer = count(3, expected_at=day)

    assert (answer["updated"], answer["rejected"]) == (0, 1)
    assert answer["errors"][0]["code"] == "invalid_date"
    assert not ExpectedStock.objects.exists()


def test_a_refusal_may_have_a_date(acme, shop, a_variant, client_for, operator_desk):
    lamp = a_variant(acme, "LAMP", stock=1)
    order = client_for(shop).post("orders", a_body("R-1", 1)).json()["order_id"]
    work, api = Fulfillment.objects.get(order=order), client_for(acme)

    past = api.put(status(work, "out_of_stock"), {"expected_at": PAST})
    wrong = api.put(status(work, "missing_sku"), {"expected_at": SOON})
    done = api.put(status(work, "out_of_stock"), {"expected_at": SOON})

    assert (past.status_code, past.json()["code"]) == (400, "invalid_date")
    assert wrong.json()["errors"][0]["field"] == "expected_at"
    assert done.json()["code"] == "out_of_stock"
    assert str(ExpectedStock.objects.get(variant=lamp).expected_at) == SOON
    [line] = client_for(shop).get(f"orders/{order}").json()["order_lines"]
    assert line["expected_at"] == SOON
    assert "expected on" in operator_desk()


@pytest.fixture
def operator_desk(client):
    from tests.factories import StaffFactory  # the only test here that needs an operator

    client.force_login(StaffFactory.create(username="olga", group="Operators"))
    return lambda: client.get("/admin/").text


def test_an_element_of_rejections_may_have_a_date(acme, shop, a_variant, client_for):
    a_variant(acme, "LAMP", stock=3)
    client_for(shop).post("orders", a_body("R-1", 3))
    work = Fulfillment.objects.get()
    element = {"id": work.pk, "items": [{"sku": "LAMP", "quantity": 1}]}

    sent = [
        {**element, "rejectId": "1", "expected_at": PAST},
        {**element, "rejectId": "2", "expected_at": SOON},
    ]
    results = client_for(acme).post("fulfillments/rejections", sent).json()["results"]

    assert [each["code"] for each in results] == ["invalid_date", "lines_rejected"]
    assert str(ExpectedStock.objects.get().expected_at) == SOON


@pytest.mark.parametrize("number", [{"rejectId": "1"}, {}])
def test_a_repeated_rejection_whose_date_has_passed_is_unchanged(acme, shop, a_variant, client_for, number):
    a_variant(acme, "LAMP", stock=3)
    client_for(shop).post("orders", a_body("R-1", 3))
    element = {"id": Fulfillment.objects.get().pk, "items": [{"sku": "LAMP", "quantity": 1}], **number}

    answers = [
        client_for(acme).post("fulfillments/rejections", [{**element, "expected_at": day}]).json()
        for day in (SOON, PAST)
    ]

    assert [answer["code"] for answer in answers] == ["lines_rejected", "unchanged"]
    assert str(ExpectedStock.objects.get().expected_at) == SOON
