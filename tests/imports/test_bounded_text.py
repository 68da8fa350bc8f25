"""A CSV file is read in a time that is proportional to its size, whatever text it holds."""

from __future__ import annotations

import io
from collections import Counter

import pytest

from imports.pipeline import tolerant_reader
from imports.pipeline.csv_reader import Sheet
from imports.pipeline.encodings import Encoding
from imports.pipeline.header import ExpectedHeader
from imports.pipeline.tolerant_reader import TolerantReader


@pytest.fixture
def calls(monkeypatch):
    """Return a function that counts the calls of a method or a function by its name."""
    counted = Counter[str]()

    def count(owner, name):
        original = getattr(owner, name)

        def counting(*arguments):
            counted[name] += 1
            return original(*arguments)

        monkeypatch.setattr(owner, name, counting)
        return counted

    return count


def test_many_blank_lines_above_the_header_are_skipped_at_once(calls):
    counted = calls(Sheet, "_take")

    sheet = Sheet(io.BytesIO(b" \r\n\n" * 1_000 + b"sku\n"), Encoding("utf-8"), ExpectedHeader(["sku"]))

    assert (sheet.header, sheet.line) == (["sku"], 2_002)
    assert counted["_take"] < 5


def test_quotes_that_never_close_are_not_followed_to_the_end_of_the_file_in_each_line(calls, monkeypatch):
    monkeypatch.setattr(tolerant_reader, "MOST_SEARCHED", 50_000, raising=False)
    counted = calls(TolerantReader, "_line_end")

    rows = list(TolerantReader(b'a"b,"c\n' * 1_000, 1, ",", final=True))

    assert {row.code for row in rows} == {"open_quote"}
    assert len(rows) == 1_000
    assert counted["_line_end"] < 20_000


def test_a_quote_that_closes_in_a_later_line_is_found_below_many_others():
    lines = b'a,"b\nc"\n' * 50_000

    rows = list(TolerantReader(lines, 1, ",", final=True))

    assert {tuple(row.cells) for row in rows} == {("a", "b\nc")}


def test_a_broken_line_of_thousands_of_quotes_is_split_in_few_searches(calls):
    counted = calls(tolerant_reader, "_closing_quote")

    (record,) = TolerantReader(b'""a,' * 3_000 + b"b\n", 1, ",", final=True)

    assert (record.code, len(record.cells), record.cells[-1]) == ("malformed", 3_001, "b")
    assert counted["_closing_quote"] < 100
