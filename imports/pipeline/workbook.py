"""The first sheet of an .xlsx workbook, row by row, with cells as they are shown (docs/adr/0021)."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from openpyxl import load_workbook

from imports.pipeline.cells_as_shown import as_shown
from imports.pipeline.columns import BLANKS
from imports.pipeline.errors import Unreadable
from imports.pipeline.header import MOST_COLUMNS, check_header
from imports.pipeline.record_checks import fault_of_header, is_blank
from imports.pipeline.tolerant_reader import Record
from imports.report_format import REPORT_COLUMNS, own_columns, restore_header

# Excel's limit; Excel writes no row below it.
MOST_ROWS = 1024**2
MOST_CELLS = MOST_COLUMNS + len(REPORT_COLUMNS) + 1
# Only shared texts are in memory at once; rows are read one by one.
MOST_SHARED, MOST_BYTES = 128 * 1024**2, 1024**3
SHARED = "xl/sharedStrings.xml"


class WorkbookSheet:
    """An open workbook, past its header. A row's line is its number in the sheet."""

    delimiter = ","

    def __init__(self, workbook: Any, recognised: Callable[[list[str]], int]) -> None:
        sheets = workbook.worksheets
        if not sheets:
            raise Unreadable("no_header", "The workbook has no sheet with cells.")
        self.warnings: list[str] = []
        if len(sheets) > 1:
            message = f"The workbook has {len(sheets)} sheets; the first, {sheets[0].title!r}, was read."
            self.warnings.append(message)
        self.line = 0
        self._rows = self._numbered(sheets[0].iter_rows(max_row=MOST_ROWS, max_col=MOST_CELLS))
        self.header = self._read_header(recognised)

    @classmethod
    @contextmanager
    def opened(
        cls, file: BinaryIO, archive: zipfile.ZipFile, recognised: Callable[[list[str]], int]
    ) -> Iterator[WorkbookSheet]:
        """Open a workbook for a block. Raises Unreadable if it is too large or damaged."""
        # The archive never unpacks beyond the size that it declares.
        sizes = {each.filename: each.file_size for each in archive.infolist()}
        if sum(sizes.values()) > MOST_BYTES or sizes.get(SHARED, 0) > MOST_SHARED:
            raise Unreadable("too_large", "Unpacked, the workbook is too large. Save the sheet as CSV.")
        try:
            workbook = load_workbook(file, read_only=True, data_only=True, keep_links=False)
        except Exception as error:  # the library raises many kinds of errors for a damaged workbook
            raise Unreadable("damaged_archive", DAMAGED.format(error)) from error
        try:
            yield cls(workbook, recognised)
        finally:
            workbook.close()

    @property
    def own(self) -> int:
        """Return how many columns at the front come from our error report."""
        return own_columns(self.header)

    def _numbered(self, rows: Iterator[Any]) -> Iterator[list[str]]:
        """Yield the rows as texts, and set `line` to the number of the last one."""
        while True:
            try:
                row = next(rows, None)
                cells = [as_shown(cell) for cell in row] if row is not None else None
            except Exception as error:  # see above
                raise Unreadable("damaged_archive", DAMAGED.format(error)) from error
            if cells is None:
                return
            self.line += 1
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
        for cells in self._rows:
            kept = _without_empty_end(cells)
            if kept:
                yield Record(self.line, kept + [""] * (width - len(kept)))


DAMAGED = "The workbook cannot be read: {}. Save it again, or the sheet as CSV."


def _without_empty_end(cells: list[str]) -> list[str]:
    end = len(cells)
    while end and not cells[end - 1]:
        end -= 1
    return cells[:end]
