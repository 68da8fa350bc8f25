"""The header of a file: its names, and the messages about a file without a header."""

from __future__ import annotations

from collections.abc import Collection

from imports.pipeline.clean_blocks import LONE_RETURN
from imports.pipeline.errors import Unreadable
from imports.pipeline.record_checks import without_odd_characters

MOST_COLUMNS = 500
LONGEST_SHOWN = 200


def check_header(names: list[str]) -> None:
    """Raise Unreadable for a header with too many columns or with the same name twice."""
    if len(names) > MOST_COLUMNS:
        raise Unreadable(
            "too_many_columns", f"The header has {len(names)} columns; at most {MOST_COLUMNS} are allowed."
        )
    seen: set[str] = set()
    for name in names:
        if name and name in seen:
            raise Unreadable("duplicate_header", f"The header has the column {name[:100]!r} twice.")
        seen.add(name)


def explain_no_header(beginning: bytes, problem: str) -> str:
    """Return the message for a file without a header; `problem` is the fault of its first record."""
    if not beginning.strip():
        return "The file is empty. Its first line must be the header."
    if b"\n" not in beginning and LONE_RETURN.search(beginning):
        return "The lines end in CR alone. Save the file with CRLF or LF as its line ending."
    line = beginning.partition(b"\n")[0][:LONGEST_SHOWN].decode("utf-8", "replace").strip()
    shown = without_odd_characters(line)
    if problem:
        return f"The first line must be the header, and {shown!r} cannot be read. {problem}"
    return (
        f"The first line, {shown!r}, has no known or mapped column name. It must be the header,"
        " separated by comma, semicolon, tab or |."
    )


def count_known(names: list[str], known: Collection[str]) -> int:
    """Return how many names of a header are known to the import."""
    folded = {name.casefold() for name in known}
    return sum(name.casefold() in folded for name in names)
