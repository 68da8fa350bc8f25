"""Tabs and forms of a supplier's stock: units in the safety stock are not available."""

from __future__ import annotations

import pytest

from accounts.models import Supplier
from inventory.elements import MOST
from inventory.models import StockLevel
from tests.factories import SupplierFactory, VariantFactory
from tests.portal.conftest import browser_of, said

STOCK, PRODUCTS = "/portal/stock/", "/portal/products/"


@pytest.fixture
def lamp(acme, a_variant):
    """Create a product with three units in its default warehouse, all of them safety stock."""
    Supplier.objects.filter(pk=acme.pk).update(safety_stock=3)
    return a_variant(acme, "LAMP", stock=3)


@pytest.mark.parametrize("path", [STOCK, PRODUCTS])
@pytest.mark.parametrize(("on_hand", "tab_shown"), [(3, "empty"), (4, "available")])
def test_a_product_with_only_safety_stock_is_not_available(ana, lamp, path, on_hand, tab_shown):
    StockLevel.objects.filter(variant=lamp).update(on_hand=on_hand)
    available = "stock" if path == PRODUCTS else "available"
    shown = {tab: ">LAMP<" in ana.get(path, {"tab": tab}).text for tab in (available, "empty")}

    assert shown == {available: tab_shown == "available", "empty": tab_shown == "empty"}


def test_the_largest_safety_stock_breaks_no_list(ana, acme, lamp):
    Supplier.objects.filter(pk=acme.pk).update(safety_stock=MOST)
    StockLevel.objects.filter(variant=lamp).update(reserved=2)

    assert ">LAMP<" in ana.get(STOCK, {"tab": "empty"}).text


def test_a_supplier_without_a_warehouse_reads_that_one_is_missing(db, member_of):
    owner = member_of(SupplierFactory.create(name="Newcomer"))
    variant = VariantFactory.create(supplier=owner.party, sku="LAMP")
    page = browser_of(owner).post(STOCK, {f"{variant.pk}-on_hand": "3"}, follow=True)

    assert said(page) == ["You have no warehouse yet. Ask an operator of the service to add one."]


@pytest.mark.parametrize(("rows", "answer"), [(100, "Nothing was changed"), (101, "There are 101 rows.")])
def test_a_stock_form_may_have_a_hundred_rows(ana, lamp, rows, answer):
    ids = range(lamp.pk, lamp.pk + rows)
    sent = {f"initial-{pk}-on_hand": "3" for pk in ids} | {f"{pk}-on_hand": "3" for pk in ids}

    assert said(ana.post(STOCK, sent, follow=True))[0].startswith(answer)
