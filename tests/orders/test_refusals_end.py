"""A refusal ends with a later count, a new listing, a corrected address, or an operator's decision."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Suspension
from backoffice.groups import OPERATORS
from backoffice.suspending.services import suspend
from fulfillments.models import Fulfillment, Rejection
from fulfillments.reassigning import find_alternatives
from inventory.models import StockLevel, Warehouse
from orders import services
from orders.models import Order
from orders.tasks import serve_waiting
from tests.factories import StaffFactory, set_stock
from tests.orders.fixtures import OPERATOR, order_state, status

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def refused(acme, acme_api, a_variant, push, work_of):
    """Push an order of two lamps, which Acme refuses as out of stock."""
    a_variant(acme, "LAMP", stock=5)
    order = push({"sku": "LAMP", "quantity": 2})
    acme_api.put(status(work_of(order, acme), "out_of_stock"))
    return order


@pytest.fixture
def count(acme, acme_api):
    """Return a function that counts Acme's lamps in its default warehouse."""

    def count_(units, **fields):
        warehouse = Warehouse.objects.get(supplier=acme, is_default=True)
        element = {"id": "LAMP", "amount": units}
        body = {"warehouse_id": warehouse.pk, "id_type": "sku", "inventories": [element], **fields}
        acme_api.post("inventory", body)

    return count_


@pytest.fixture
def operator():
    client = Client()
    client.force_login(StaffFactory.create(username="olga", group=OPERATORS))
    return client


def works(order: Order) -> list[tuple[str, str]]:
    fulfillments = Fulfillment.objects.filter(order=order).order_by("pk")
    return list(fulfillments.values_list("supplier__name", "state"))


def route_again(order: Order, **options) -> None:
    with order.change(by=OPERATOR) as change:
        services.route_again(change, **options)


# --- Out of stock --------------------------------------------------------------------------------


def test_a_later_count_ends_the_refusal_and_the_waiting_order_comes_first(refused, count, push):
    count(2)

    assert works(refused) == [("Acme", "out_of_stock"), ("Acme", "new")]
    assert order_state(refused) == "received"
    newer = push({"sku": "LAMP", "quantity": 1})
    assert newer.lines.get().reserved == 0


def test_a_count_of_zero_and_a_count_from_before_the_refusal_do_not_end_it(refused, count):
    count(0)
    before = (timezone.now() - timedelta(hours=1)).isoformat()
    count(9, as_of=before)

    assert works(refused) == [("Acme", "out_of_stock")]


def test_returned_or_adjusted_units_are_no_count(refused):
    StockLevel.objects.get().adjust(5, reason="found", by=OPERATOR)
    route_again(refused)
    assert works(refused) == [("Acme", "out_of_stock")]


def test_the_first_count_in_a_warehouse_without_a_stock_row_ends_the_refusal(
    acme, acme_api, a_variant, push, work_of, count
):
    a_variant(acme, "LAMP")
    StockLevel.objects.all().delete()
    order = push({"sku": "LAMP", "quantity": 2})
    acme_api.put(status(work_of(order, acme), "out_of_stock"))

    count(2)

    assert works(order) == [("Acme", "out_of_stock"), ("Acme", "new")]


def test_a_second_refusal_waits_for_a_second_count(refused, count, acme, acme_api):
    count(2)
    acme_api.put(status(Fulfillment.objects.get(state="new"), "out_of_stock"))
    StockLevel.objects.get().adjust(5, reason="found", by=OPERATOR)
    route_again(refused)
    assert order_state(refused) == "exception"

    count(3)

    assert works(refused)[-1] == ("Acme", "new")


# --- Missing SKU ---------------------------------------------------------------------------------


def test_a_variant_that_is_listed_again_can_be_routed_again(acme, acme_api, a_variant, push, work_of):
    lamp = a_variant(acme, "LAMP", stock=5)
    order = push({"sku": "LAMP", "quantity": 2})
    acme_api.put(status(work_of(order, acme), "missing_sku"))
    route_again(order)
    assert works(order) == [("Acme", "missing_sku")]

    answer = acme_api.request("PATCH", f"variants/{lamp.pk}", {"listed": True})
    assert answer.status_code == 200, answer.content
    serve_waiting()

    assert works(order) == [("Acme", "missing_sku"), ("Acme", "new")]


def test_another_variant_of_the_supplier_does_not_replace_a_missing_variant(
    acme, acme_api, a_variant, push, work_of
):
    a_variant(acme, "LAMP", stock=5, upc="036000291452", wholesale_price=1)
    a_variant(acme, "LAMP-B", stock=5, upc="036000291452", wholesale_price=2)
    order = push({"upc": "036000291452", "quantity": 2})

    acme_api.put(status(work_of(order, acme), "missing_sku"))
    serve_waiting()

    assert works(order) == [("Acme", "missing_sku")]


# --- Operators -----------------------------------------------------------------------------------


def test_an_operator_asks_a_supplier_again(refused, acme):
    StockLevel.objects.get().adjust(5, reason="found", by=OPERATOR)

    route_again(refused, ask=acme.pk)

    assert works(refused) == [("Acme", "out_of_stock"), ("Acme", "new")]


def test_route_again_offers_the_suppliers_that_refused(refused, acme, operator):
    StockLevel.objects.get().adjust(5, reason="found", by=OPERATOR)
    path = f"/admin/orders/order/{refused.pk}/do/route-again/"
    assert "Ask this supplier again" in operator.get(path).text

    operator.post(path, {"supplier": acme.pk}, follow=True)

    assert works(refused) == [("Acme", "out_of_stock"), ("Acme", "new")]


def test_reassign_offers_the_supplier_that_the_fulfillment_was_taken_from(
    acme, rival, a_variant, push, work_of, operator
):
    a_variant(acme, "LAMP", stock=5, wholesale_price=1)
    a_variant(rival, "LAMP", stock=5, wholesale_price=2)
    order = push({"sku": "LAMP", "quantity": 2})
    with order.change(by=OPERATOR) as change:
        work_of(order, acme).withdraw(change)
    at_rival = work_of(order, rival)
    assert find_alternatives(at_rival).able == {acme.pk: "Acme (ask this supplier again)"}

    path = f"/admin/fulfillments/fulfillment/{at_rival.pk}/do/withdraw/"
    assert "Acme (ask this supplier again)" in operator.get(path).text
    operator.post(path, {"supplier": acme.pk, "reason": "Acme called"}, follow=True)

    assert works(order) == [("Acme", "canceled"), ("Rival", "canceled"), ("Acme", "new")]


# --- Addresses -----------------------------------------------------------------------------------


@pytest.fixture
def refused_for_address(acme, acme_api, a_variant, push, work_of):
    """Push an order of five lamps. Acme refuses two for the address, and has only three in stock."""
    a_variant(acme, "LAMP", stock=5)
    order = push({"sku": "LAMP", "quantity": 5})
    items = [{"sku": "LAMP", "quantity": 2}]
    refusal = {"id": work_of(order, acme).pk, "rejectId": "1", "reason": "wrong_address", "items": items}
    acme_api.post("fulfillments/rejections", [refusal])
    set_stock(on_hand=3)
    return order


@pytest.mark.parametrize("correct", [True, False])
def test_units_with_a_corrected_address_get_arriving_stock(refused_for_address, count, correct):
    with refused_for_address.change(by=OPERATOR) as change:
        if correct:
            services.correct_address(change, {"address1": "1 New Street"})
        else:
            services.release_address(change)
    assert order_state(refused_for_address) == "exception"

    count(9)

    assert order_state(refused_for_address) == "received"
    assert refused_for_address.lines.get().reserved == 5


def test_units_that_were_canceled_after_a_wrong_address_withhold_no_stock_from_others(
    refused_for_address, shop_api, acme_api, work_of, acme, count
):
    line = refused_for_address.lines.get().pk
    shop_api.post(f"orders/{refused_for_address.pk}/cancel", {"lines": [{"id": line, "quantity": 2}]})
    acme_api.put(status(work_of(refused_for_address, acme), "out_of_stock"))

    count(9)

    assert refused_for_address.lines.get().reserved == 3


def test_only_the_refusals_for_the_address_end_with_its_correction(refused, acme, a_variant):
    with refused.change(by=OPERATOR) as change:
        services.correct_address(change, {"address1": "1 New Street"})
    assert Rejection.objects.get().ended_at is None


# --- Suspended retailers -------------------------------------------------------------------------


def test_waiting_units_of_a_suspended_retailer_keep_their_turn(acme, shop, a_variant, push, count):
    a_variant(acme, "LAMP", stock=0)
    waiting = push({"sku": "LAMP", "quantity": 2}, when_short="wait")
    suspend(shop, reason="late payment", until=None, by=OPERATOR)

    count(3)

    assert works(waiting) == [("Acme", "new")]


@pytest.mark.parametrize("subject", ["supplier", "partnership"])
def test_a_suspended_supplier_gets_no_waiting_units(acme, shop, a_variant, push, count, subject):
    a_variant(acme, "LAMP", stock=0)
    waiting = push({"sku": "LAMP", "quantity": 2}, when_short="wait")
    suspend(
        acme if subject == "supplier" else shop.partnerships.get(supplier=acme),
        reason="x",
        until=None,
        by=OPERATOR,
    )

    count(3)
    assert works(waiting) == []

    Suspension.objects.update(ended_at=timezone.now())
    serve_waiting()
    assert works(waiting) == [("Acme", "new")]


def test_units_that_wait_for_an_address_are_not_routed_again(refused_for_address, operator, shop_api):
    page = operator.get(f"/admin/orders/order/{refused_for_address.pk}/change/").text
    assert "correct the address" in page
    assert "refused by all suppliers: route again" not in page
    set_stock(on_hand=9)

    route_again(refused_for_address)

    assert refused_for_address.lines.get().rejected == 2
    assert order_state(refused_for_address) == "exception"
