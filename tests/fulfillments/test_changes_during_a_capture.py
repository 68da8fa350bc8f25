"""A capture waits for a change of its order, and then shows the changed order (contract 17)."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from fulfillments import views
from fulfillments.capturing import mark_captured
from fulfillments.services import let_capture_again
from inventory.models import StockLevel
from orders import services
from orders.services import correct_address, hold, release
from tests.factories import StockLevelFactory
from tests.interleaving import waiting
from tests.orders.fixtures import OPERATOR, status


@pytest.fixture
def before_the_capture(monkeypatch):
    """Return a function that lets something happen after a capture has read its rows."""

    def let(happen):
        def mark(page, listed):
            happen()
            return mark_captured(page, listed)

        monkeypatch.setattr(views, "mark_captured", mark)

    return let


def test_an_address_that_changes_during_a_capture_is_captured(work, acme_api, shop_api, before_the_capture):
    change = {"shipping_address": {"country": "US", "address1": "9 New Street"}}
    before_the_capture(lambda: shop_api.request("PATCH", f"orders/{work.order_id}", change))

    [captured] = acme_api.get("fulfillments").json()

    assert captured["shipping_address"]["address1"] == "9 New Street"
    assert captured["captured_at"]


@pytest.mark.django_db(transaction=True)
def test_a_capture_waits_for_an_operator_who_corrects_the_address(work, acme_api):
    with ThreadPoolExecutor(1) as pool:
        with work.order.change(by=OPERATOR) as change:
            correct_address(change, {"address1": "9 New Street"})
            captured = pool.submit(on_own_connection, acme_api.get, "fulfillments")
            with pytest.raises(TimeoutError):
                captured.result(timeout=0.5)
        [shown] = captured.result(timeout=30).json()

    assert shown["shipping_address"]["address1"] == "9 New Street"
    assert shown["captured_at"]


@pytest.mark.django_db(transaction=True)
def test_a_correction_and_a_capture_wait_for_each_other_in_one_order(work, acme, acme_api, monkeypatch):
    """Acme has captured one fulfillment of the order before, and has never captured the other."""
    west = acme.warehouses.get(is_default=False)
    for level in StockLevel.objects.filter(warehouse__supplier=acme):
        StockLevelFactory.create(variant=level.variant, warehouse=west, on_hand=5)
    acme_api.get("fulfillments")
    correct(work, "8 Former Street")
    acme_api.post("fulfillments/rejections", [{"id": work.pk, "items": [{"sku": "LAMP", "quantity": 1}]}])

    with ThreadPoolExecutor(1) as pool:

        def outdated_meanwhile(unfinished):
            captured.append(pool.submit(on_own_connection, acme_api.get, "fulfillments"))
            waiting(1)
            let_capture_again(unfinished)

        captured: list[Future[Any]] = []
        monkeypatch.setattr(services, "let_capture_again", outdated_meanwhile)
        correct(work, "9 New Street")
        shown = captured[0].result(timeout=30).json()

    assert [each["shipping_address"]["address1"] for each in shown] == ["9 New Street"] * 2


def correct(work, street):
    with work.order.change(by=OPERATOR) as change:
        correct_address(change, {"address1": street})


def on_own_connection(call, *args):
    try:
        return call(*args)
    finally:
        connection.close()


def test_work_that_is_held_during_a_capture_is_captured_after_its_release(work, acme_api, before_the_capture):
    def hold_it(act=hold):
        with work.order.change(by=OPERATOR) as change:
            act(change)

    before_the_capture(hold_it)
    assert acme_api.get("fulfillments").json() == []

    before_the_capture(lambda: None)
    hold_it(release)
    [captured] = acme_api.get("fulfillments").json()
    assert captured["captured_at"]


def test_work_that_no_longer_matches_the_filter_is_neither_listed_nor_captured(
    work, acme_api, shop_api, before_the_capture
):
    acme_api.put(status(work, "accepted"))
    before_the_capture(lambda: shop_api.post(f"orders/{work.order_id}/cancel"))

    assert acme_api.get("fulfillments", {"fulfillment_state": "accepted"}).json() == []

    assert acme_api.get(f"fulfillments/{work.pk}").json()["captured_at"] is None


def test_work_that_is_held_during_its_first_capture_counts_as_never_captured(
    work, acme_api, shop_api, shop, before_the_capture
):
    """The supplier has not seen the work, so the retailer may still cancel it without asking."""
    shop.partnerships.update(cancel_before_capture="at_once")

    def hold_it(act=hold):
        with work.order.change(by=OPERATOR) as change:
            act(change)

    before_the_capture(hold_it)
    assert acme_api.get("fulfillments").json() == []
    hold_it(release)

    deadline = shop_api.request("PATCH", f"orders/{work.order_id}", {"ship_until": "2090-01-31"})
    canceled = shop_api.post(f"orders/{work.order_id}/cancel")
    assert (deadline.json()["code"], canceled.json()["code"]) == ("order_changed", "order_canceled")


def test_the_capture_of_another_request_stays(work, acme_api, before_the_capture):
    def captured_and_accepted():
        before_the_capture(lambda: None)
        assert acme_api.get("fulfillments").json()
        acme_api.put(status(work, "accepted"))

    before_the_capture(captured_and_accepted)
    acme_api.get("fulfillments", {"fulfillment_state": "new"})

    assert acme_api.get(f"fulfillments/{work.pk}").json()["captured_at"]
