"""A retailer's catalog page has the numbers of the pull, and only products of its partners."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from openpyxl import load_workbook

from accounts.models import Partnership, Supplier
from inventory.models import Warehouse
from tests.factories import StockLevelFactory, SupplierFactory

COLUMNS = "id,sku,supplier,wholesale_price,retail_price,available,expected"


@pytest.fixture
def goods(acme, rival, shop, a_variant, pushed, client_for):
    """Create products for the catalog page.

    Some have a model, safety stock, reserved units or a restock date, and some have no wholesale price. Shop
    may not see two of the products.
    """
    Supplier.objects.filter(pk=rival.pk).update(safety_stock=2)
    lamp = a_variant(acme, "LAMP-R", stock=10, title="Red lamp", model="LAMP", wholesale_price="9.5")
    a_variant(acme, "LAMP-B", stock=3, title="Blue lamp", model="LAMP", wholesale_price="8")
    west = Warehouse.objects.get(supplier=acme, is_default=False)
    StockLevelFactory.create(variant=lamp, warehouse=west, on_hand=4)
    a_variant(rival, "VASE", stock=5, title="Tall vase")
    a_variant(rival, "POT", stock=2, title="Small pot")
    a_variant(acme, "GONE", stock=5, listed=False)
    stranger = SupplierFactory.create(name="Stranger")
    a_variant(stranger, "SECRET-1", title="Secret lamp")
    pushed(shop, {"sku": "LAMP-R", "quantity": 2})
    day = (timezone.now() + timedelta(days=5)).date().isoformat()
    warehouse = Warehouse.objects.get(supplier=rival, is_default=True)
    element = {"id": "POT", "amount": 2, "expected_at": day}
    body = {"warehouse_id": warehouse.pk, "id_type": "sku", "inventories": [element]}
    assert client_for(rival).post("inventory", body).status_code < 300


def exported(browser, **asked):
    answer = browser.get("/portal/catalog/", {"columns": COLUMNS, "file": "csv", **asked})
    text = b"".join(answer.streaming_content).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def skus(browser, **asked):
    return {row["SKU"] for row in exported(browser, **asked)}


@pytest.mark.parametrize("channel", ["ecommerce", "wholesale"])
def test_the_catalog_has_the_numbers_of_the_pull(sam, shop, acme, client_for, goods, channel):
    Partnership.objects.filter(retailer=shop, supplier=acme).update(service_types=["ecommerce"])
    pull = client_for(shop).get(f"variants?service_type={channel}")
    groups = json.loads(b"".join(pull.streaming_content))
    rows = {int(row["Variant ID"]): row for row in exported(sam, channel=channel)}

    assert sorted(rows) == sorted(pk for group in groups for pk in group["variants"])
    for group in groups:
        shown = [rows[pk] for pk in group["variants"]]
        assert sum(int(row["Available"]) for row in shown) == group["available_inventory"]
        for column, name in (("Your price", "wholesale_price"), ("Retail price", "retail_price")):
            prices = [Decimal(row[column]) for row in shown if row[column]]
            bounds = [group[f"{name}_{end}"] for end in ("min", "max")]
            known = [None if bound is None else Decimal(str(bound)) for bound in bounds]
            assert [min(prices, default=None), max(prices, default=None)] == known
        days = [row["Expected"] for row in shown if row["Expected"]]
        assert min(days, default=None) == group["expected_at"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, {"LAMP-R", "LAMP-B", "VASE", "POT"}),
        ({"q": "lamp"}, {"LAMP-R", "LAMP-B"}),
        ({"q": "all vas"}, {"VASE"}),
        ({"tab": "available"}, {"LAMP-R", "LAMP-B", "VASE"}),
        ({"tab": "unavailable"}, {"POT"}),
        ({"channel": "nonsense"}, {"LAMP-R", "LAMP-B", "VASE", "POT"}),
    ],
)
def test_filters_choose_the_rows_of_the_page_and_of_the_file(sam, goods, asked, found):
    page = sam.get("/portal/catalog/", asked)
    assert {variant.sku for variant, _ in page.context["rows"]} == found
    assert skus(sam, **asked) == found


def test_a_partner_can_be_chosen_as_a_filter_and_other_suppliers_cannot(sam, rival, goods):
    assert skus(sam, supplier=rival.pk) == {"VASE", "POT"}
    stranger = Supplier.objects.get(name="Stranger")
    page = sam.get("/portal/catalog/", {"supplier": stranger.pk, "q": "lamp"})
    assert page.context["rows"] == []
    assert "Stranger" not in page.text


def test_the_workbook_has_the_same_rows(sam, goods):
    answer = sam.get("/portal/catalog/", {"file": "xlsx", "tab": "unavailable"})
    sheet = load_workbook(io.BytesIO(b"".join(answer.streaming_content))).active
    assert [row[0] for row in sheet.iter_rows(values_only=True)] == ["SKU", "POT"]


def test_a_product_shows_its_prices_its_stock_and_the_others_of_its_model(sam, acme, goods):
    page = sam.get(f"/portal/catalog/{acme.variants.get(sku='LAMP-R').pk}/")

    assert page.context["available"] == 12
    assert [(each.sku, units) for each, units in page.context["siblings"]] == [("LAMP-B", 3)]
    assert "9.50" in page.text
    for hidden in ("Acme East", "Acme West"):
        assert hidden not in page.text


@pytest.mark.parametrize(("currency", "shown"), [("USD", "9.50"), ("JPY", "1,200")])
def test_the_list_shows_prices_with_the_decimals_of_their_currency(sam, acme, a_variant, currency, shown):
    Supplier.objects.filter(pk=acme.pk).update(currency=currency)
    a_variant(acme, "LAMP-R", wholesale_price="9.5" if currency == "USD" else "1200")

    page = sam.get("/portal/catalog/?columns=sku,wholesale_price").content.decode()

    assert re.findall(r'data-label="Your price"\s+class="n">\s*(\S+)\s*<', page) == [shown]


def test_products_of_a_suspended_partner_and_delisted_products_do_not_exist(sam, shop, acme, goods):
    gone, lamp = (acme.variants.get(sku=sku).pk for sku in ("GONE", "LAMP-R"))
    assert sam.get(f"/portal/catalog/{gone}/").status_code == 404
    Partnership.objects.filter(retailer=shop, supplier=acme).update(is_active=False)
    assert sam.get(f"/portal/catalog/{lamp}/").status_code == 404
    assert skus(sam) == {"VASE", "POT"}


def test_the_list_takes_the_same_queries_for_any_number_of_products(sam, acme, goods, a_variant):
    def count():
        with CaptureQueriesContext(connection) as captured:
            sam.get("/portal/catalog/")
        return len(captured)

    before = count()
    for number in range(5):
        a_variant(acme, f"NEW-{number}", stock=1)
    assert count() == before
