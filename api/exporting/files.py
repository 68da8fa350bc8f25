"""Answers that stream rows as a file."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from django.http import StreamingHttpResponse

from api.exporting.cells import Cell, harmless
from api.exporting.workbook import workbook

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def as_file(
    name: str, titles: Sequence[str], rows: Iterable[Sequence[Cell]], kind: str
) -> StreamingHttpResponse:
    """Stream rows as a file of this kind, `csv` or `xlsx`."""
    head: list[Sequence[Cell]] = [titles]
    sheet = chain(head, rows)
    file_name = f"{name}.{kind}".replace(" ", "-")
    return StreamingHttpResponse(
        workbook(sheet) if kind == "xlsx" else _csv(sheet),
        content_type=TYPES[kind],
        headers={"Content-Disposition": f'attachment; filename="{file_name}"'},
    )


def _csv(rows: Iterable[Sequence[Cell]]) -> Iterator[bytes]:
    """Yield CSV with a byte order mark, because spreadsheets would not recognize UTF-8 without it."""
    yield codecs.BOM_UTF8
    for row in rows:
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\r\n").writerow(
            [harmless(cell) if isinstance(cell, str) else cell for cell in row]
        )
        yield buffer.getvalue().encode()
