"""A supplier's clerk records returned goods, finds returns, and puts units back into stock."""

from __future__ import annotations

import csv
import io

import pytest

from events.models import Event
from fulfillments.models import Return
from inventory.models import StockLevel
from tests.portal.conftest import act, said

LIST = "/portal/returns/"


@pytest.fixture
def work(acme, shop, a_variant, pushed, ana):
    """Push an order of two lamps, and ship it."""
    a_variant(acme, "LAMP", stock=10)
    work = pushed(shop, {"sku": "LAMP", "quantity": 2}).fulfillments.get()
    act(ana, f"/portal/orders/{work.pk}/do/ship/", tracking_number="1Z1")
    return work


@pytest.fixture
def returned(ana, work):
    line = work.lines.get()
    answers = {f"line_{line.pk}": 1, "reason": "Too large", "return_id": "R-7"}
    act(ana, f"/portal/orders/{work.pk}/do/return/", **answers)
    return Return.objects.get()


def on_hand():
    return StockLevel.objects.get(variant__sku="LAMP").on_hand


def test_a_return_is_recorded_on_its_order_and_found_by_both_numbers(ana, owner, work, returned):
    number = work.order.retailer_order_id
    assert Event.objects.get(type="fulfillment.returned").actor == owner.actor_name
    for query in ({}, {"q": number}, {"q": "R-7"}):
        text = ana.get(LIST, query).content.decode()
        assert number in text
        assert "1 × LAMP" in text
    assert number not in ana.get(LIST, {"q": "R-8"}).content.decode()
    assert f"{LIST}{returned.pk}/" in ana.get(f"/portal/orders/{work.pk}/").content.decode()


def test_the_number_of_a_return_is_named_from_the_readers_side(ana, sam, returned):
    assert "<dt>Your number</dt><dd>R-7</dd>" in ana.get(f"{LIST}{returned.pk}/").text
    assert "<dt>Supplier's number</dt><dd>R-7</dd>" in sam.get(f"/portal/returned/{returned.pk}/").text


def test_units_go_back_into_stock_once(ana, returned):
    before = on_hand()
    page = f"{LIST}{returned.pk}/do/restock/"
    assert said(act(ana, page))[-1] == "The returned units are in stock again."
    assert on_hand() == before + 1

    assert "All units of this return are in stock again." in ana.get(page).content.decode()
    assert on_hand() == before + 1


def test_more_units_than_were_shipped_are_refused_with_the_typed_text(ana, work, returned):
    line = work.lines.get()
    path = f"/portal/orders/{work.pk}/do/return/"
    text = act(ana, path, **{f"line_{line.pk}": 2, "reason": "Broken"}).content.decode()

    assert "less than or equal to 1" in text
    assert 'value="Broken"' in text
    assert Return.objects.count() == 1


def test_the_file_has_the_shown_returns(ana, work, returned):
    rows = [*csv.reader(io.StringIO(ana.get(LIST, {"file": "csv"}).getvalue().decode("utf-8-sig")))]
    assert rows[0] == ["Order", "Retailer", "Reason", "Items", "Stock", "Returned"]
    assert rows[1][:5] == [work.order.retailer_order_id, "Shop", "Too large", "1 × LAMP", "not in stock"]
