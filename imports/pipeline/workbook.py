"""The first sheet of an .xlsx workbook, row by row, with the cells as a person sees them (docs/adr/0020)."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, dropwhile, islice
from typing import Any, BinaryIO

from imports.pipeline.columns import BLANKS
from imports.pipeline.errors import Canceled, Unreadable
from imports.pipeline.header import MOST_ABOVE, ExpectedHeader, check_header, skipped_above
from imports.pipeline.record_checks import fault_of_header, is_blank
from imports.pipeline.tolerant_reader import Record
from imports.pipeline.workbook_parts import MOST_CELLS, Check, refuse_large, too_large
from imports.report_format import own_columns, restore_header


class WorkbookSheet:
    """An open workbook whose header has been read. The line of a row is its number in the sheet."""

    delimiter = ","

    def __init__(self, workbook: Any, expected: ExpectedHeader, check: Check) -> None:
        sheets = workbook.worksheets
        if not sheets:
            raise Unreadable("no_header", "The workbook has no sheet with cells.")
        self.warnings: list[str] = []
        if len(sheets) > 1:
            message = f"The workbook has {len(sheets)} sheets; the first, {sheets[0].title!r}, was read."
            self.warnings.append(message)
        self.line = 0
        # Import here: openpyxl takes 15 MB of each process that imports it.
        from imports.pipeline.workbook_reading import rows_of

        self._rows = self._numbered(rows_of(sheets[0], check))
        self._ahead: list[tuple[int, list[str]]] = []
        """Rows below the header that were already read when the header was chosen."""
        self.header = self._read_header(expected)

    @classmethod
    @contextmanager
    def opened(
        cls, file: BinaryIO, archive: zipfile.ZipFile, expected: ExpectedHeader, check: Check
    ) -> Iterator[WorkbookSheet]:
        """Open a workbook while the block runs. Raises Unreadable if it is too large or damaged."""
        # Import here: openpyxl takes 15 MB of each process that imports it.
        from imports.pipeline.workbook_reading import BoundedReader

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
            yield cls(workbook, expected, check)
        finally:
            workbook.close()

    @property
    def own(self) -> int:
        """Return how many columns at the front come from our error report."""
        return own_columns(self.header)

    def _numbered(self, rows: Iterator[tuple[int, list[str]]]) -> Iterator[list[str]]:
        """Yield the rows as texts, and set `line` to the number of the yielded row."""
        while True:
            try:
                numbered = next(rows, None)
            except Canceled:
                raise
            except Exception as error:  # the library raises many kinds of errors for a damaged workbook
                raise Unreadable("damaged_archive", DAMAGED.format(error)) from error
            if numbered is None:
                return
            self.line, cells = numbered
            yield cells

    def _read_header(self, expected: ExpectedHeader) -> list[str]:
        rows = ((self.line, cells) for cells in self._rows)
        first_rows = list(islice(dropwhile(lambda row: is_blank(row[1]), rows), MOST_ABOVE + 1))
        if not first_rows:
            raise Unreadable("no_header", "The first sheet is empty. Its first row must be the header.")
        named = [_names(cells) for _, cells in first_rows]
        headers = [at for at, names in enumerate(named) if expected.accepts(names)]
        header = max(headers, key=lambda at: (*expected.weigh(named[at]), -at), default=0)
        if fault := fault_of_header(first_rows[header][1]):
            row = f"Row {first_rows[header][0]}" if header else "The first row"
            raise Unreadable("no_header", f"{row} must be the header. {fault}")
        if not headers:
            message = f"The first row, {', '.join(named[0])[:200]!r}, has no known or mapped column name."
            raise Unreadable("no_header", f"{message} It must be the header. {expected.needs}".strip())
        self.warnings += skipped_above(first_rows[0][0], first_rows[header][0])
        self._ahead = first_rows[header + 1 :]
        check_header(named[header][own_columns(named[header]) :])
        return named[header]

    def read(self) -> Iterator[Record]:
        """Yield the rows below the header that are not empty. Fill missing cells at the end of a row."""
        width, total = len(self.header), 0
        below = ((self.line, cells) for cells in self._rows)
        for line, cells in chain(self._ahead, below):
            total += max(width, len(cells))
            if total > MOST_CELLS:
                raise too_large(f"The workbook has more than {MOST_CELLS:,} cells.")
            kept = _without_empty_end(cells)
            if kept:
                yield Record(line, kept + [""] * (width - len(kept)))


DAMAGED = "The workbook cannot be read: {}. Save it again, or the sheet as CSV."


def _names(cells: list[str]) -> list[str]:
    """Return the cells of a row as the names of columns."""
    return restore_header([cell.strip(BLANKS) for cell in _without_empty_end(cells)])


def _without_empty_end(cells: list[str]) -> list[str]:
    end = len(cells)
    while end and not cells[end - 1]:
        end -= 1
    return cells[:end]
