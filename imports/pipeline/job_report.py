"""The report of a job, put together from those of its ranges."""

from __future__ import annotations

from typing import Any

# Of a list of changes only the largest are kept.
TOP = 10


def merge_reports(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Two reports of parts as one: numbers are added, of lists the largest changes stay, words are new."""
    result = dict(old)
    for name, found in new.items():
        if isinstance(found, list):
            ranked = sorted([*result.get(name, []), *found], key=lambda each: -each["factor"])
            result[name] = ranked[:TOP]
        else:
            result[name] = result.get(name, 0) + found if isinstance(found, int) else found
    return result
