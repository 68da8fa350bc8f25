"""The ids of records."""

from __future__ import annotations

LARGEST_ID = 2**63 - 1
"""The largest id that the database can store."""


def as_id(text: str) -> int:
    """Parse a record's id. Return 0, which no record has, for a text that is no id."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0
