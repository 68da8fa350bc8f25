"""A small workbook costs little work, and a cancel takes effect while a file is read."""

from __future__ import annotations

import io
import re
import time
import zipfile

import pytest
from openpyxl import Workbook

from catalog.models import Variant
from imports.models import ImportJob, Status
from imports.pipeline import cells_as_shown, record_checks
from imports.pipeline.job_runner import run_job

ROW = '<row r="{}"><c r="A{}" t="inlineStr"><is><t>{}</t></is></c></row>'
HEADER = ("sku", "title", "retail_price")
FEW_SECONDS = 5


def workbook(*rows) -> bytes:
    book = Workbook()
    for row in (HEADER, *rows):
        book.active.append(row)
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()


def changed(content: bytes, changes, more=()) -> bytes:
    """Return the workbook with `more` parts. `changes` has functions that change parts, by name."""
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, changes[name](data) if name in changes else data)
        for name, data in more:
            new.writestr(name, data)
    return packed.getvalue()


def with_shared(items: bytes) -> bytes:
    """Return a workbook whose title is the first of these shared texts, as Excel writes titles."""
    namespace = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    override = b'<Override PartName="/xl/sharedStrings.xml" ContentType="' + kind + b'"/></Types>'
    title = re.compile(rb'<c r="B2"[^>]*>.*?</c>')
    return changed(
        workbook(("A-1", "Shirt", 5)),
        {
            "[Content_Types].xml": lambda data: data.replace(b"</Types>", override),
            "xl/worksheets/sheet1.xml": lambda data: title.sub(b'<c r="B2" t="s"><v>0</v></c>', data),
        },
        [("xl/sharedStrings.xml", b'<sst xmlns="' + namespace + b'">' + items + b"</sst>")],
    )


@pytest.fixture
def took(acme, upload, ran):
    """Return a function that imports a workbook.

    It returns the job, and the seconds of CPU that the import used.
    """

    def go(content):
        began = time.process_time()
        job = ran(acme, file_url=upload(acme, content, "products/file.xlsx"))
        return job, time.process_time() - began

    return go


def test_a_row_at_the_end_of_the_sheet_costs_nothing_for_the_rows_before_it(acme, took):
    far = ROW.format(1_048_576, 1_048_576, "A-2").encode()
    sheet = {"xl/worksheets/sheet1.xml": lambda data: data.replace(b"</sheetData>", far + b"</sheetData>")}
    content = changed(workbook(("A-1", "Shirt", 5)), sheet)

    job, seconds = took(content)

    assert (job["created"], job["rejected"], job["errors"][0]["line"]) == (1, 1, 1_048_576)
    assert seconds < FEW_SECONDS


@pytest.mark.parametrize(("texts", "bound"), [(1_500_000, "too large"), (3_000, "more than 2,000")])
def test_a_workbook_of_very_many_shared_texts_is_refused(took, monkeypatch, texts, bound):
    monkeypatch.setattr("imports.pipeline.workbook_parts.MOST_TEXTS", 2_000)
    job, seconds = took(with_shared(b"<si><t>x</t></si>" * texts))

    assert (job["status"], job["error"]["code"]) == ("failed", "too_large")
    assert bound in job["error"]["message"]
    assert seconds < FEW_SECONDS


def test_a_workbook_of_too_many_cells_is_refused(took, monkeypatch):
    monkeypatch.setattr("imports.pipeline.workbook.MOST_CELLS", 30)

    job, _ = took(workbook(*[(f"A-{index}", "Shirt", 5) for index in range(20)]))

    assert (job["status"], job["error"]["code"]) == ("failed", "too_large")


def test_parts_of_a_text_are_joined_and_its_phonetic_guide_is_left_out(acme, took):
    parts = b"<si><r><t>T-</t></r><r><t>shirt</t></r><rPh sb='0' eb='1'><t>tee</t></rPh></si>"
    took(with_shared(parts))

    assert Variant.objects.get(supplier=acme).title == "T-shirt"


def slowly(function):
    def slow(*args, **named):
        time.sleep(0.01)
        return function(*args, **named)

    return slow


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["xlsx", "csv"])
def test_a_cancel_takes_effect_while_the_file_is_read(acme, client_for, upload, monkeypatch, kind):
    monkeypatch.setattr("imports.pipeline.lease.HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr("imports.pipeline.workbook_reading.AT_ONCE", 10)
    monkeypatch.setattr("imports.pipeline.staging.CHECK_EVERY", 10)
    for path, function in (
        ("imports.pipeline.workbook_reading.as_shown", cells_as_shown.as_shown),
        ("imports.pipeline.staging.checked", record_checks.checked),
    ):
        monkeypatch.setattr(path, slowly(function))
    rows = [(f"A-{index}", "Shirt\rred", 5) for index in range(2_000)]
    csv = "\n".join(",".join(map(str, row)) for row in (HEADER, *rows))
    path = upload(acme, workbook(*rows) if kind == "xlsx" else csv, f"products/file.{kind}")
    job = ImportJob.objects.get(pk=client_for(acme).post("importProducts", {"file_url": path}).json()["id"])
    ImportJob.objects.filter(pk=job.pk).update(cancel_requested=True)
    began = time.monotonic()

    run_job(job.pk)

    job.refresh_from_db()
    assert job.status == Status.CANCELED
    assert time.monotonic() - began < FEW_SECONDS


def test_escaped_characters_of_a_shared_text_are_read(acme, upload, ran):
    content = with_shared(b"<si><t>one_x000D_\ntwo _x005F_x0041_ x005F_y</t></si>")
    job = ran(acme, file_url=upload(acme, content, "products/a.xlsx"))

    assert job["created"] == 1
    assert Variant.objects.get().title.split() == ["one", "two", "_x0041_", "x005F_y"]


def test_a_number_beyond_a_sheets_digits_rejects_its_row_only(acme, upload, ran):
    book = Workbook()
    for row in ((*HEADER, "weight"), ("A-1", "Tie", 1, 1e30), ("A-2", "Hat", 1, 2)):
        book.active.append(row)
    book.active["D2"].number_format = "0.00"
    saved = io.BytesIO()
    book.save(saved)

    job = ran(acme, file_url=upload(acme, saved.getvalue(), "products/a.xlsx"))

    assert (job["created"], [(each["line"], each["field"]) for each in job["errors"]]) == (1, [(2, "weight")])
