"""The first rows of a file. A sample is read like an import, but its header may have any columns."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from imports.pipeline.containers import open_sheet
from imports.pipeline.header import ExpectedHeader
from imports.pipeline.record_checks import checked, is_blank
from imports.pipeline.rewritten_sheet import Rewriting, records_of, rewritten
from imports.pipeline.tolerant_reader import Record
from imports.pipeline.workbook_parts import Check

READ = 200
"""The number of rows to read: enough to find out how numbers are written."""
LONGEST_CELL = 2_000


@dataclass(frozen=True)
class FileSample:
    """A file's header and first rows. `own` is the number of leading columns that our error report added."""

    header: list[str]
    rows: list[Record]
    own: int
    delimiter: str
    warnings: list[str]

    @property
    def columns(self) -> list[str]:
        """Return the file's own columns, without the columns of our error report."""
        return self.header[self.own :]

    def cells(self, index: int, count: int = 3) -> list[str]:
        """Return the first cells of a column that are not empty."""
        found = (record.cells[index] for record in self.rows if not record.code)
        return list(islice((cell for cell in found if cell.strip()), count))


def read_sample(path: Path, known: Collection[str], check: Check = lambda: None) -> FileSample:
    """Read the first rows of a file; `known` are names that a header may have. Raises Unreadable.

    `check` is called repeatedly while a workbook is opened, and may raise an exception to stop the reading. A
    header without any known name is accepted, because its columns can be mapped by hand.
    """

    with open_sheet(path, ExpectedHeader(known, accepts_any=True), check) as sheet:
        read = (checked(record, sheet.header, own=sheet.own) for record in records_of(sheet))
        rows = list(islice((record for record in read if not is_blank(record.cells[sheet.own :])), READ))
        shown = [
            Record(each.line, [cell[:LONGEST_CELL] for cell in each.cells], *_fault(each)) for each in rows
        ]
        return FileSample(sheet.header, shown, sheet.own, sheet.delimiter, list(sheet.warnings))


def as_json(sample: FileSample) -> dict[str, object]:
    """Return a sample as JSON. PostgreSQL cannot store NUL and lone surrogates; they are replaced."""
    stored: dict[str, object] = json.loads(
        json.dumps(_without_nul(asdict(sample)), ensure_ascii=False).encode("utf-8", "replace")
    )
    return stored


def _without_nul(value: object) -> object:
    """Return a value of JSON with each NUL in its texts replaced."""
    if isinstance(value, dict):
        return {_without_nul(name): _without_nul(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_without_nul(element) for element in value]
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


def from_json(stored: dict[str, Any]) -> FileSample:
    return FileSample(**{**stored, "rows": [Record(**row) for row in stored["rows"]]})


def _fault(record: Record) -> tuple[str, str, str]:
    return record.code, record.message, record.field


def rewritten_sample(sample: FileSample, rewriting: Rewriting) -> FileSample:
    """Return the sample with its records rewritten."""
    rows = list(rewritten(iter(sample.rows), sample.header, sample.own, rewriting))
    return replace(sample, header=rewriting.header, rows=rows)
