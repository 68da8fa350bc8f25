"""Check the number of cells of a record and their characters, before its values are read.

A faulty record is refused as a whole, because its key may be wrong, too. The error report shows unreadable
characters as U+FFFD. If the report is imported with U+FFFD in a cell, the record is refused again, so that
lost text is never imported.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from imports.pipeline.cells_as_shown import LostResult
from imports.pipeline.columns import BLANKS
from imports.pipeline.tolerant_reader import Record

LOST = "\ufffd"
UNDECODABLE = re.compile("[\ud800-\udfff]")
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
ODD = re.compile(f"{UNDECODABLE.pattern}|{CONTROL.pattern}|{LOST}")
# The formula that keeps spreadsheets from reading a text as a number.
AS_TEXT = re.compile('="([^"]*)"')
UNREADABLE = ("undecodable", "control", "damaged_text", "no_result", "invisible")
"""The codes of rejects for wrong characters. Rejects of other unreadable records have an empty `field`."""


def is_blank(cells: Sequence[str]) -> bool:
    return not any(cell.strip(BLANKS) for cell in cells)


def without_odd_characters(text: str) -> str:
    return ODD.sub(LOST, text)


def checked(record: Record, header: Sequence[str], *, own: int) -> Record:
    """Return a record with as many cells as the header, or the record with the code of its fault.

    The first `own` cells come from our error report; their characters are not checked.
    """
    cells = [match[1] if (match := AS_TEXT.fullmatch(cell)) else cell for cell in record.cells]
    if not record.code and len(cells) > len(header) and is_blank(cells[len(header) :]):
        cells = cells[: len(header)]
    shown = [without_odd_characters(cell) for cell in cells]
    if record.code:
        return replace(record, cells=shown)
    if len(cells) != len(header):
        message = f"Has {len(cells)} cells where the header has {len(header)}."
        return Record(record.line, shown, "ragged", message)
    for index, cell in enumerate(cells[own:], start=own):
        if found := ODD.search(cell):
            name = header[index] or f"column {index + 1}"
            code, message = _explain(found, name)
            return Record(record.line, shown, code, message, name)
    return replace(record, cells=[*shown[:own], *cells[own:]])


def fault_of_header(cells: Sequence[str]) -> str:
    """Return the fault of a header's characters, or an empty string."""
    for index, cell in enumerate(cells):
        if found := ODD.search(cell):
            return _explain(found, f"column {index + 1}")[1]
    return ""


def _explain(found: re.Match[str], name: str) -> tuple[str, str]:
    if isinstance(found.string, LostResult):
        remedy = "Open the workbook in a spreadsheet program, save it, and send it again."
        return "no_result", f"{name} is a formula without a stored result. {remedy}"
    character, at = ord(found[0]), found.start() + 1
    where = f"Character {at} of {name}"
    if 0xDC80 <= character <= 0xDCFF:
        byte = character - 0xDC00
        return "undecodable", f"{where} is the byte 0x{byte:02X}, which is invalid in the file's encoding."
    if UNDECODABLE.match(found[0]):
        return "undecodable", f"{where} is half of a character, U+{character:04X}."
    if found[0] == LOST:
        message = f"{where} is U+FFFD, which marks a lost character. Replace it with the right one."
        return "damaged_text", message
    return "control", f"{where} is U+{character:04X}, a control character."
