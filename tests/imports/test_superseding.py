"""A later file that is imported supersedes a waiting file with the same warehouses."""

from __future__ import annotations

import pytest

from imports.models import ImportJob
from inventory.models import Warehouse
from tests.factories import StockLevelFactory, VariantFactory


@pytest.fixture
def east_and_west(acme, client_for):
    """Create three variants in both of Acme's warehouses.

    A full file that lacks two of these variants needs approval.
    """
    warehouses = list(Warehouse.objects.filter(supplier=acme).order_by("pk"))
    for sku in ("A-1", "A-2", "A-3"):
        variant = VariantFactory.create(supplier=acme, sku=sku)
        for warehouse in warehouses:
            StockLevelFactory.create(variant=variant, warehouse=warehouse, on_hand=5)
    client_for(acme).put("importPolicy", {"zeroed_least": 1, "zeroed_share": 0.1})
    return warehouses


@pytest.fixture
def waiting(acme, east_and_west, stocked):
    job = stocked(acme, "sku,quantity\nA-1,7\n", mode="full", warehouse_id=east_and_west[0].pk)
    assert job["status"] == "awaiting_approval"
    return job


ALL = "sku,quantity\nA-1,1\nA-2,2\nA-3,3\n"


def test_a_later_file_of_the_same_warehouse_supersedes_a_waiting_file_and_says_so(
    acme, east_and_west, waiting, stocked, client_for
):
    later = stocked(acme, ALL, mode="full", warehouse_id=east_and_west[0].pk)

    old = client_for(acme).get(f"imports/{waiting['id']}").json()
    assert (old["status"], old["error"]["code"]) == ("canceled", "superseded")
    assert old["error"]["message"] == f"Import {later['id']} came later and has landed."
    assert old["report"]["superseded_by"] == later["id"]


def test_a_file_of_another_warehouse_supersedes_no_file(acme, east_and_west, waiting, stocked):
    later = stocked(acme, ALL, mode="full", warehouse_id=east_and_west[1].pk)

    assert later["status"] == "succeeded"
    assert ImportJob.objects.get(pk=waiting["id"]).status == "awaiting_approval"


def test_a_file_of_several_warehouses_supersedes_a_file_of_one_but_not_vice_versa(
    acme, east_and_west, waiting, stocked
):
    rows = [f"{sku},9,{each.pk}" for sku in ("A-1", "A-2", "A-3") for each in east_and_west]
    both = "\n".join(["sku,quantity,warehouse", *rows])

    stocked(acme, both, mode="full", warehouse_field="warehouse")
    assert ImportJob.objects.get(pk=waiting["id"]).status == "canceled"

    wide = stocked(acme, "\n".join(both.splitlines()[:3]), mode="full", warehouse_field="warehouse")
    assert wide["status"] == "awaiting_approval"
    stocked(acme, ALL, mode="full", warehouse_id=east_and_west[0].pk)
    assert ImportJob.objects.get(pk=wide["id"]).status == "awaiting_approval"


def test_a_product_file_and_an_error_report_supersede_no_stock_file(
    acme, east_and_west, waiting, stocked, ran
):
    ran(acme, data=["sku,title,retail_price", "A-9,Tie,1"])
    report = "line,field,code,message,sku,quantity\n2,quantity,x,y,A-2,4\n"
    stocked(acme, report, warehouse_id=east_and_west[0].pk)

    assert ImportJob.objects.get(pk=waiting["id"]).status == "awaiting_approval"


def test_a_file_without_an_imported_row_supersedes_no_file(acme, east_and_west, waiting, stocked):
    later = stocked(acme, "sku,quantity\nWRONG,7\n", warehouse_id=east_and_west[0].pk)

    assert (later["status"], later["rejected"]) == ("succeeded_with_errors", 1)
    assert ImportJob.objects.get(pk=waiting["id"]).status == "awaiting_approval"


def test_a_warehouse_with_only_rejected_rows_is_not_covered(acme, east_and_west, waiting, stocked):
    east, west = east_and_west
    rows = f"sku,quantity,warehouse\nA-1,5,{west.pk}\nWRONG,7,{east.pk}\n"
    assert stocked(acme, rows, warehouse_field="warehouse")["rejected"] == 1

    assert ImportJob.objects.get(pk=waiting["id"]).status == "awaiting_approval"
