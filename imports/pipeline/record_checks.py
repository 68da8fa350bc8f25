"""What is wrong with a record before its values are looked at: its cells' number, and their characters.

Such a record is refused whole, for what it names is not known for sure. What of it cannot be shown stands in
the report as U+FFFD, and a cell with that is refused when it comes back: what was lost is never imported.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from imports.pipeline.columns import BLANKS
from imports.pipeline.tolerant_reader import Record

LOST = "\ufffd"
UNDECODABLE = re.compile("[\ud800-\udfff]")
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
ODD = re.compile(f"{UNDECODABLE.pattern}|{CONTROL.pattern}|{LOST}")
# How spreadsheets keep a text from being taken for a number.
AS_TEXT = re.compile('="([^"]*)"')
UNREADABLE = ("undecodable", "control", "damaged_text")
"""The codes of records whose characters are at fault; other unreadable ones have no field."""


def is_blank(cells: Sequence[str]) -> bool:
    """Whether nothing stands there."""
    return not any(cell.strip(BLANKS) for cell in cells)


def without_odd_characters(text: str) -> str:
    return ODD.sub(LOST, text)


def checked(record: Record, header: Sequence[str], *, own: int) -> Record:
    """A record with as many cells as the header, or why it is refused; `own` cells are our report's."""
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
    """What is wrong with the characters of a header; empty if nothing is."""
    for index, cell in enumerate(cells):
        if found := ODD.search(cell):
            return _explain(found, f"column {index + 1}")[1]
    return ""


def _explain(found: re.Match[str], name: str) -> tuple[str, str]:
    character, at = ord(found[0]), found.start() + 1
    where = f"Character {at} of {name}"
    if 0xDC80 <= character <= 0xDCFF:
        byte = character - 0xDC00
        return "undecodable", f"{where} is the byte 0x{byte:02X}, which is none in the file's encoding."
    if UNDECODABLE.match(found[0]):
        return "undecodable", f"{where} is half of a character, U+{character:04X}."
    if found[0] == LOST:
        message = f"{where} is U+FFFD, which stands for one that was lost. Write the right one there."
        return "damaged_text", message
    return "control", f"{where} is U+{character:04X}, a control character."
