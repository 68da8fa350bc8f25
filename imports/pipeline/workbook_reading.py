"""Read the parts of an .xlsx archive with bounded work. Only imports of workbooks load this module.

The work is proportional to the cells and texts that exist. openpyxl alone would create an empty row for each
missing row number, and would keep a tree of objects for each shared text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from openpyxl.cell.read_only import ReadOnlyCell
from openpyxl.reader.excel import ExcelReader
from openpyxl.worksheet._reader import FORMULA_TAG, WorkSheetParser
from openpyxl.xml.constants import SHARED_STRINGS, SHEET_MAIN_NS
from openpyxl.xml.functions import iterparse

from imports.pipeline import workbook_parts
from imports.pipeline.cells_as_shown import LOST_RESULT, as_shown
from imports.pipeline.workbook_parts import Check, too_large

AT_ONCE = 1_000
TEXT = f"{{{SHEET_MAIN_NS}}}t"
RUN_TEXT = f"{{{SHEET_MAIN_NS}}}r/{TEXT}"
ITEM = f"{{{SHEET_MAIN_NS}}}si"


class BoundedReader(ExcelReader):  # type: ignore[misc] # openpyxl has no types
    """A reader of workbooks that limits the number of shared texts."""

    def __init__(self, file: BinaryIO, check: Check) -> None:
        super().__init__(file, read_only=True, data_only=True, keep_links=False)
        self._check = check

    def read_strings(self) -> None:
        part = self.package.find(SHARED_STRINGS)
        if part is not None:
            with self.archive.open(part.PartName[1:]) as source:
                self.shared_strings = list(self._texts(source))

    def _texts(self, source: object) -> Iterator[str]:
        events = iterparse(source, events=("start", "end"))
        _, root = next(events)
        count = 0
        for event, node in events:
            if event == "start" or node.tag != ITEM:
                continue
            texts = [*node.findall(TEXT), *node.findall(RUN_TEXT)]
            yield "".join(text.text or "" for text in texts)
            count += 1
            if count > workbook_parts.MOST_TEXTS:
                raise too_large(f"The workbook has more than {workbook_parts.MOST_TEXTS:,} different texts.")
            if count % AT_ONCE == 0:
                root.clear()
                self._check()


class ResultParser(WorkSheetParser):  # type: ignore[misc] # openpyxl has no types
    """A parser of a sheet that marks formulas whose results the workbook does not store.

    Programs that write formulas without computing them leave such cells. An empty cell would clear a field.
    """

    def parse_cell(self, element: Any) -> dict[str, Any]:
        cell: dict[str, Any] = super().parse_cell(element)
        # The type `str` is stored only with a result, which may be an empty text.
        if cell["value"] is None and element.get("t") != "str" and element.find(FORMULA_TAG) is not None:
            cell["value"] = LOST_RESULT
        return cell


def rows_of(sheet: Any, check: Check) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the texts of each row in the sheet's XML, in order."""
    book = sheet.parent
    with sheet._get_source() as source:
        parser = ResultParser(
            source,
            sheet._shared_strings,
            data_only=book.data_only,
            epoch=book.epoch,
            date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )
        last = 0
        for count, (number, cells) in enumerate(parser.parse()):
            if number > workbook_parts.MOST_ROWS:
                return
            if count % AT_ONCE == 0:
                check()
            if number > last:
                last = number
                yield number, _texts_of(sheet, cells)


def _texts_of(sheet: object, cells: list[dict[str, Any]]) -> list[str]:
    filled = [cell for cell in cells if cell["value"] is not None]
    width = min(max((cell["column"] for cell in filled), default=0), workbook_parts.MOST_COLUMNS)
    texts = [""] * width
    for cell in filled:
        if 1 <= cell["column"] <= width:
            texts[cell["column"] - 1] = as_shown(ReadOnlyCell(sheet, **cell))
    return texts
