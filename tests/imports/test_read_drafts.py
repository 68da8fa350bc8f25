"""A worker reads the first rows of uploaded workbooks and packed files; the page waits for it."""

from __future__ import annotations

import gzip
import io

import pytest
from openpyxl import Workbook

from fastdb.leased import LeaseLost
from imports import sweeping
from imports.drafts import first_rows
from imports.drafts.sample import FileSample, as_json, from_json
from imports.models import ImportDraft
from imports.pipeline.tolerant_reader import Record
from sftp_ingest.models import Blob
from tests.imports.test_from_the_browser import UPLOAD, operator, page_of, press, send

__all__ = ["operator", "send"]


@pytest.fixture
def workbook() -> bytes:
    book, file = Workbook(), io.BytesIO()
    book.active.append(["Artikel", "title", "retail_price"])
    book.active.append(["A-1", "Shirt", 19.5])
    book.save(file)
    return file.getvalue()


def test_the_page_shows_progress_until_the_worker_has_read_the_workbook(
    operator, send, workbook, monkeypatch
):
    draft = send(workbook, name="spring.xlsx")
    page = page_of(operator, draft)
    assert "reads the first rows of spring.xlsx" in page.text
    assert '<meta http-equiv="refresh" content="2">' in page.text
    assert operator.post(f"{UPLOAD}{draft.pk}/preview/", {}).status_code == 404

    first_rows.read_draft(draft.pk)

    def not_here(*_: object) -> None:
        raise AssertionError("the web process opened the workbook")

    monkeypatch.setattr("imports.drafts.sample.open_sheet", not_here)
    page = page_of(operator, draft)
    assert page.context["sample"].header == ["Artikel", "title", "retail_price"]
    assert "http-equiv" not in page.text
    found = operator.post(f"{UPLOAD}{draft.pk}/preview/", {"field-0": "sku"}).context["preview"]
    assert found.rows


def test_a_workbook_that_cannot_be_read_shows_why(operator, send):
    draft = send(b"PK\x03\x04nonsense", name="a.xlsx")
    first_rows.read_draft(draft.pk)
    page = page_of(operator, draft)
    assert "packed, but cannot be unpacked" in page.text
    assert "Upload another file" in page.text


def test_a_draft_that_is_discarded_while_it_is_read_ends_the_reading(operator, send, workbook, monkeypatch):
    draft = send(workbook)
    monkeypatch.setattr(first_rows, "RENEW_SECONDS", 0.0)
    ended = []

    def open_slowly(path, recognised, check):
        check()  # no error, because the draft exists
        press(operator, draft, "discard")
        try:
            check()
        except LeaseLost:
            ended.append(True)
            raise

    monkeypatch.setattr("imports.drafts.sample.open_sheet", open_slowly)
    first_rows.read_draft(draft.pk)

    assert ended == [True]
    assert not ImportDraft.objects.exists()


def test_only_one_worker_reads_a_draft(send, workbook, monkeypatch):
    draft = send(workbook)
    assert ImportDraft.claim(draft.pk, "another worker")
    monkeypatch.setattr(first_rows, "read_sample", lambda *_: pytest.fail("read twice"))
    first_rows.read_draft(draft.pk)


def test_the_sweep_wakes_a_worker_whose_message_was_lost(send, workbook, monkeypatch):
    draft = send(workbook)
    woken: list[int] = []
    monkeypatch.setattr(first_rows, "wake_reader", woken.append)
    sweeping.sweep_all()
    assert woken == [draft.pk]
    first_rows.read_draft(draft.pk)
    sweeping.sweep_all()
    assert woken == [draft.pk]


def test_a_file_that_ended_three_workers_is_given_up(operator, send, workbook):
    draft = send(workbook)
    ImportDraft.objects.filter(pk=draft.pk).update(attempts=first_rows.MOST_ATTEMPTS)
    first_rows.read_draft(draft.pk)
    assert "Save the sheet as CSV" in page_of(operator, draft).text


def test_a_missing_content_is_tried_again(send, workbook, monkeypatch):
    draft = send(gzip.compress(b"sku\nA-1\n"))

    def away(_: Blob) -> None:
        raise OSError("the storage is away")

    with monkeypatch.context() as patched:
        patched.setattr("sftp_ingest.area.contents.local_file", away)
        first_rows.read_draft(draft.pk)
    first_rows.read_draft(draft.pk)
    draft.refresh_from_db()
    assert draft.sample["header"] == ["sku"]


def test_odd_characters_of_a_sample_are_stored():
    sample = FileSample(["a\x00"], [Record(2, ["x\udc80y\x00"])], 0, ",", ["w"])
    stored = from_json(as_json(sample))
    assert stored.header == ["a\ufffd"]
    assert stored.rows == [Record(2, ["x?y\ufffd"], "", "", "")]


def test_a_stored_sample_keeps_a_backslash_and_replaces_a_nul():
    sample = FileSample(["title"], [Record(2, ["\\u0000", "a\0b"])], 0, ",", [])

    assert from_json(as_json(sample)).rows[0].cells == ["\\u0000", "a\ufffdb"]
