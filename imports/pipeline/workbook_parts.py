"""The parts of an .xlsx archive, read with bounded work: a small file must not cost minutes.

The work is proportional to the cells and texts that exist. openpyxl would make an empty row for each missing
number, and a tree of objects for each shared text.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from openpyxl.cell.read_only import ReadOnlyCell
from openpyxl.reader.excel import ExcelReader
from openpyxl.worksheet._reader import WorkSheetParser
from openpyxl.xml.constants import SHARED_STRINGS, SHEET_MAIN_NS
from openpyxl.xml.functions import iterparse

from imports.pipeline.cells_as_shown import as_shown
from imports.pipeline.errors import Unreadable

Check = Callable[[], None]
"""A function to call now and then during long work. It raises an exception if the work should stop."""

# Excel's limit; Excel writes no row below it.
MOST_ROWS = 1024**2
MOST_BYTES = 1024**3
# A part above FREE_BYTES may unpack to this many bytes for each packed byte; parts written by Excel need 30.
FREE_BYTES, MOST_RATIO = 16 * 1024**2, 150
# Shared texts are in memory at once; rows are read one by one.
MOST_TEXTS = 2_000_000
MOST_CELLS = 100_000_000
AT_ONCE = 1_000
TEXT = f"{{{SHEET_MAIN_NS}}}t"
RUN_TEXT = f"{{{SHEET_MAIN_NS}}}r/{TEXT}"
ITEM = f"{{{SHEET_MAIN_NS}}}si"


def refuse_large(archive: zipfile.ZipFile) -> None:
    """Raise Unreadable if the archive unpacks to too much; zipfile never exceeds the declared sizes."""
    parts = archive.infolist()
    dense = [part for part in parts if part.file_size > max(FREE_BYTES, MOST_RATIO * part.compress_size)]
    if dense or sum(part.file_size for part in parts) > MOST_BYTES:
        raise too_large("Unpacked, the workbook is too large.")


def too_large(problem: str) -> Unreadable:
    return Unreadable("too_large", f"{problem} Save the sheet as CSV.")


class BoundedReader(ExcelReader):  # type: ignore[misc] # openpyxl has no types
    """The reader of a workbook that counts its shared texts."""

    def __init__(self, file: BinaryIO, check: Check) -> None:
        super().__init__(file, read_only=True, data_only=True, keep_links=False)
        self._check = check

    def read_strings(self) -> None:
        part = self.package.find(SHARED_STRINGS)
        if part is not None:
            with self.archive.open(part.PartName[1:]) as source:
                self.shared_strings = list(self._texts(source))

    def _texts(self, source: Any) -> Iterator[str]:
        events = iterparse(source, events=("start", "end"))
        _, root = next(events)
        count = 0
        for event, node in events:
            if event == "start" or node.tag != ITEM:
                continue
            texts = [*node.findall(TEXT), *node.findall(RUN_TEXT)]
            yield "".join(text.text or "" for text in texts).replace("x005F_", "")
            count += 1
            if count > MOST_TEXTS:
                raise too_large(f"The workbook has more than {MOST_TEXTS:,} different texts.")
            if count % AT_ONCE == 0:
                root.clear()
                self._check()


def rows_of(sheet: Any, most_columns: int, check: Check) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the texts of each row in the sheet's XML, in order."""
    book = sheet.parent
    with sheet._get_source() as source:
        parser = WorkSheetParser(
            source,
            sheet._shared_strings,
            data_only=book.data_only,
            epoch=book.epoch,
            date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )
        last = 0
        for count, (number, cells) in enumerate(parser.parse()):
            if number > MOST_ROWS:
                return
            if count % AT_ONCE == 0:
                check()
            if number > last:
                last = number
                yield number, _texts_of(sheet, cells, most_columns)


def _texts_of(sheet: Any, cells: list[dict[str, Any]], most_columns: int) -> list[str]:
    width = min(max((cell["column"] for cell in cells), default=0), most_columns)
    texts = [""] * width
    for cell in cells:
        if 1 <= cell["column"] <= width:
            texts[cell["column"] - 1] = as_shown(ReadOnlyCell(sheet, **cell))
    return texts
