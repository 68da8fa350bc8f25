"""Merge the reports of ranges into the report of a job."""

from __future__ import annotations

from typing import Any

# Keep only the largest changes of a list.
TOP = 10


def merge_reports(old: dict[str, Any], new: dict[str, object]) -> dict[str, object]:
    """Merge two reports: numbers are added, lists keep the largest changes, texts are replaced."""
    result = dict(old)
    for name, content in new.items():
        if isinstance(content, list):
            ranked = sorted([*result.get(name, []), *content], key=lambda change: -change["factor"])
            result[name] = ranked[:TOP]
        else:
            result[name] = result.get(name, 0) + content if isinstance(content, int) else content
    return result
