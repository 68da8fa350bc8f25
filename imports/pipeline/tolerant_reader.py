"""Read a block that is not clean, record by record, and refuse records that are not CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_RECORD = 1024**2
LONGEST_SHOWN = 10_000
MOST_ATTEMPTS = 20
MOST_SEARCHED = 16 * LONGEST_RECORD
"""The largest number of bytes in which one reader looks for the ends of open quotes.

Each line of a file may open a quote that never closes. Without this limit, a file of 1 MiB takes hours.
"""
MOST_SOUGHT = 20 * LONGEST_SHOWN
# The csv module has its own limit for a cell. Raise it, because a cell may be as long as a record.
csv.field_size_limit(LONGEST_RECORD)
# The escapes of the three bytes of a UTF-16 surrogate, which some programs write into UTF-8. The surrogates
# U+DC80 to U+DCFF are left out, because Python uses them as escapes of undecodable bytes.
HALF = re.compile("\udced[\udca0-\udcb1\udcb4-\udcbf][\udc80-\udcbf]")


@dataclass(frozen=True)
class Record:
    """A record that was read, or the reason why it was refused."""

    line: int
    cells: list[str]
    code: str = ""
    message: str = ""
    # The column at fault, if known.
    field: str = ""


def decoded(data: bytes) -> str:
    """Return the text. The bytes of a surrogate become the surrogate; other invalid bytes are escaped."""
    text = data.decode("utf-8", "surrogateescape")
    if "\udced" not in text:
        return text
    return HALF.sub(
        lambda half: half[0].encode(errors="surrogateescape").decode(errors="surrogatepass"), text
    )


class TolerantReader(Iterator[Record]):
    """A reader of records that refuses broken records; `consumed` is the number of bytes that it has read.

    If a quote never closes, only its own line is refused, and reading continues with the next line.
    """

    def __init__(self, data: bytes, line: int, delimiter: str, *, final: bool) -> None:
        # Leave out an incomplete last line, because the next block contains the whole line.
        self.data = data if final else data[: data.rfind(b"\n") + 1]
        self.size, self.line, self.delimiter, self.final = len(data), line, delimiter, final
        self.consumed = self._searched = 0

    def __next__(self) -> Record:
        while True:
            start = self.consumed
            if start >= len(self.data):
                raise StopIteration
            end = self._line_end(start)
            if not self.data[start:end].strip(b"\r\n \t"):
                self._advance(end)
                continue
            return self._record(start, end)

    def _line_end(self, start: int) -> int:
        at = self.data.find(b"\n", start)
        return len(self.data) if at < 0 else at + 1

    def _advance(self, end: int) -> None:
        self.line += self.data.count(b"\n", self.consumed, end)
        self.consumed = end

    def _record(self, start: int, first_end: int) -> Record:
        line, end = self.line, first_end
        for _ in range(MOST_ATTEMPTS):
            try:
                cells = self._parse(start, end)
            except csv.Error as error:
                return self._refuse(line, start, first_end, "malformed", explain_malformed(error))
            if cells is not None and end - start <= LONGEST_RECORD:
                self._advance(end)
                return Record(line, cells)
            if end - start > LONGEST_RECORD:
                message = f"The record is longer than {LONGEST_RECORD:,} bytes."
                return self._refuse(line, start, first_end, "too_long", message)
            closing = self._closing_line(start, end)
            if closing is None:
                break
            end = closing
        return self._refuse(line, start, first_end, "open_quote", "A quote opens and never closes.")

    def _closing_line(self, start: int, end: int) -> int | None:
        """Return the end of the next line that could close an open quote; None if no such line is near."""
        while end < len(self.data) and end - start <= LONGEST_RECORD and self._searched <= MOST_SEARCHED:
            following = self._line_end(end)
            self._searched += following - end
            if self.data.count(b'"', end, following) % 2:
                self._searched += following - start  # the next attempt parses these lines
                return following
            end = following
        if not self.final and self.size - start <= LONGEST_RECORD:
            raise StopIteration  # the quote may close in bytes that were not read yet
        return None

    def _parse(self, start: int, end: int) -> list[str] | None:
        """Return the cells of these lines; None if a quote is still open at their end. Raises csv.Error."""
        text = decoded(self.data[start:end])
        try:
            rows = list(csv.reader([text.rstrip("\r\n")], delimiter=self.delimiter, strict=True))
        except csv.Error as error:
            if "unexpected end of data" in str(error):
                return None
            raise
        return rows[0] if rows else [""]

    def _refuse(self, line: int, start: int, end: int, code: str, message: str) -> Record:
        self._advance(end)
        text = decoded(self.data[start : min(end, start + LONGEST_RECORD)])
        if code == "too_long":
            text = text[:LONGEST_SHOWN] + "\ufffd"
        cells = split_loosely(text.rstrip("\r\n"), self.delimiter)
        if code == "open_quote":
            # The purpose of the quote is unknown. Replace it by U+FFFD, so that the row is refused again
            # until someone corrects it.
            cells = [f"\ufffd{cell[1:]}" if cell.startswith('"') else cell for cell in cells]
        return Record(line, cells, code, message)


def explain_malformed(error: csv.Error) -> str:
    """Return the csv module's message without its advice to programmers."""
    if str(error).startswith("new-line character"):
        return "A cell contains a carriage return but is not in quotes."
    return f"This is not CSV: {error}."


def split_loosely(text: str, delimiter: str) -> list[str]:
    """Split a line that is not CSV: a quote counts if it opens a cell and another quote closes it.

    Each search for a closing quote may read the whole line. After MOST_SOUGHT characters, a quote is text.
    """
    cells, at, sought = [], 0, 0
    while at <= len(text):
        closing = _closing_quote(text, at, delimiter) if sought <= MOST_SOUGHT else 0
        if closing:
            cells.append(text[at + 1 : closing].replace('""', '"'))
            at = closing + 2
        else:
            sought += len(text) - at if text.startswith('"', at) else 0
            end = text.find(delimiter, at)
            end = len(text) if end < 0 else end
            cells.append(text[at:end])
            at = end + 1
    return cells


def _closing_quote(text: str, at: int, delimiter: str) -> int:
    """Return the position of the closing quote, or 0. Only a delimiter or the end may follow this quote."""
    if not text.startswith('"', at):
        return 0
    quote = text.find('"', at + 1)
    while quote > 0:
        following = text[quote + 1 : quote + 2]
        if following in ("", delimiter):
            return quote
        if following != '"' and text[quote - 1] == delimiter:
            return 0  # this quote opens the next cell, so our cell is not closed
        quote = text.find('"', quote + (2 if following == '"' else 1))
    return 0
