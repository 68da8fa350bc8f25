"""The format of our error report: its own columns, its escaped cells, and the functions to remove both."""

from __future__ import annotations

from collections.abc import Sequence

from api.exporting.cells import FORMULA

# The first columns of an error report. Suppliers upload a corrected report with these columns.
REPORT_COLUMNS = ["line", "field", "code", "message"]


def own_columns(header: Sequence[str]) -> int:
    """Return the number of report columns at the start of a header; 0 if the file is not an error report."""
    return len(REPORT_COLUMNS) if list(header[: len(REPORT_COLUMNS)]) == REPORT_COLUMNS else 0


def restore_header(header: list[str]) -> list[str]:
    """Return a header without the apostrophes that the error report added."""
    own = own_columns(header)
    tame = [own > 0 and name.startswith("'") and bool(FORMULA.match(name)) for name in header]
    return [name[1:] if each else name for name, each in zip(header, tame, strict=True)]
