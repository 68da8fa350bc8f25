"""Stock from files, over the API."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from inventory.models import ExpectedStock, StockLevel, StockMovement, Warehouse
from tests.factories import StockLevelFactory, set_stock


def levels(supplier):
    """Return the stock on hand by sku and warehouse."""
    return {
        (level.variant.sku, level.warehouse.name): level.on_hand
        for level in StockLevel.objects.for_supplier(supplier).select_related("variant", "warehouse")
    }


def test_a_stock_file_sets_on_hand_and_leaves_reserved(acme, a_variant, stocked):
    a_variant(acme, "A-1", stock=10)
    a_variant(acme, "A-2")
    set_stock(reserved=3)

    job = stocked(acme, "sku,quantity\nA-1,7\nA-2,5\n")

    assert (job["status"], job["created"], job["updated"]) == ("succeeded", 1, 1)
    assert levels(acme) == {("A-1", "Acme East"): 7, ("A-2", "Acme East"): 5}
    assert StockLevel.objects.get(variant__sku="A-1").reserved == 3


def test_the_same_stock_file_twice_changes_only_the_time_of_the_count(acme, a_variant, stocked):
    a_variant(acme, "A-1", stock=10)
    stocked(acme, "sku,quantity\nA-1,7\n")
    StockLevel.objects.update(counted_at=None)
    before, movements = dict(StockLevel.objects.values().get()), StockMovement.objects.count()

    job = stocked(acme, "sku,quantity\nA-1,7\n")

    assert (job["unchanged"], job["updated"], job["created"]) == (1, 0, 0)
    after = dict(StockLevel.objects.values().get())
    assert after["counted_at"] is not None
    moments = {name: after[name] for name in ("counted_at", "stocked_at")}
    assert after == before | moments
    assert StockMovement.objects.count() == movements


def test_rows_with_an_unknown_variant_or_a_wrong_count_are_rejected_one_by_one(
    acme, a_variant, rival, stocked
):
    a_variant(acme, "A-1")
    a_variant(rival, "R-1")

    job = stocked(acme, "sku,quantity\nA-1,7\nR-1,5\n,4\nA-1x,\nA-2,-1\nA-3,1.5\n")

    assert [(e["line"], e["field"], e["code"]) for e in job["errors"]] == [
        (3, "sku", "not_found"),
        (4, "sku", "required"),
        (5, "quantity", "required"),
        (6, "quantity", "min_value"),
        (7, "quantity", "max_decimal_places"),
    ], job["errors"]
    assert (job["created"], job["rejected"]) == (1, 5)


def test_a_count_that_may_mean_thousands_is_rejected_with_the_right_spelling(acme, a_variant, stocked):
    a_variant(acme, "A-1")

    [error] = stocked(acme, "sku;quantity\nA-1;1.000\n")["errors"]

    assert (error["field"], error["code"]) == ("quantity", "not_a_number")
    assert error["message"].endswith("Write it without separators: 1000.")


def test_a_full_file_sets_unnamed_stock_of_its_warehouse_to_zero(acme, a_variant, stocked):
    for sku in ("A-1", "A-2", "A-3"):
        a_variant(acme, sku, stock=10)
    west = Warehouse.objects.get(name="Acme West")
    StockLevelFactory.create(variant=acme.variants.get(sku="A-2"), warehouse=west, on_hand=4)

    job = stocked(acme, "sku,quantity\nA-1,7\nA-3,many\n", mode="full")

    assert (job["updated"], job["rejected"], job["report"]["zeroed"]) == (1, 1, 1)
    assert levels(acme) == {
        ("A-1", "Acme East"): 7,
        ("A-2", "Acme East"): 0,
        ("A-3", "Acme East"): 10,  # unchanged: the file names this sku, but its count is invalid
        ("A-2", "Acme West"): 4,
    }


def test_one_file_may_count_several_warehouses_by_id_or_name(acme, a_variant, rival, stocked):
    a_variant(acme, "A-1", stock=1)
    west = Warehouse.objects.get(name="Acme West")

    job = stocked(
        acme,
        f"sku,quantity,place\nA-1,7,Acme East\nA-1,8,{west.pk}\nA-1,9,Rival East\nA-1,3,acme east\n",
        warehouse_field="place",
    )

    assert (job["created"], job["updated"], job["rejected"]) == (1, 1, 2)
    assert levels(acme) == {("A-1", "Acme East"): 7, ("A-1", "Acme West"): 8}
    assert {e["field"] for e in job["errors"]} == {"place"} or {e["field"] for e in job["errors"]} == {
        "warehouse"
    }


@pytest.mark.parametrize("id_type", ["upc", "ean", "id_in_source", "variant_id"])
def test_variants_are_found_by_any_id_type(acme, a_variant, stocked, id_type):
    variant = a_variant(acme, "A-1", upc="036000291452", ean="4006381333931", id_in_source="X1", stock=1)
    identifier = variant.pk if id_type == "variant_id" else getattr(variant, id_type)

    job = stocked(acme, f"code;qty\n{identifier};5\n", id_type=id_type, id_field="code", amount_field="qty")

    assert (job["status"], job["updated"]) == ("succeeded", 1), job
    assert levels(acme) == {("A-1", "Acme East"): 5}


def test_an_identifier_that_several_variants_share_is_rejected(acme, a_variant, stocked):
    for sku in ("A-1", "A-2"):
        a_variant(acme, sku, upc="036000291452", stock=1)

    job = stocked(acme, "sku,quantity\n036000291452,5\n", id_type="upc")

    assert [(e["code"], e["field"]) for e in job["errors"]] == [("ambiguous", "upc")]
    assert set(levels(acme).values()) == {1}


def test_an_older_count_is_refused_row_by_row(acme, a_variant, stocked):
    for sku in ("A-1", "A-2"):
        a_variant(acme, sku, stock=1)
    day = timezone.now().replace(microsecond=0)
    before, between, after = (day.replace(hour=0, minute=minute) - timedelta(days=1) for minute in (1, 2, 3))
    stocked(acme, "sku,quantity\nA-1,10\n", as_of=after.isoformat())
    stocked(acme, "sku,quantity\nA-2,10\n", as_of=before.isoformat())

    job = stocked(acme, "sku,quantity\nA-1,20\nA-2,20\n", as_of=between.isoformat())

    assert [(e["line"], e["code"]) for e in job["errors"]] == [(2, "stale_count")]
    assert levels(acme) == {("A-1", "Acme East"): 10, ("A-2", "Acme East"): 20}


def test_a_stock_file_may_have_restock_dates(acme, a_variant, stocked):
    for sku in ("A-1", "A-2", "A-3"):
        a_variant(acme, sku, stock=0)

    job = stocked(acme, "sku,quantity,expected_at\nA-1,0,2999-01-31\nA-2,0,2020-01-31\nA-3,0,\n")

    assert [(error["line"], error["field"], error["code"]) for error in job["errors"]] == [
        (3, "expected_at", "invalid_date")
    ]
    dates = ExpectedStock.objects.values_list("variant__sku", "expected_at")
    assert [(sku, str(day)) for sku, day in dates] == [("A-1", "2999-01-31")]
    stocked(acme, "sku,quantity\nA-1,4\n")
    assert not ExpectedStock.objects.filter(expected_at__isnull=False).exists()
