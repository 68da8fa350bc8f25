"""What our error report adds to a file, and takes off again when the corrected one comes back."""

from __future__ import annotations

import re
from collections.abc import Sequence

# The first columns of an error report; a corrected one may come back as it is.
REPORT_COLUMNS = ["line", "field", "code", "message"]
# What a spreadsheet would run, also behind apostrophes: so that taking one off gives back what was there.
FORMULA = re.compile(r"'*[-=+@\t\r]")
# The same for PostgreSQL.
FORMULA_SQL = "^'*[-=+@\t\r]"


def harmless(cell: str) -> str:
    """A cell that no spreadsheet will run."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def own_columns(header: Sequence[str]) -> int:
    """How many columns of a header are our error report's own: all of them, or none."""
    return len(REPORT_COLUMNS) if list(header[: len(REPORT_COLUMNS)]) == REPORT_COLUMNS else 0


def restore_header(header: list[str]) -> list[str]:
    """A header whose names were made harmless, as the file had it."""
    own = own_columns(header)
    tame = [own > 0 and name.startswith("'") and bool(FORMULA.match(name)) for name in header]
    return [name[1:] if each else name for name, each in zip(header, tame, strict=True)]
