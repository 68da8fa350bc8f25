"""Counts as words."""

from __future__ import annotations


def in_units(count: int, one: str = "", many: str = "") -> str:
    """Return a number of units, and the verb that fits it: `1 unit is`, `2 units are`."""
    return f"1 unit {one}".rstrip() if count == 1 else f"{count} units {many}".rstrip()
