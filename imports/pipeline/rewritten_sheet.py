"""A file whose records become others as they are read: its header says something else, too, from then on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from imports.pipeline.csv_reader import Sheet
from imports.pipeline.record_checks import checked, is_blank
from imports.pipeline.tolerant_reader import Record, TolerantReader
from imports.pipeline.workbook import WorkbookSheet


class Rewriting(Protocol):
    """What becomes of a file's records. An importer has one for files that its statements cannot read."""

    header: list[str]

    def rewrite(self, record: Record) -> Iterator[Record]:
        """The records that a whole one becomes; none where it says nothing."""

    def finish(self) -> list[str]:
        """What to say of those that became none, when all are read. Raises Unreadable if all did."""


class RewrittenSheet:
    """An open file, past its header, as a rewriting has it."""

    def __init__(self, sheet: Sheet | WorkbookSheet, rewriting: Rewriting) -> None:
        self._sheet, self._rewriting = sheet, rewriting
        self.header, self.own, self.delimiter = rewriting.header, sheet.own, sheet.delimiter
        self.warnings = list(sheet.warnings)

    @property
    def line(self) -> int:
        return self._sheet.line

    def read(self) -> Iterator[Record]:
        """The records; one that is wrong by itself, or blank, is left as it is. Raises Unreadable."""
        yield from rewritten(records_of(self._sheet), self._sheet.header, self.own, self._rewriting)
        self.warnings += self._rewriting.finish()


def rewritten(rows: Iterator[Record], header: list[str], own: int, rewriting: Rewriting) -> Iterator[Record]:
    """Records below this header, each as what it becomes."""
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
    """All records of a file, one by one."""
    if isinstance(sheet, WorkbookSheet):
        yield from sheet.read()
        return
    for block in sheet.blocks():
        reader = TolerantReader(block.data, block.line, sheet.delimiter, final=block.final)
        yield from reader
        sheet.give_back(block.data[reader.consumed :])
