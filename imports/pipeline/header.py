"""The header of a file: its score among the first rows, its checks, and the messages if it is missing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from imports.pipeline.clean_blocks import LONE_RETURN
from imports.pipeline.errors import Unreadable
from imports.pipeline.record_checks import without_odd_characters

MOST_COLUMNS = 500
LONGEST_SHOWN = 200
# Rows above the header that are skipped, such as the title of a price list.
MOST_ABOVE = 20


@dataclass(frozen=True)
class ExpectedHeader:
    """The column names that an import knows. With `accepts_any`, a header needs no known name."""

    known: Collection[str]
    needs: str = ""
    """The columns that the file needs, as a sentence."""
    accepts_any: bool = False

    def weigh(self, names: list[str]) -> tuple[int, bool]:
        """Return a score of these cells as a header. If scores are equal, the caller takes the upper row."""
        filled = sum(1 for name in names if name)
        return count_known(names, self.known), filled > 1

    def accepts(self, names: list[str]) -> bool:
        return any(names) if self.accepts_any else count_known(names, self.known) > 0


def skipped_above(first: int, header: int) -> list[str]:
    """Return a warning about the rows between the first line of a file and its header."""
    if first == header:
        return []
    if header - first == 1:
        return [f"Line {first} above the header was skipped."]
    return [f"Lines {first} to {header - 1} above the header were skipped."]


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


def explain_no_header(beginning: bytes, problem: str, needs: str = "") -> str:
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
        f" separated by comma, semicolon, tab or |. {needs}"
    ).strip()


def count_known(names: list[str], known: Collection[str]) -> int:
    """Return how many names of a header are known to the import."""
    folded = {name.casefold() for name in known}
    return sum(name.casefold() in folded for name in names)
