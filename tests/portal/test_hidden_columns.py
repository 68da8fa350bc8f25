"""The visitor chooses the columns of a list. Values of hidden columns do not change."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from inventory.expecting import expect
from inventory.models import ExpectedStock, StockLevel
from tests.portal.conftest import said

STOCK, PRODUCTS = "/portal/stock/?columns=", "/portal/products/?columns="


@pytest.fixture
def day():
    return (timezone.now() + timedelta(days=9)).date()


@pytest.fixture
def lamp(acme, a_variant, day):
    lamp = a_variant(acme, "LAMP", stock=5, retail_price="20", wholesale_price="10")
    warehouse = StockLevel.objects.get(variant=lamp).warehouse
    expect({(lamp.pk, warehouse.pk): day})
    return lamp


@pytest.fixture
def save(ana):
    """Return a function that opens a list, types values, and sends all inputs of the page."""

    def type_and_send(url, **typed):
        forms = re.findall(r"<form .*?</form>", ana.get(url).text, re.S)
        grid = next(form for form in forms if "ui-grid" in form)
        inputs = re.findall(r"<input[^>]*>", grid)
        sent = {name: _attribute(tag, "value") for tag in inputs if (name := _attribute(tag, "name"))}
        assert {*typed} <= {*sent}
        return ana.post(url, sent | typed, follow=True)

    return type_and_send


def shown(lamp):
    names = ("title", "retail_price", "wholesale_price")
    return {name: str(getattr(lamp, name)).removesuffix(".0000") for name in names}


def _attribute(tag, name):
    found = re.search(rf'\b{name}="([^"]*)"', tag)
    return html.unescape(found[1]) if found else ""


def test_a_count_keeps_the_restock_dates_of_a_hidden_column(save, lamp, day):
    page = save(f"{STOCK}sku,on_hand", **{f"{lamp.pk}-on_hand": "3"})

    assert said(page)[0].endswith(": 1 count saved.")
    assert ExpectedStock.objects.get().expected_at == day


def test_a_restock_date_is_saved_without_the_column_of_counts(save, lamp, day):
    later = day + timedelta(days=1)
    save(f"{STOCK}sku,expected_at", **{f"{lamp.pk}-expected_at": later.isoformat()})

    assert ExpectedStock.objects.get().expected_at == later
    assert StockLevel.objects.get().on_hand == 5


@pytest.mark.parametrize(
    ("columns", "field", "value"),
    [
        ("sku,title", "title", "New lamp"),
        ("sku,title,wholesale_price", "wholesale_price", "11"),
        ("sku,retail_price", "retail_price", "21"),
    ],
)
def test_a_product_keeps_the_values_of_hidden_columns(save, lamp, columns, field, value):
    before = shown(lamp)
    page = save(f"{PRODUCTS}{columns}", **{f"{lamp.pk}-{field}": value})
    lamp.refresh_from_db()

    assert said(page) == ["1 product changed."]
    assert shown(lamp) == before | {field: value}
