"""A typed `1.000` is refused: Django reads it as 1, but many people mean 1000."""

from __future__ import annotations

from decimal import Decimal

import pytest

from inventory.models import StockLevel
from portal.connections.forms import ReplayForm
from tests.portal.conftest import act

ADVICE = "Enter a whole number. Write it without separators: 1000."


@pytest.fixture
def lamp(acme, a_variant):
    return a_variant(acme, "LAMP", stock=5000, retail_price="1.125", wholesale_price="1")


@pytest.fixture
def work(pushed, shop, lamp):
    return pushed(shop, {"sku": "LAMP", "quantity": 1500}).fulfillments.get()


def test_the_units_of_a_parcel(ana, work):
    line = work.lines.get()
    path = f"/portal/orders/{work.pk}/do/ship/"
    page = act(ana, path, tracking_number="1Z1", **{f"line_{line.pk}": "1.000"})
    assert ADVICE in page.text
    line.refresh_from_db()
    assert line.shipped == 0

    act(ana, path, tracking_number="1Z1", **{f"line_{line.pk}": "1000"})
    line.refresh_from_db()
    assert line.shipped == 1000


@pytest.mark.parametrize(("action", "field"), [("count", "on_hand"), ("adjust", "units")])
def test_an_operators_count(operator, lamp, action, field):
    path = f"/admin/inventory/stocklevel/{StockLevel.objects.get().pk}/do/{action}/"
    page = act(operator, path, reason="Found", **{field: "1.000"})
    assert ADVICE in page.text
    assert StockLevel.objects.get().on_hand == 5000


def test_the_events_to_send_again():
    assert ReplayForm({"after": "1.000", "until": "2.000"}).errors == {"after": [ADVICE], "until": [ADVICE]}


def prices(lamp):
    lamp.refresh_from_db()
    return (lamp.retail_price, lamp.wholesale_price)


@pytest.mark.parametrize("typed", ["1.000", "2.500", " 12.000"])
def test_a_price_with_two_meanings(ana, operator, lamp, typed):
    number = typed.strip()
    message = f"{number} has two meanings. Write {number.replace('.', '')} or {number}0."
    prefix = f"{lamp.pk}-"
    sent = {f"{prefix}retail_price": typed, f"{prefix}wholesale_price": "1"}
    assert message in ana.post("/portal/products/", sent).text
    sent = {"retail_price": typed, "wholesale_price": "1"}
    assert message in operator.post(f"/admin/catalog/variant/{lamp.pk}/change/", sent).text
    assert prices(lamp) == (Decimal("1.125"), 1)


@pytest.mark.parametrize(
    ("retail", "wholesale", "stored"),
    [
        ("1.125", "2", ("1.125", "2")),
        ("1.0000", "1.0", ("1", "1")),
        ("0.500", "0.25", ("0.5", "0.25")),
        ("1000", "1000.5", ("1000", "1000.5")),
    ],
)
def test_a_price_with_one_meaning(ana, lamp, retail, wholesale, stored):
    prefix = f"{lamp.pk}-"
    ana.post("/portal/products/", {f"{prefix}retail_price": retail, f"{prefix}wholesale_price": wholesale})
    assert prices(lamp) == tuple(map(Decimal, stored))
