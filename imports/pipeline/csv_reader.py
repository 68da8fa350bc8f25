"""A CSV file as blocks of UTF-8; each block begins and ends with whole records.

A clean block goes to COPY unchanged; `tolerant_reader` reads every other block record by record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from imports.pipeline.clean_blocks import clean_blocks
from imports.pipeline.columns import BLANKS
from imports.pipeline.encodings import Encoding, Readable, as_utf8
from imports.pipeline.errors import Unreadable
from imports.pipeline.header import (
    MOST_ABOVE,
    ExpectedHeader,
    check_header,
    explain_no_header,
    skipped_above,
)
from imports.pipeline.record_checks import fault_of_header
from imports.pipeline.tolerant_reader import LONGEST_RECORD, TolerantReader
from imports.report_format import own_columns, restore_header

BLOCK = 1024**2
DELIMITERS = (",", ";", "\t", "|")


@dataclass
class Block:
    """Whole records as UTF-8; `line` is the physical line of the first record."""

    line: int
    data: bytes
    final: bool
    clean: bool = True


class Sheet:
    """An open CSV file whose header has been read."""

    def __init__(self, file: Readable, encoding: Encoding, expected: ExpectedHeader) -> None:
        """Open the file and find its header. Raises Unreadable."""
        self._chunks = as_utf8(file, encoding.name)
        self.warnings = encoding.warnings
        self._pending = b""
        self._ended = False
        self.line = 1
        self._fill(LONGEST_RECORD)
        self.delimiter = ","
        self.header = self._read_header(expected)
        self._is_clean = clean_blocks(self.delimiter)

    def _fill(self, size: int) -> None:
        """Read until this many bytes are pending, or the file ends."""
        parts, missing = [self._pending], size - len(self._pending)
        while missing > 0 and not self._ended:
            chunk = next(self._chunks, None)
            self._ended = chunk is None
            parts.append(chunk or b"")
            missing -= len(parts[-1])
        self._pending = b"".join(parts)

    @property
    def own(self) -> int:
        """Return how many columns at the front come from our error report."""
        return own_columns(self.header)

    def _read_header(self, expected: ExpectedHeader) -> list[str]:
        candidates = list(DELIMITERS)
        separator = re.match(rb'"?sep=([,;\t|])"?\r?\n', self._pending, re.IGNORECASE)
        if separator:  # a first line such as `sep=;`, in which Excel names the delimiter
            candidates = [separator[1].decode()]
            self._take(separator.end())
        # Take all blank lines at once: each `_take` copies the rest, and a million lines may be blank.
        if blank := re.match(rb"(?:[ \t]*\r?\n)+", self._pending):
            self._take(blank.end())
        best, header, line, size = (0, False, 0, 0), list[str](), 0, 0
        problem, cells = "", 0
        for delimiter in candidates:
            reader = TolerantReader(self._pending, self.line, delimiter, final=self._ended)
            for above, record in enumerate(islice(reader, MOST_ABOVE + 1)):
                fault = record.message or fault_of_header(record.cells)
                # Report the fault found with the delimiter that gives the most cells, because that delimiter
                # is probably right. A wrong delimiter can make a good record malformed.
                if fault and not above and record.code != "malformed" and len(record.cells) > cells:
                    problem, cells = fault, len(record.cells)
                names = restore_header([cell.strip(BLANKS) for cell in record.cells])
                weight = (*expected.weigh(names), -record.line, len(names))
                if not fault and expected.accepts(names) and (not header or weight > best):
                    best, header, line, size = weight, names, record.line, reader.consumed
                    self.delimiter = delimiter
        if not header:
            raise Unreadable("no_header", explain_no_header(self._pending, problem, expected.needs))
        check_header(header[own_columns(header) :])
        self.warnings = [*self.warnings, *skipped_above(self.line, line)]
        self._take(size)
        return header

    def _take(self, size: int) -> bytes:
        data, self._pending = self._pending[:size], self._pending[size:]
        self.line += data.count(b"\n")
        return data

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of the records below the header. The caller returns unread bytes with `give_back`."""
        stuck = False
        while True:
            self._fill(BLOCK + LONGEST_RECORD)
            if not self._pending:
                return
            if b"\n" not in self._pending and not self._ended:
                self._shorten_line()
            whole = self._ended and len(self._pending) <= BLOCK
            size = len(self._pending) if whole else 0 if stuck else boundary(self._pending)
            before = len(self._pending)
            block = self._block(size)
            yield block
            # If the caller gave back the whole block, the next block has all pending bytes, so that the
            # caller can read at least one record.
            stuck = len(self._pending) == before

    def _shorten_line(self) -> None:
        """Cut a line that is too long for a record. The cut line is still too long, so it is refused."""
        kept, rest = self._pending[: LONGEST_RECORD + 1], b""
        while b"\n" not in rest and not self._ended:
            chunk = next(self._chunks, None)
            self._ended, rest = chunk is None, chunk or b""
        self._pending = kept + rest[rest.find(b"\n") :] if b"\n" in rest else kept

    def _block(self, size: int) -> Block:
        """Take `size` bytes as a block, or all pending bytes if `size` is 0 because no boundary is known."""
        line, data = self.line, self._take(size or len(self._pending))
        final = self._ended and not self._pending
        return Block(line, data, final, clean=bool(size) and self._is_clean(data))

    def give_back(self, data: bytes) -> None:
        """Put back the beginning of an unfinished record, so that the next block begins with it."""
        self.line -= data.count(b"\n")
        self._pending = data + self._pending


def boundary(data: bytes) -> int:
    """Return the position after the last whole record, or 0 if it is unknown.

    A line break ends a record if the number of quotes before it is even.
    """
    at = data.rfind(b"\n", 0, BLOCK)
    for _ in range(8):
        if at < 0:
            return 0
        if data.count(b'"', 0, at) % 2 == 0:
            return at + 1
        quote = data.rfind(b'"', 0, at)
        at = data.rfind(b"\n", 0, quote)
    return 0
