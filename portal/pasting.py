"""The parser of two columns that someone pasted from a spreadsheet."""

from __future__ import annotations

import re

SEPARATED = re.compile(r"\s*[;,]\s*|\s+(?=\S+$)")
TAB = re.compile(r"\s*\t\s*")


def pasted_pairs(text: str) -> list[tuple[str, str]]:
    """Return the two cells of each row. Empty rows are left out; a missing cell is empty."""
    return [_pair(line.strip(" ")) for line in text.splitlines() if line.strip()]


def _pair(line: str) -> tuple[str, str]:
    """Split a row at its tab, or else at the leftmost of these separators: a comma, a `;`, the last space."""
    first, *rest = (TAB if "\t" in line else SEPARATED).split(line, maxsplit=1)
    return first.strip(), rest[0].strip() if rest else ""
