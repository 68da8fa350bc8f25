"""Rejected rows that an operator corrects on a page are imported like the supplier's corrected report."""

from __future__ import annotations

import pytest

from catalog.models import Variant
from events.models import Event
from imports.models import ImportJob, Status
from imports.pipeline.job_runner import run_job
from inventory.models import StockLevel, Warehouse
from tests.backoffice.conftest import messages, operator, support
from tests.factories import ImportJobFactory, StockLevelFactory

__all__ = ["operator", "support"]

LINES = ["sku,title,retail_price", "A-1,Shirt,19.50", "A-2,Hat,abc", "A-3,,7", "=A-4,Sock,x"]


@pytest.fixture
def job(acme, ran):
    return ImportJob.objects.get(pk=ran(acme, data=LINES)["id"])


def page_of(job):
    return f"/admin/imports/importjob/{job.pk}/correct/"


def cells(page, line):
    """Return the form data of a line."""
    row = next(row for row in page.context["rows"] if row.reject.line == line)
    return {f"cell-{row.reject.pk}-{place}": cell.text for place, cell in enumerate(row.cells)}


def corrected(page, line, **said):
    """Return the form data of a line, with other cells in these columns."""
    sent = cells(page, line)
    names = page.context["columns"]
    return {name: said.get(names[place], text) for place, (name, text) in enumerate(sent.items())}


def send(client, job, *rows):
    posted = {name: text for row in rows for name, text in row.items()}
    return client.post(page_of(job), posted, follow=True)


def newest():
    job = ImportJob.objects.latest("pk")
    run_job(job.pk)
    job.refresh_from_db()
    return job


def test_corrected_rows_land_and_both_jobs_name_each_other(operator, acme, job):
    page = operator.get(page_of(job))
    assert [row.reject.line for row in page.context["rows"]] == [3, 4, 5]
    assert [cell.is_wrong for cell in page.context["rows"][1].cells] == [False, True, False]

    answer = send(
        operator,
        job,
        corrected(page, 3, retail_price="8.5"),
        cells(page, 4),
        corrected(page, 5, retail_price="2"),
    )

    following = newest()
    assert messages(answer) == ["2 corrected rows are imported again."]
    assert (following.status, following.created, following.rows_total) == (Status.SUCCEEDED, 2, 2)
    assert {*Variant.objects.filter(supplier=acme).values_list("sku", flat=True)} == {"A-1", "A-2", "=A-4"}
    assert following.created_by == "user:olga"
    assert Event.objects.get(import_id=following.pk, type="import.queued").actor == "user:olga"
    shown = " ".join(operator.get(f"/admin/imports/importjob/{job.pk}/change/").text.split())
    assert f'2 rows corrected and sent as <a href="/admin/imports/importjob/{following.pk}/' in shown
    shown = " ".join(operator.get(f"/admin/imports/importjob/{following.pk}/change/").text.split())
    assert f'2 rejected rows of <a href="/admin/imports/importjob/{job.pk}/change/">' in shown


def test_a_form_that_is_sent_twice_imports_its_rows_once(operator, job):
    page = operator.get(page_of(job))
    once = {"form_id": str(page.context["form_id"])}

    for _ in range(2):
        send(operator, job, corrected(page, 3, retail_price="8.5"), once)

    assert ImportJob.objects.count() == 2


def test_unchanged_rows_are_not_sent(operator, job):
    page = operator.get(page_of(job))
    answer = send(operator, job, cells(page, 3), cells(page, 4), cells(page, 5))

    assert messages(answer) == ["No row was changed. Correct at least one cell."]
    assert ImportJob.objects.count() == 1


def test_cells_that_a_short_row_lacks_are_no_correction(operator, acme, ran):
    done = ran(acme, data=["sku,title,retail_price", "A-9"])
    job = ImportJob.objects.get(pk=done["id"])
    page = operator.get(page_of(job))
    assert len(cells(page, 2)) == 3

    assert messages(send(operator, job, cells(page, 2))) == ["No row was changed. Correct at least one cell."]


def test_rows_of_a_file_from_a_host_of_the_suppliers_own_are_not_fetched_from_there(operator, job):
    remote = {**job.options, "remote": {"host_id": 1, "path": "a.csv"}}
    ImportJob.objects.filter(pk=job.pk).update(options=remote)
    page = operator.get(page_of(job))
    send(operator, job, corrected(page, 3, retail_price="8.5"))

    following = newest()
    assert "remote" not in following.options
    assert (following.status, following.created) == (Status.SUCCEEDED, 1)


def test_typed_text_stays_if_it_cannot_be_sent(operator, job, monkeypatch):
    monkeypatch.setattr("imports.job_files.MOST_FILES", 0)
    page = operator.get(page_of(job))
    answer = send(operator, job, corrected(page, 3, retail_price="8.5"))

    assert "your imports are unfinished or failed" in messages(answer)[0]
    assert "8.5" in cells(answer, 3).values()


def test_corrected_rows_of_a_whole_count_set_nothing_else_to_0(operator, acme, a_variant, ran, upload):
    warehouse = Warehouse.objects.get(supplier=acme, is_default=True)
    for sku in ("S-1", "S-2"):
        StockLevelFactory.create(variant=a_variant(acme, sku), warehouse=warehouse, on_hand=5)
    path = upload(acme, "sku,quantity\nS-1,7\nS-2,many\n", "inventory/stock.csv")
    done = ran(acme, "importInventory", url=path, warehouse_id=warehouse.pk, mode="full")
    job = ImportJob.objects.get(pk=done["id"])

    page = operator.get(page_of(job))
    send(operator, job, corrected(page, 3, quantity="9"))

    following = newest()
    assert (following.status, following.as_of) == (Status.SUCCEEDED, job.as_of)
    counted = StockLevel.objects.filter(warehouse=warehouse).values_list("variant__sku", "on_hand")
    assert dict(counted) == {"S-1": 7, "S-2": 9}


def test_line_breaks_of_a_cell_survive_the_page(operator, acme, ran):
    done = ran(acme, data=["sku,title,retail_price,description", 'A-1,Hat,abc,"one', 'two"'])
    job = ImportJob.objects.get(pk=done["id"])
    page = operator.get(page_of(job))
    assert page.context["rows"][0].cells[3].is_long

    # Use the line endings that a browser sends.
    send(operator, job, corrected(page, 2, retail_price="3", description="one\r\ntwo"))

    newest()
    assert Variant.objects.get(sku="A-1").description == "one\ntwo"


@pytest.mark.parametrize(
    ("of", "why"),
    [
        ({"dry_run": True}, "This was a dry run"),
        ({"status": Status.QUEUED}, "The import has not ended yet"),
        ({"status": Status.AWAITING_APPROVAL}, "The import has not ended yet"),
        ({"kind": "fulfillments"}, "Report shipments"),
        ({}, "No rejected rows are stored"),
    ],
)
def test_a_job_that_cannot_be_corrected_gives_the_reason(operator, acme, of, why):
    job = ImportJobFactory.create(
        **{"supplier": acme, "status": Status.SUCCEEDED_WITH_ERRORS, "rejected": 1} | of
    )

    assert why in operator.get(page_of(job)).text
    assert why in messages(operator.post(page_of(job)))[0]
    assert "Correct rows" not in operator.get(f"/admin/imports/importjob/{job.pk}/change/").text


def test_the_support_role_cannot_correct_rows(support, job):
    assert "Correct rows" not in support.get(f"/admin/imports/importjob/{job.pk}/change/").text
    assert support.get(page_of(job)).status_code == 403
    assert support.post(page_of(job)).status_code == 403
    assert ImportJob.objects.count() == 1
