"""The first sheet of an .xlsx workbook, row by row, with cells as they are shown (docs/adr/0021)."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from imports.pipeline.columns import BLANKS
from imports.pipeline.errors import Canceled, Unreadable
from imports.pipeline.header import MOST_COLUMNS, check_header
from imports.pipeline.record_checks import fault_of_header, is_blank
from imports.pipeline.tolerant_reader import Record
from imports.pipeline.workbook_parts import (
    MOST_CELLS,
    BoundedReader,
    Check,
    refuse_large,
    rows_of,
    too_large,
)
from imports.report_format import REPORT_COLUMNS, own_columns, restore_header

WIDEST = MOST_COLUMNS + len(REPORT_COLUMNS) + 1


class WorkbookSheet:
    """An open workbook, past its header. A row's line is its number in the sheet."""

    delimiter = ","

    def __init__(self, workbook: Any, recognised: Callable[[list[str]], int], check: Check) -> None:
        sheets = workbook.worksheets
        if not sheets:
            raise Unreadable("no_header", "The workbook has no sheet with cells.")
        self.warnings: list[str] = []
        if len(sheets) > 1:
            message = f"The workbook has {len(sheets)} sheets; the first, {sheets[0].title!r}, was read."
            self.warnings.append(message)
        self.line = 0
        self._rows = self._numbered(rows_of(sheets[0], WIDEST, check))
        self.header = self._read_header(recognised)

    @classmethod
    @contextmanager
    def opened(
        cls, file: BinaryIO, archive: zipfile.ZipFile, recognised: Callable[[list[str]], int], check: Check
    ) -> Iterator[WorkbookSheet]:
        """Open a workbook for a block. Raises Unreadable if it is too large or damaged."""
        refuse_large(archive)
        try:
            reader = BoundedReader(file, check)
            reader.read()
            workbook = reader.wb
        except (Unreadable, Canceled):
            raise
        except Exception as error:  # the library raises many kinds of errors for a damaged workbook
            raise Unreadable("damaged_archive", DAMAGED.format(error)) from error
        try:
            yield cls(workbook, recognised, check)
        finally:
            workbook.close()

    @property
    def own(self) -> int:
        """Return how many columns at the front come from our error report."""
        return own_columns(self.header)

    def _numbered(self, rows: Iterator[tuple[int, list[str]]]) -> Iterator[list[str]]:
        """Yield the rows as texts, and set `line` to the number of the last one."""
        while True:
            try:
                numbered = next(rows, None)
            except Canceled:
                raise
            except Exception as error:  # see above
                raise Unreadable("damaged_archive", DAMAGED.format(error)) from error
            if numbered is None:
                return
            self.line, cells = numbered
            yield cells

    def _read_header(self, recognised: Callable[[list[str]], int]) -> list[str]:
        for cells in self._rows:
            if is_blank(cells):
                continue
            names = restore_header([cell.strip(BLANKS) for cell in _without_empty_end(cells)])
            if fault := fault_of_header(names):
                raise Unreadable("no_header", f"The first row must be the header. {fault}")
            if not recognised(names):
                message = f"The first row, {', '.join(names)[:200]!r}, has no known or mapped column name."
                raise Unreadable("no_header", f"{message} It must be the header.")
            check_header(names[own_columns(names) :])
            return names
        raise Unreadable("no_header", "The first sheet is empty. Its first row must be the header.")

    def read(self) -> Iterator[Record]:
        """Yield the rows below the header; missing cells at the end of a row are empty."""
        width = len(self.header)
        for count, cells in enumerate(self._rows):
            if count * width > MOST_CELLS:
                raise too_large(f"The workbook has more than {MOST_CELLS:,} cells.")
            kept = _without_empty_end(cells)
            if kept:
                yield Record(self.line, kept + [""] * (width - len(kept)))


DAMAGED = "The workbook cannot be read: {}. Save it again, or the sheet as CSV."


def _without_empty_end(cells: list[str]) -> list[str]:
    end = len(cells)
    while end and not cells[end - 1]:
        end -= 1
    return cells[:end]
