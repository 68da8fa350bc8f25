"""Stock files beside later counts and reservations, for several warehouses, and corrected error reports."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from inventory.models import StockLevel, Warehouse
from tests.factories import StockLevelFactory, WarehouseFactory
from tests.imports.test_stock import levels
from tests.orders.push_bodies import an_order

EAST, WEST = "Acme East", "Acme West"


def test_a_full_file_zeroes_in_each_warehouse_that_it_names_and_in_no_other(acme, a_variant, stocked):
    third = WarehouseFactory.create(supplier=acme, name="Acme North")
    for sku in ("A-1", "A-2"):
        variant = a_variant(acme, sku, stock=10)
        for place in (Warehouse.objects.get(name=WEST), third):
            StockLevelFactory.create(variant=variant, warehouse=place, on_hand=10)

    job = stocked(
        acme, f"sku,quantity,place\nA-1,7,{EAST}\nA-2,8,{WEST}\n", warehouse_field="place", mode="full"
    )

    assert job["report"]["zeroed"] == 2
    assert levels(acme) == {
        ("A-1", EAST): 7,
        ("A-2", EAST): 0,
        ("A-1", WEST): 0,
        ("A-2", WEST): 8,
        ("A-1", "Acme North"): 10,
        ("A-2", "Acme North"): 10,
    }


@pytest.mark.parametrize("place", ["", "Acme Esat"])
def test_a_row_with_an_unknown_warehouse_sets_no_stock_to_zero(acme, a_variant, stocked, place):
    for sku in ("A-1", "MISSPELT", "GONE"):
        variant = a_variant(acme, sku, stock=10)
        StockLevelFactory.create(variant=variant, warehouse=Warehouse.objects.get(name=WEST), on_hand=10)

    job = stocked(
        acme,
        f"sku,quantity,place\nA-1,7,{EAST}\nA-1,7,{WEST}\nMISSPELT,8,{place}\n",
        warehouse_field="place",
        mode="full",
    )

    assert (job["rejected"], job["report"]["zeroed"]) == (1, 2)
    assert [levels(acme)["MISSPELT", where] for where in (EAST, WEST)] == [10, 10]
    assert [levels(acme)["GONE", where] for where in (EAST, WEST)] == [0, 0]


def test_a_full_file_sets_nothing_to_zero_that_was_counted_later(acme, a_variant, client_for, stocked):
    for sku in ("NAMED", "NOT-NAMED", "COUNTED-LATER"):
        a_variant(acme, sku, stock=10)
    now = timezone.now()
    StockLevel.objects.update(counted_at=now - timedelta(days=1))
    east = Warehouse.objects.get(name=EAST)
    body = {"warehouse_id": east.pk, "inventories": [{"sku": "COUNTED-LATER", "quantity": 3}]}
    assert client_for(acme).post("inventory", {**body, "as_of": now.isoformat()}).json()["updated"] == 1

    job = stocked(
        acme, "sku,quantity\nNAMED,9\n", mode="full", as_of=(now - timedelta(minutes=5)).isoformat()
    )

    assert job["report"]["zeroed"] == 1
    assert levels(acme) == {("NAMED", EAST): 9, ("NOT-NAMED", EAST): 0, ("COUNTED-LATER", EAST): 3}


def test_reservations_made_after_the_count_still_count(acme, shop, a_variant, client_for, stocked):
    a_variant(acme, "A-1", stock=10)
    StockLevel.objects.update(counted_at=timezone.now() - timedelta(days=1))
    counted = timezone.now() - timedelta(minutes=5)
    assert client_for(shop).post("orders", an_order({"sku": "A-1", "quantity": 4})).status_code == 201

    stocked(acme, "sku,quantity\nA-1,9\n", as_of=counted.isoformat())

    [level] = client_for(acme).get("inventory", {"sku": "A-1"}).json()
    assert (level["on_hand"], level["reserved"], level["available"]) == (9, 4, 5)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_error_report_of_a_stock_file_can_be_uploaded(
    acme, a_variant, client_for, stocked, delimiter, encoding
):
    for sku in ("A-1", "A-2"):
        a_variant(acme, sku, stock=1)
    rows = [
        ("sku", "quantity", "remark"),
        ("A-1", "lots", "=1+1"),
        ("A-3", "5", "für später"),
        ("A-2", "7", ""),
    ]
    job = stocked(acme, "".join(f"{delimiter.join(row)}\n" for row in rows).encode(encoding))
    assert (job["updated"], job["rejected"]) == (1, 2)

    served = client_for(acme).get(f"imports/{job['id']}/errors")
    report = b"".join(served.streaming_content).decode()
    again = stocked(acme, report.replace("lots", "20").replace("A-3", "A-2"))

    assert (again["status"], again["updated"], again["ignored_columns"]) == ("succeeded", 2, ["remark"])
    assert levels(acme) == {("A-1", EAST): 20, ("A-2", EAST): 5}


@pytest.mark.parametrize("code", ["code", "@code", "'=code"])
def test_the_error_report_of_a_file_with_columns_of_any_name_comes_back(
    acme, a_variant, client_for, stocked, code
):
    a_variant(acme, "A-1", upc="036000291452", stock=1)
    a_variant(acme, "A-2", upc="012345678905", stock=1)
    how = {"id_type": "upc", "id_field": code, "amount_field": "line"}
    job = stocked(acme, f"{code},line,message\n036000291452,lots,=x\n012345678905,2,\n", **how)

    served = client_for(acme).get(f"imports/{job['id']}/errors")
    again = stocked(acme, b"".join(served.streaming_content).decode().replace(",lots", ",20"), **how)

    assert (again["status"], again["updated"], again["ignored_columns"]) == ("succeeded", 1, ["message"])
    assert levels(acme) == {("A-1", EAST): 20, ("A-2", EAST): 2}


@pytest.mark.parametrize("dry_run", [True, False])
def test_the_corrected_error_report_of_a_full_file_sets_no_other_stock_to_zero(
    acme, a_variant, client_for, stocked, dry_run
):
    for sku in ("A-1", "A-2", "GONE"):
        a_variant(acme, sku, stock=5)
    job = stocked(acme, "sku,quantity\nA-1,7\nA-2,lots\n", mode="full")
    assert levels(acme) == {("A-1", EAST): 7, ("A-2", EAST): 5, ("GONE", EAST): 0}

    served = client_for(acme).get(f"imports/{job['id']}/errors")
    corrected = b"".join(served.streaming_content).decode().replace(",lots", ",9")
    again = stocked(acme, corrected, mode="full", dry_run=dry_run)

    assert (again["status"], again["updated"], again["report"]["zeroed"]) == ("succeeded", 1, 0)
    assert "error report" in again["report"]["kept"]
    assert levels(acme)[("A-1", EAST)] == 7


def test_the_approval_rule_looks_at_wholesale_prices_too_and_at_one_supplier_only(
    acme, rival, a_variant, client_for, ran
):
    client_for(acme).put("importPolicy", {"price_factor": 2})
    for supplier in (acme, rival):
        a_variant(supplier, "A-1", retail_price="10", wholesale_price="5")
    file = ["sku,wholesale_price", "A-1,1"]

    held, landed = ran(acme, data=file), ran(rival, data=file)

    assert held["status"] == "awaiting_approval"
    assert held["report"]["reasons"] == [
        "The file would change wholesale_price of 1 variant by more than a factor of 2."
    ]
    assert (landed["status"], landed["updated"]) == ("succeeded", 1)
