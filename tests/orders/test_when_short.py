"""Short units are routed, kept with the order, or refused (contract 4)."""

from __future__ import annotations

import pytest

from accounts.models import Partnership
from events.models import Event
from fulfillments.models import Fulfillment, FulfillmentLine
from inventory.models import StockLevel
from orders.models import Order
from tests.orders.fixtures import order_state
from tests.orders.push_bodies import an_order


@pytest.fixture
def lamps(acme, a_variant):
    """Create lamps, with two units in stock."""
    return a_variant(acme, "LAMP", stock=2)


def lines_of(shop_api, order) -> list[tuple[int, int, int]]:
    """Return the waiting, short and refused units of each line in the retailer's view."""
    answer = shop_api.get(f"orders/{order.pk}").json()
    return [
        (line["quantity_waiting"], line["short"], line["quantity_rejected"]) for line in answer["order_lines"]
    ]


def held_by_suppliers(order) -> list[tuple[int, int]]:
    """Return the units and reserved units of each supplier's line."""
    lines = FulfillmentLine.objects.filter(fulfillment__order=order).order_by("pk")
    return [*lines.values_list("quantity", "reserved")]


@pytest.mark.parametrize("asked", [{}, {"when_short": None}, {"when_short": "ship_partial"}])
def test_short_units_are_routed_by_default(lamps, push, shop_api, asked):
    order = push({"sku": "LAMP", "quantity": 5}, **asked)

    assert held_by_suppliers(order) == [(5, 2)]
    assert lines_of(shop_api, order) == [(0, 3, 0)]


def test_short_units_wait_without_a_supplier_if_the_order_requests_it(lamps, push, shop_api):
    order = push({"sku": "LAMP", "quantity": 5}, when_short="wait")

    assert held_by_suppliers(order) == [(2, 2)]
    assert lines_of(shop_api, order) == [(3, 0, 0)]
    assert order_state(order) == "received"
    assert shop_api.get(f"orders/{order.pk}").json()["when_short"] == "wait"


def test_an_order_of_which_nothing_is_in_stock_waits_as_a_whole(acme, a_variant, push, shop_api):
    a_variant(acme, "RUG")

    order = push({"sku": "RUG", "quantity": 4}, when_short="wait")

    assert not Fulfillment.objects.filter(order=order).exists()
    assert lines_of(shop_api, order) == [(4, 0, 0)]
    assert order_state(order) == "received"
    assert shop_api.get("order-filters").json() == {"completed": 0, "canceled": 0, "pending": 1}


def test_an_order_whose_rest_waits_is_not_completed(lamps, push, acme, acme_api, work_of):
    order = push({"sku": "LAMP", "quantity": 5}, when_short="wait")
    work = work_of(order, acme)

    acme_api.put(f"fulfillments/{work.pk}/setStatus/accepted")
    assert order_state(order) == "processing"
    acme_api.put(f"fulfillments/{work.pk}/setStatus/shipped", {"tracking_number": "T-1"})

    assert order_state(order) == "partially_shipped"


def test_the_history_names_the_waiting_units(lamps, push, shop_api):
    order = push({"sku": "LAMP", "quantity": 5}, when_short="wait")

    created = Event.objects.get(order_id=order.pk, type="order.created")
    assert created.data["waiting"] == [{"order_line_id": order.lines.get().pk, "quantity": 3}]
    [decision] = shop_api.get(f"orders/{order.pk}/routing").json()["decisions"]
    assert [line["unfilled"] for line in decision["lines"]] == [3]


def test_a_short_order_is_refused_as_a_whole_if_it_requests_that(lamps, acme, a_variant, shop_api):
    a_variant(acme, "RUG", stock=9)
    body = an_order(
        {"sku": "RUG", "quantity": 1},
        {"sku": "LAMP", "quantity": 5},
        when_short="refuse",
    )

    answer = shop_api.post("orders", body)

    assert (answer.status_code, answer.json()["code"]) == (409, "insufficient_stock")
    [error] = answer.json()["errors"]
    assert (error["field"], error["code"]) == ("order_lines[1].quantity", "insufficient_stock")
    assert error["message"] == "Only 2 of 5 are in stock."
    assert not Order.objects.exists()
    assert not Event.objects.filter(type__startswith="order").exists()
    assert {level.reserved for level in StockLevel.objects.all()} == {0}


def test_a_refused_order_can_be_pushed_again_when_there_is_stock(lamps, acme_api, shop_api):
    body = an_order({"sku": "LAMP", "quantity": 5}, when_short="refuse")
    assert shop_api.post("orders", body).status_code == 409
    _stock(acme_api, lamps, 5)

    again, repeated = shop_api.post("orders", body), shop_api.post("orders", body)

    assert (again.status_code, again.json()["code"]) == (201, "order_created")
    assert (repeated.status_code, repeated.json()["code"]) == (200, "order_exists")
    assert repeated.json()["order_id"] == again.json()["order_id"]


def test_a_waiting_order_that_is_pushed_again_is_recognized(lamps, shop_api):
    body = an_order({"sku": "LAMP", "quantity": 5}, when_short="wait")
    first = shop_api.post("orders", body)

    again, other = shop_api.post("orders", body), shop_api.post("orders", body | {"when_short": "refuse"})

    assert (again.status_code, again.json()["order_id"]) == (200, first.json()["order_id"])
    assert (other.status_code, other.json()["errors"][0]["field"]) == (409, "when_short")


@pytest.mark.parametrize("value", ["later", "WAIT ", 1, True, ["wait"], ""])
def test_an_unknown_value_is_refused(lamps, shop_api, value):
    answer = shop_api.post("orders", an_order({"sku": "LAMP", "quantity": 1}, when_short=value))

    assert answer.status_code == 400
    assert [each["field"] for each in answer.json()["errors"]] == ["when_short"]
    assert "ship_partial" in answer.json()["message"]


# --- Settings of the partnership -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("agreed", "status", "waiting"), [("ship_partial", 201, 0), ("wait", 201, 3), ("refuse", 409, None)]
)
def test_the_partnerships_setting_counts_where_the_order_says_nothing(
    lamps, shop, shop_api, agreed, status, waiting
):
    shop.partnerships.update(when_short=agreed)

    answer = shop_api.post("orders", an_order({"sku": "LAMP", "quantity": 5}))

    assert answer.status_code == status
    if waiting is not None:
        line = Order.objects.get().lines.get()
        assert (line.waiting, line.open - line.reserved) == (waiting, 3 - waiting)


def test_the_setting_of_the_order_overrides_that_of_the_partnership(lamps, shop, push):
    shop.partnerships.update(when_short="refuse")

    assert held_by_suppliers(push({"sku": "LAMP", "quantity": 5}, when_short="ship_partial")) == [(5, 2)]


def test_a_partner_can_refuse_short_orders_that_the_order_allows(lamps, shop, shop_api):
    shop.partnerships.update(refuse_short_orders=True)

    answer = shop_api.post("orders", an_order({"sku": "LAMP", "quantity": 5}, when_short="ship_partial"))
    waiting = shop_api.post("orders", an_order({"sku": "LAMP", "quantity": 5}, when_short="wait"))

    assert (answer.status_code, answer.json()["code"]) == (409, "insufficient_stock")
    assert waiting.status_code == 201


def test_short_units_go_to_the_partner_that_takes_them(acme, rival, a_variant, shop, push):
    for supplier in (acme, rival):
        a_variant(supplier, "RUG")
    shop.partnerships.filter(supplier=acme).update(when_short="wait")

    order = push({"sku": "RUG", "quantity": 2})

    assert [*order.fulfillments.values_list("supplier__name", flat=True)] == ["Rival"]


def test_the_setting_is_changed_in_the_admin_and_the_change_is_recorded(admin_client, acme, shop):
    partnership = Partnership.objects.get(supplier=acme, retailer=shop)
    url = f"/admin/accounts/partnership/{partnership.pk}/change/"
    form = admin_client.get(url).context["adminform"].form
    values = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    sent = {name: "" if value is None else value for name, value in values.items() if value is not False}
    sent |= {"service_types": partnership.service_types, "when_short": "wait"}

    page = admin_client.post(url, sent)
    assert page.status_code == 302, page.context["adminform"].form.errors

    partnership.refresh_from_db()
    assert partnership.when_short == "wait"
    changed = Event.objects.get(type="partnership.updated").data["changed"]
    assert changed == {"when_short": {"from": "ship_partial", "to": "wait"}}


# --- Canceling -----------------------------------------------------------------------------------


def test_waiting_units_are_canceled_at_once(lamps, push, shop_api):
    order = push({"sku": "LAMP", "quantity": 5}, when_short="wait")

    answer = shop_api.post(f"orders/{order.pk}/cancel", {"lines": [{"sku": "LAMP", "quantity": 2}]})

    assert (answer.status_code, answer.json()["message"]) == (200, "Units canceled: 2.")
    assert lines_of(shop_api, order) == [(1, 0, 0)]
    assert held_by_suppliers(order) == [(2, 2)]


def test_canceling_the_whole_order_leaves_nothing_waiting(acme, a_variant, push, shop_api):
    a_variant(acme, "RUG")
    order = push({"sku": "RUG", "quantity": 4}, when_short="wait")

    answer = shop_api.post(f"orders/{order.pk}/cancel")

    assert (answer.status_code, answer.json()["code"]) == (200, "order_canceled")
    assert lines_of(shop_api, order) == [(0, 0, 0)]
    assert order_state(order) == "canceled"


def test_units_beyond_the_waiting_ones_are_requested_from_the_supplier(lamps, push, shop_api):
    order = push({"sku": "LAMP", "quantity": 5}, when_short="wait")

    answer = shop_api.post(f"orders/{order.pk}/cancel", {"lines": [{"sku": "LAMP", "quantity": 4}]})

    assert answer.json()["code"] == "cancel_requested"
    assert lines_of(shop_api, order) == [(0, 0, 0)]
    assert order_state(order) == "canceling"


def _stock(supplier_api, variant, pieces):
    body = {
        "warehouse_id": variant.stock.get().warehouse_id,
        "id_type": "sku",
        "inventories": [{"id": variant.sku, "amount": pieces}],
    }
    assert supplier_api.post("inventory", body).status_code == 200
