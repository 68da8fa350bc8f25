"""Shopify's inventory export. Its locations are rows or columns, with the names of warehouses."""

from __future__ import annotations

import csv
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from imports.models import AutoImport, ImportDraft, ImportJob
from imports.pipeline.job_runner import run_job
from imports.sweeping import take_uploads
from inventory.models import StockLevel
from tests.backoffice.conftest import operator
from tests.factories import UploadFactory, WarehouseFactory

__all__ = ["operator"]

BEFORE = "Handle,Title,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Option3 Name,Option3 Value,SKU"
LONG = f"{BEFORE},HS Code,COO,Location,Incoming,Unavailable,Committed,Available,On hand\n"
WIDE = f"{BEFORE},HS Code,COO,East,WEST side,Showroom\n"
SHIRT = "shirt,Shirt,Size,{size},,,,,{sku},,"


@pytest.fixture
def places(acme):
    return {name: WarehouseFactory.create(supplier=acme, name=name) for name in ("East", "West side")}


@pytest.fixture
def shirts(acme, a_variant):
    """Create two variants: one with its own sku, and one with a sku that the import of products builds."""
    return [a_variant(acme, "S-1"), a_variant(acme, "shirt-M")]


@pytest.fixture
def counted(acme, upload, ran):
    def go(content, path="inventory/stock.csv", **body):
        return ran(acme, "importInventory", url=upload(acme, content, path), mapping="shopify", **body)

    return go


def row(size, sku, location, available, on_hand="9"):
    return f"{SHIRT.format(size=size, sku=sku)},{location},0,0,0,{available},{on_hand}\n"


def levels():
    found = StockLevel.objects.values_list("variant__sku", "warehouse__name", "on_hand")
    return {(sku, place): on_hand for sku, place, on_hand in found}


def test_rows_for_each_location_count_its_available_units(places, shirts, counted):
    job = counted(
        LONG
        + row("S", "S-1", "East", 4)
        + row("S", "S-1", "west side", 2)
        + row("M", "", "East", "not stocked")
        + row("M", "", "West side", -3)
    )
    assert job["status"] == "succeeded"
    assert levels() == {
        ("S-1", "East"): 4,
        ("S-1", "West side"): 2,
        ("shirt-M", "East"): 0,
        ("shirt-M", "West side"): 0,
    }


def test_columns_for_each_location_are_counted_too_and_unknown_locations_are_named(places, shirts, counted):
    job = counted(
        WIDE
        + SHIRT.format(size="S", sku="S-1")
        + ",4,2,7\n"
        + SHIRT.format(size="M", sku="")
        + ",not stocked,,7\n"
    )
    assert (job["status"], job["rows_total"]) == ("succeeded", 3)
    assert levels() == {("S-1", "East"): 4, ("S-1", "West side"): 2, ("shirt-M", "East"): 0}
    unknown, silent = job["warnings"]
    assert "skipped: 'Showroom'. Your warehouses are " in unknown
    assert "'East', 'West side'" in unknown
    assert silent.endswith("lines 3.")


@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_a_full_file_rejects_an_empty_quantity_and_keeps_its_stock(places, shirts, counted, layout):
    counted(LONG + row("S", "S-1", "East", 4) + row("M", "", "East", 7))
    rows = LONG + row("S", "S-1", "East", 5) + row("M", "", "East", "")
    columns = (
        WIDE + SHIRT.format(size="S", sku="S-1") + ",5,3,7\n" + SHIRT.format(size="M", sku="") + ",,2,7\n"
    )
    job = counted(rows if layout == "rows" else columns, mode="full")

    assert [(each["line"], each["code"]) for each in job["errors"]] == [(3, "required")]
    assert (levels()["S-1", "East"], levels()["shirt-M", "East"]) == (5, 7)


@pytest.mark.parametrize("second", ["EAST", "id"])
def test_two_columns_of_one_warehouse_are_refused(places, shirts, counted, second):
    second = str(places["East"].pk) if second == "id" else second
    job = counted(f"{BEFORE},HS Code,COO,East,{second}\n" + SHIRT.format(size="S", sku="S-1") + ",4,9\n")

    assert (job["status"], job["error"]["code"]) == ("failed", "same_warehouse")
    assert f"'East' and '{second}' both mean the warehouse 'East'" in job["error"]["message"]


def test_rows_of_a_location_that_is_no_warehouse_are_left_out_and_counted(places, shirts, counted):
    job = counted(LONG + row("S", "S-1", "East", 4) + row("S", "S-1", "Moon", 1) + row("M", "", "Moon", 1))
    assert (job["status"], job["rows_total"]) == ("succeeded", 1)
    assert levels() == {("S-1", "East"): 4}
    assert "skipped: 'Moon' (2 rows). Your warehouses are " in job["warnings"][0]


def test_the_exact_name_of_a_warehouse_wins_over_a_similar_name(acme, shirts, counted):
    first = WarehouseFactory.create(supplier=acme, name="north")
    names = ["north", "NORTH", str(first.pk)]
    for name in names[1:]:
        WarehouseFactory.create(supplier=acme, name=name)
    job = counted(LONG + "".join(row("S", "S-1", name, 4 + place) for place, name in enumerate(names)))
    assert job["status"] == "succeeded"
    assert levels() == {("S-1", name): 4 + place for place, name in enumerate(names)}


@pytest.mark.parametrize("content", [LONG + row("S", "S-1", "Moon", 1), WIDE.replace("East,WEST side,", "")])
def test_a_file_with_an_unknown_location_fails_and_lists_the_known_locations(
    places, shirts, counted, content
):
    job = counted(content)
    assert (job["status"], job["error"]["code"]) == ("failed", "unknown_location")
    assert ("'Moon'" if "Moon" in content else "'Showroom'") in job["error"]["message"]
    assert "'East', 'West side'" in job["error"]["message"]
    assert levels() == {}


def test_a_file_of_one_location_is_counted_in_the_warehouse_of_the_request(places, shirts, counted):
    east = places["East"].pk
    assert counted(LONG + row("S", "S-1", "Shop", 4), warehouse_id=east)["status"] == "succeeded"
    assert levels() == {("S-1", "East"): 4}
    job = counted(LONG + row("S", "S-1", "Shop", 5) + row("M", "", "Moon", 1), warehouse_id=east)
    assert (job["status"], job["error"]["code"]) == ("failed", "several_locations")
    assert levels() == {("S-1", "East"): 4}


def test_another_column_of_quantities_may_be_chosen(places, shirts, counted):
    counted(LONG + row("S", "S-1", "East", 4, on_hand=11), amount_field="On hand")
    assert levels() == {("S-1", "East"): 11}


def test_a_rejected_row_comes_back_once_per_warehouse_and_lands_when_corrected(
    acme, places, shirts, counted, client_for
):
    job = counted(WIDE + SHIRT.format(size="XL", sku="S-9") + ",4,2,7\n")
    assert (job["status"], job["rejected"]) == ("succeeded_with_errors", 2)
    answer = client_for(acme).get(f"imports/{job['id']}/errors")
    report = b"".join(answer.streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(report)))
    assert sorted((each["line"], each["Location"], each["Available"]) for each in rows) == [
        ("2", "East", "4"),
        ("2", "West side", "2"),
    ]
    assert "'S-9': you have no variant with this sku." in rows[0]["message"]
    assert counted(report.replace("S-9", "S-1"))["status"] == "succeeded"
    assert levels() == {("S-1", "East"): 4, ("S-1", "West side"): 2}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"mapping": "magento"}, "mapping"),
        ({"mapping": "shopify", "warehouse_field": "Location"}, "warehouse_field"),
        ({"mapping": "shopify", "id_type": "ean"}, "id_type"),
        ({"mapping": "shopify", "warehouse_id": 987654}, "warehouse_id"),
    ],
)
def test_options_that_contradict_a_stock_mapping_are_refused(acme, upload, client_for, body, field):
    path = upload(acme, LONG, "inventory/stock.csv")
    answer = client_for(acme).post("importInventory", {"url": path, **body})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == field


def test_an_automatic_import_reads_an_export_in_the_same_way(acme, places, shirts, upload, client_for):
    answer = client_for(acme).put("autoImports/inventory", {"mapping": "shopify"})
    assert answer.status_code == 200, answer.json()
    assert AutoImport.objects.get().options["mapping"] == "shopify"
    path = upload(acme, WIDE + SHIRT.format(size="S", sku="S-1") + ",4,2,7\n", "inventory/night.csv")
    UploadFactory.create(supplier=acme, path=path)
    take_uploads()
    run_job(ImportJob.objects.get().pk)
    assert levels() == {("S-1", "East"): 4, ("S-1", "West side"): 2}


def test_the_browser_recognizes_an_export_by_its_header_and_previews_it(acme, places, operator):
    content = (WIDE + SHIRT.format(size="S", sku="") + ",4,2,7\n").encode()
    sent = {"supplier": acme.pk, "kind": "inventory", "file": SimpleUploadedFile("stock.csv", content)}
    operator.post("/admin/import-file/", sent)
    draft = ImportDraft.objects.get()
    assert draft.body == {"mapping": "shopify", "mode": "delta"}
    page = operator.get(f"/admin/import-file/{draft.pk}/")
    found = page.context["preview"]
    assert [each.values for each in found.rows] == [["4", "shirt-S", "East"], ["2", "shirt-S", "West side"]]
    assert "'Showroom'" in found.warnings[0]
    assert page.context["form"].initial["warehouse"] == "column"
