"""The cells of an exported row."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from typing import TypeAlias

from django.utils.safestring import SafeString

from api.markup import text_of
from api.renderers import iso

Cell: TypeAlias = str | int | Decimal
# Cells that a spreadsheet would run as a formula. `harmless` puts an apostrophe before each of them. Formulas
# that already have leading apostrophes match too, so a reader who removes one apostrophe always gets the
# original cell.
FORMULA = re.compile(r"'*[-=+@\t\r]")
# FORMULA as a pattern for PostgreSQL.
FORMULA_SQL = "^'*[-=+@\t\r]"


def harmless(cell: str) -> str:
    """Put an apostrophe before a formula, so that no spreadsheet runs the cell."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def as_cell(value: object) -> Cell:
    """Return a value as a cell: times in ISO 8601, markup as plain text, None as an empty text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | Decimal):
        return value
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if value is None:
        return ""
    return text_of(value) if isinstance(value, SafeString) else str(value)
