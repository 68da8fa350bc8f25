"""The page of a waiting file: the forecast with old and new values, and messages to the supplier."""

import pytest

from events.models import Event
from imports import overview
from imports.models import ImportJob
from imports.pipeline.job_runner import run_job
from inventory.models import Warehouse
from tests.backoffice.conftest import do, messages, operator, support
from tests.factories import StockLevelFactory
from tests.upload_area import area_of

__all__ = ["operator", "support"]


@pytest.fixture
def held(acme, a_variant, stocked):
    """Import a full stock file that would set 120 variants to 0, and one variant from 5 to 7, so it waits."""
    east = Warehouse.objects.get(supplier=acme, is_default=True)
    for number in range(121):
        StockLevelFactory.create(variant=a_variant(acme, f"B-{number}"), warehouse=east, on_hand=5)
    job = stocked(acme, "sku,quantity\nB-0,7\n", mode="full")
    assert job["status"] == "awaiting_approval"
    return ImportJob.objects.get(pk=job["id"])


def test_a_stock_file_that_waits_shows_old_and_new_for_each_warehouse_and_its_first_rows(operator, held):
    outlook = held.report["outlook"]

    assert outlook["warehouses"] == [
        {
            "warehouse_id": Warehouse.objects.get(name="Acme East").pk,
            "warehouse": "Acme East",
            "changed": 121,
            "zeroed": 120,
            "before": 605,
            "after": 7,
        }
    ]
    assert outlook["stock_changes"][0] == {"sku": "B-1", "warehouse": "Acme East", "from": 5, "to": 0}
    assert outlook["first_rows"] == [["B-0", "7"]]
    page = operator.get(f"/admin/imports/importjob/{held.pk}/change/").text
    assert all(text in page for text in ("Expected", "Largest stock changes", "<td>B-0</td>"))


def test_the_api_does_not_show_the_forecast_of_the_page(held, acme, client_for):
    report = client_for(acme).get(f"imports/{held.pk}").json()["report"]
    assert "outlook" not in report
    assert report["reasons"] == held.report["reasons"]


def test_a_product_file_that_waits_shows_its_largest_price_changes(acme, a_variant, ran, client_for):
    a_variant(acme, "A-1", title="Shirt", retail_price="10")
    a_variant(acme, "A-2", title="Hat", retail_price="10")
    client_for(acme).put("importPolicy", {"price_factor": 2})
    job = ran(acme, data=["sku,title,retail_price", "A-1,Shirt,30", "A-2,Hat,11", "A-3,New,5", "A-4,Bad,x"])

    outlook = ImportJob.objects.get(pk=job["id"]).report["outlook"]
    assert [(each["sku"], each["from"], each["to"]) for each in outlook["price_changes"]] == [
        ("A-1", "10", "30"),
        ("A-2", "10", "11"),
    ]


def test_a_supplier_finds_the_operators_message_in_its_reports(operator, held, acme):
    form = operator.get(f"/admin/imports/importjob/{held.pk}/do/message/").context["form"]
    assert held.report["reasons"][0] in form["text"].value()

    page = do(operator, held, "message", text="Is this right?\nYours")

    [said] = messages(page)
    path = said.partition(" finds the message as ")[2].partition(" in its")[0]
    assert (area_of(acme) / path).read_bytes() == b"Is this right?\r\nYours"


def test_support_sends_no_messages(support, held):
    assert do(support, held, "message", text="x").status_code == 403


def test_changes_are_shown_old_and_new_and_in_percent(operator, held):
    page = operator.get(f"/admin/imports/importjob/{held.pk}/do/approve/").text
    assert "605 → 7" in page
    assert "-98.8 %" in page
    assert "Import the stock of" not in page  # with one warehouse, there is no choice


def test_a_file_is_approved_without_a_warehouse_even_if_it_was_renamed(
    operator, acme, a_variant, stocked, client_for
):
    east, west = Warehouse.objects.filter(supplier=acme).order_by("name")
    for number in range(121):
        variant = a_variant(acme, f"B-{number}")
        StockLevelFactory.create(variant=variant, warehouse=east, on_hand=5)
        StockLevelFactory.create(variant=variant, warehouse=west, on_hand=5)
    rows = f"sku,quantity,warehouse\nB-0,7,{east.pk}\nB-1,9,{west.pk}\n"
    job = ImportJob.objects.get(pk=stocked(acme, rows, mode="full", warehouse_field="warehouse")["id"])
    assert job.status == "awaiting_approval"
    Warehouse.objects.filter(pk=west.pk).update(name="Acme North")

    nothing = do(operator, job, "approve", reason="")
    assert "Choose at least one warehouse" in nothing.text
    do(operator, job, "approve", **{f"warehouse_{east.pk}": "on"})
    run_job(job.pk)

    job.refresh_from_db()
    assert (job.status, job.rejected) == ("succeeded_with_errors", 1)
    reject = job.rejects.get()
    assert (reject.field, reject.code, reject.line) == ("warehouse", "not_approved", 3)
    assert east.stock.filter(on_hand=0).count() == 120
    assert west.stock.filter(on_hand=5).count() == 121
    assert Event.objects.get(type="import.approved").data["left_out"] == ["Acme West"]
    assert ("left out warehouses", "Acme West") in overview.option_texts(job)
