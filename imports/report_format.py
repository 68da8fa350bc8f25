"""The format of our error report: its columns and escaped cells, and how to remove both again."""

from __future__ import annotations

import re
from collections.abc import Sequence

# The first columns of an error report; a corrected report may be uploaded unchanged otherwise.
REPORT_COLUMNS = ["line", "field", "code", "message"]
# Cells that a spreadsheet would run, even after apostrophes: removing one apostrophe restores the cell.
FORMULA = re.compile(r"'*[-=+@\t\r]")
# The same pattern for PostgreSQL.
FORMULA_SQL = "^'*[-=+@\t\r]"


def harmless(cell: str) -> str:
    """Put an apostrophe before a formula, so that no spreadsheet runs the cell."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def own_columns(header: Sequence[str]) -> int:
    """Return how many columns of a header come from our error report: all of its columns, or 0."""
    return len(REPORT_COLUMNS) if list(header[: len(REPORT_COLUMNS)]) == REPORT_COLUMNS else 0


def restore_header(header: list[str]) -> list[str]:
    """Return a header without the apostrophes that the error report added."""
    own = own_columns(header)
    tame = [own > 0 and name.startswith("'") and bool(FORMULA.match(name)) for name in header]
    return [name[1:] if each else name for name, each in zip(header, tame, strict=True)]
