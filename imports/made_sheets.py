"""Generated tables as files that spreadsheet programs open correctly: CSV and XLSX."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from api.exporting.workbook import workbook

Columns = Sequence[str]
Rows = Iterable[Mapping[str, str]]


def as_csv(columns: Columns, rows: Rows) -> bytes:
    """Return the rows as CSV with a byte order mark. Excel reads UTF-8 correctly only with this mark."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return codecs.BOM_UTF8 + text.getvalue().encode()


def as_xlsx(columns: Columns, rows: Rows) -> bytes:
    """Return the rows as a workbook of text cells, which keep leading zeros, long numbers and times."""
    return b"".join(workbook(chain([columns], ([row[name] for name in columns] for row in rows))))
