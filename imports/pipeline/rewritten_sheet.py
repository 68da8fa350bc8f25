"""A file whose records and header are rewritten while they are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from imports.pipeline.csv_reader import Sheet
from imports.pipeline.record_checks import checked, is_blank
from imports.pipeline.tolerant_reader import Record, TolerantReader
from imports.pipeline.workbook import WorkbookSheet


class Rewriting(Protocol):
    """The rewriting of a file's records, for files whose layout an importer's SQL cannot read."""

    header: list[str]

    def rewrite(self, record: Record) -> Iterator[Record]:
        """Yield the records that replace this record; yield nothing if the record is left out."""

    def finish(self) -> list[str]:
        """Return warnings about records that were left out. Raises Unreadable if all were left out."""


class RewrittenSheet:
    """An open file whose header has been read and whose records are rewritten."""

    def __init__(self, sheet: Sheet | WorkbookSheet, rewriting: Rewriting) -> None:
        self._sheet, self._rewriting = sheet, rewriting
        self.header, self.own, self.delimiter = rewriting.header, sheet.own, sheet.delimiter
        self.warnings = list(sheet.warnings)

    @property
    def line(self) -> int:
        return self._sheet.line

    def read(self) -> Iterator[Record]:
        """Yield the rewritten records. A faulty or blank record is yielded unchanged. Raises Unreadable."""
        yield from rewritten(records_of(self._sheet), self._sheet.header, self.own, self._rewriting)
        self.warnings += self._rewriting.finish()


def rewritten(rows: Iterator[Record], header: list[str], own: int, rewriting: Rewriting) -> Iterator[Record]:
    """Yield the rewritten records; `header` is the header before the rewriting."""
    for record in rows:
        if is_blank(record.cells[own:]):
            yield record
            continue
        whole = checked(record, header, own=own)
        if whole.code:
            yield whole
        else:
            yield from rewriting.rewrite(whole)


def records_of(sheet: Sheet | WorkbookSheet) -> Iterator[Record]:
    """Yield all records of a file, one by one."""
    if isinstance(sheet, WorkbookSheet):
        yield from sheet.read()
        return
    for block in sheet.blocks():
        reader = TolerantReader(block.data, block.line, sheet.delimiter, final=block.final)
        yield from reader
        sheet.give_back(block.data[reader.consumed :])
