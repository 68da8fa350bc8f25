"""Reading files that spreadsheets made: encodings, delimiters, and blocks that break between records.

The file passes through in blocks of UTF-8, each beginning and ending with whole records. A block that is
proven clean goes to COPY as it is; any other is read record by record by `tolerant`.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

BLOCK, CHUNK = 1024**2, 256 * 1024
LONGEST_RECORD = 1024**2
MOST_COLUMNS, MOST_ATTEMPTS = 500, 20
LONGEST_SHOWN = 200
# The first columns of an error report; a corrected one may come back as it is.
REPORT_COLUMNS = ["line", "field", "code", "message"]
# What a spreadsheet would run, also behind apostrophes: so that taking one off gives back what was there.
FORMULA = re.compile(r"'*[-=+@\t\r]")
DELIMITERS = (",", ";", "\t", "|")
CONTROLS = bytes(each for each in range(32) if each not in b"\t\n\r") + b"\x7f"
# Zip, and with it .xlsx and .ods; gzip; the older .xls.
WORKBOOKS = (b"PK\x03\x04", b"\x1f\x8b", b"\xd0\xcf\x11\xe0")
# The field limit guards the csv module's memory; ours is that of the record.
csv.field_size_limit(LONGEST_RECORD)


class Unreadable(Exception):
    """The file as a whole cannot be imported: the job's error."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def guess_encoding(path: Path) -> str:
    """What the file is written in, from its bytes.

    A file without a byte order mark that is not wholly UTF-8 is Windows-1252, unless characters that
    only UTF-8 makes are in it: then the other bytes are damage. Raises Unreadable for what is no text.
    """
    with path.open("rb") as file:
        head = file.read(4096)
        if head.startswith(WORKBOOKS):
            message = "This is a workbook or an archive, not text. Save the sheet as CSV, and upload that."
            raise Unreadable("not_text", message)
        if head.startswith(codecs.BOM_UTF8):
            return "utf-8-sig"
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        if b"\0" in head:
            even, odd = head[0::2].count(0), head[1::2].count(0)
            if max(even, odd) > len(head) // 5 and min(even, odd) <= max(even, odd) // 10:
                return "utf-16-le" if odd > even else "utf-16-be"
        file.seek(0)
        return _eight_bits(file)


def _eight_bits(file: BinaryIO) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    damaged = proper = False
    while chunk := file.read(CHUNK):
        if chunk.isascii() and not decoder.getstate()[0]:
            continue
        text = decoder.decode(chunk)
        valid = text.encode("utf-8", "ignore").decode()
        damaged |= len(valid) < len(text)
        proper |= not valid.isascii()
    damaged |= bool(decoder.decode(b"", True))
    return "cp1252" if damaged and not proper else "utf-8"


def utf8_chunks(file: BinaryIO, encoding: str) -> Iterator[bytes]:
    """The file as UTF-8. What cannot be decoded stays invalid, so that its record is found and refused."""
    if encoding in ("utf-8", "utf-8-sig"):
        file.seek(3 if encoding == "utf-8-sig" else 0)
        while chunk := file.read(CHUNK):
            yield chunk
        return
    escape = "surrogateescape" if encoding == "cp1252" else "surrogatepass"
    decoder = codecs.getincrementaldecoder(encoding)(escape)
    while chunk := file.read(CHUNK):
        yield decoder.decode(chunk).encode("utf-8", escape)
    try:
        yield decoder.decode(b"", True).encode("utf-8", escape)
    except UnicodeDecodeError:
        yield b"\xff"  # half a character: the file was cut off


@dataclass(frozen=True)
class Record:
    """One record that was read, or why it could not be."""

    line: int
    cells: list[str]
    code: str = ""
    message: str = ""


@dataclass
class Block:
    """Whole records, as UTF-8; `line` is the physical line of the first."""

    line: int
    data: bytes
    final: bool
    clean: bool = True


class Sheet:
    """An open file, past its header."""

    def __init__(self, file: BinaryIO, encoding: str, recognised: Callable[[list[str]], int]) -> None:
        """`recognised` tells how many of a header's names mean something. Raises Unreadable."""
        self._chunks = utf8_chunks(file, encoding)
        self._pending = b""
        self._ended = False
        self.line = 1
        self._fill(LONGEST_RECORD)
        self.delimiter = ","
        self.header = self._read_header(recognised)
        self._well_formed = well_formed(self.delimiter)

    def _fill(self, size: int) -> None:
        """Have so many bytes waiting, if there are."""
        parts, missing = [self._pending], size - len(self._pending)
        while missing > 0 and not self._ended:
            chunk = next(self._chunks, None)
            self._ended = chunk is None
            parts.append(chunk or b"")
            missing -= len(parts[-1])
        self._pending = b"".join(parts)

    @property
    def own(self) -> int:
        """How many of the header's columns are those that our error report put before the file's own."""
        return own_columns(self.header)

    def _read_header(self, recognised: Callable[[list[str]], int]) -> list[str]:
        candidates = list(DELIMITERS)
        separator = re.match(rb'"?sep=([,;\t|])"?\r?\n', self._pending, re.IGNORECASE)
        if separator:  # a spreadsheet's own hint
            candidates = [separator[1].decode()]
            self._take(separator.end())
        while blank := re.match(rb"[ \t]*\r?\n", self._pending):
            self._take(blank.end())
        best, header, size, fault = 0, [], 0, ""
        for delimiter in candidates:
            reader = tolerant(self._pending, self.line, delimiter, final=self._ended)
            record = next(reader, None)
            if record is None or record.code:
                # Malformed may be only what a wrong delimiter makes of it.
                fault = record.message if record and record.code != "malformed" else fault
                continue
            names = as_they_were([cell.strip().strip("\ufeff") for cell in record.cells])
            found = recognised(names)
            if found > best:
                best, header, size = found, names, reader.consumed
                self.delimiter = delimiter
        if not header:
            raise Unreadable("no_header", why_no_header(self._pending, fault))
        check_header(header[own_columns(header) :])
        self._take(size)
        return header

    def _take(self, size: int) -> bytes:
        data, self._pending = self._pending[:size], self._pending[size:]
        self.line += data.count(b"\n")
        return data

    def blocks(self) -> Iterator[Block]:
        """The records below the header. Of an unclean block, hand back what was not read: `give_back`."""
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
            # A reader that handed back all of a block gets more at once, so that each round moves on.
            stuck = len(self._pending) == before

    def _shorten_line(self) -> None:
        """Drop what a line, that is longer than any record may be, has beyond that: it will be refused."""
        kept, rest = self._pending[: LONGEST_RECORD + 1], b""
        while b"\n" not in rest and not self._ended:
            chunk = next(self._chunks, None)
            self._ended, rest = chunk is None, chunk or b""
        self._pending = kept + rest[rest.find(b"\n") :] if b"\n" in rest else kept

    def _block(self, size: int) -> Block:
        """The next bytes, so many or all that wait where it cannot be told where a record ends."""
        line, data = self.line, self._take(size or len(self._pending))
        final = self._ended and not self._pending
        return Block(line, data, final, clean=bool(size) and is_clean(data, self._well_formed))

    def give_back(self, data: bytes) -> None:
        """Put the beginning of an unfinished record before what comes next."""
        self.line -= data.count(b"\n")
        self._pending = data + self._pending


def own_columns(header: Sequence[str]) -> int:
    """How many columns of a header are our error report's own: all of them, or none."""
    return len(REPORT_COLUMNS) if list(header[: len(REPORT_COLUMNS)]) == REPORT_COLUMNS else 0


def as_they_were(header: list[str]) -> list[str]:
    """A header whose names our error report made harmless, as the file had it."""
    own = own_columns(header)
    tame = [own > 0 and name.startswith("'") and bool(FORMULA.match(name)) for name in header]
    return [name[1:] if each else name for name, each in zip(header, tame, strict=True)]


def check_header(names: list[str]) -> None:
    if len(names) > MOST_COLUMNS:
        raise Unreadable(
            "too_many_columns", f"The header has {len(names)} columns; {MOST_COLUMNS} is the most."
        )
    seen: set[str] = set()
    for name in names:
        if name and name in seen:
            raise Unreadable("duplicate_header", f"The header has the column {name[:100]!r} twice.")
        seen.add(name)


def boundary(data: bytes) -> int:
    """Where the last whole record ends, by the parity of quotes; 0 where that cannot be told."""
    at = data.rfind(b"\n", 0, BLOCK)
    for _ in range(8):
        if at < 0:
            return 0
        if data.count(b'"', 0, at) % 2 == 0:
            return at + 1
        quote = data.rfind(b'"', 0, at)
        at = data.rfind(b"\n", 0, quote)
    return 0


def why_no_header(beginning: bytes, fault: str) -> str:
    """What to do about a file without a header; `fault` is why its first record cannot be read, if so."""
    if not beginning.strip():
        return "The file is empty. Its first line must be the header."
    if b"\n" not in beginning and LONE_RETURN.search(beginning):
        return "The lines end in CR alone, as of old. Save the file with CRLF or LF at their ends."
    line = beginning.partition(b"\n")[0][:LONGEST_SHOWN].decode("utf-8", "replace").strip()
    shown = CONTROL.sub("\ufffd", line)
    if fault:
        return f"The first line must be the header, and {shown!r} cannot be read. {fault}"
    return (
        f"The first line, {shown!r}, names no column that is known or mapped. It must be the header,"
        " parted by comma, semicolon, tab or |."
    )


LONE_RETURN = re.compile(rb"\r(?!\n)")


def well_formed(delimiter: str) -> Callable[[bytes], bool]:
    """A test that every quote opens, closes or is doubled: what COPY and we read alike.

    What stands outside of quotes is nothing (in a doubled quote), or begins and ends where cells do. Written
    without possessive groups, with which Python before 3.11.5 finds what is not there.
    """
    d = re.escape(delimiter.encode())
    misplaced = re.compile(rb'"(?:(?<=[^"' + d + rb'\n]")|(?!["' + d + rb"\n]|\r\n|\Z))")

    def test(data: bytes) -> bool:
        parts = data.split(b'"')
        outside = b'"'.join(parts[::2])
        return len(parts) % 2 == 1 and not misplaced.search(outside) and not LONE_RETURN.search(outside)

    return test


def is_clean(data: bytes, well_formed: Callable[[bytes], bool]) -> bool:
    """Whether COPY reads this block as it is meant: before PostgreSQL 18 a line \\. would end it."""
    if b"\\" in data and (data.startswith(b"\\.") or b"\n\\." in data or b"\r\\." in data):
        return False
    if len(data.translate(None, CONTROLS)) < len(data):
        return False
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            return False
    return b'"' not in data or well_formed(data)


class tolerant(Iterator[Record]):  # noqa: N801 - used like a generator
    """Reads records one by one and refuses those that are broken; `consumed` is how far it came.

    A quote that opens and never closes costs its own line only: reading goes on behind it.
    """

    def __init__(self, data: bytes, line: int, delimiter: str, *, final: bool) -> None:
        # Of a line that is cut off nothing can be said yet.
        self.data = data if final else data[: data.rfind(b"\n") + 1]
        self.size, self.line, self.delimiter, self.final = len(data), line, delimiter, final
        self.consumed = 0

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
                return self._refuse(line, start, first_end, "malformed", why_malformed(error))
            if cells is not None and end - start <= LONGEST_RECORD:
                self._advance(end)
                return self._judge(line, cells)
            if end - start > LONGEST_RECORD:
                message = f"The record is longer than {LONGEST_RECORD:,} bytes."
                return self._refuse(line, start, first_end, "too_long", message)
            closing = self._closing_line(start, end)
            if closing is None:
                break
            end = closing
        return self._refuse(line, start, first_end, "open_quote", "A quote opens and never closes.")

    def _closing_line(self, start: int, end: int) -> int | None:
        """The end of the next line that could close an open quote; None if there is none near."""
        while end < len(self.data) and end - start <= LONGEST_RECORD:
            following = self._line_end(end)
            if self.data.count(b'"', end, following) % 2:
                return following
            end = following
        if not self.final and self.size - start <= LONGEST_RECORD:
            raise StopIteration  # it may close in what is not here yet
        return None

    def _parse(self, start: int, end: int) -> list[str] | None:
        """The cells of these lines; None if a quote is still open at their end. Raises csv.Error."""
        text = self.data[start:end].decode("utf-8", "surrogateescape")
        try:
            rows = list(csv.reader([text.rstrip("\r\n")], delimiter=self.delimiter, strict=True))
        except csv.Error as error:
            if "unexpected end of data" in str(error):
                return None
            raise
        return rows[0] if rows else [""]

    def _judge(self, line: int, cells: list[str]) -> Record:
        text = "".join(cells)
        readable = [cell.encode("utf-8", "replace").decode() for cell in cells]
        if readable != cells:
            return Record(
                line, readable, "undecodable", "Holds bytes that are no characters in its encoding."
            )
        if CONTROL.search(text):
            shown = [CONTROL.sub("\ufffd", cell) for cell in cells]
            return Record(line, shown, "control", "Holds a control character, which no text here may.")
        return Record(line, cells)

    def _refuse(self, line: int, start: int, end: int, code: str, message: str) -> Record:
        self._advance(end)
        text = self.data[start : min(end, start + 10_000)].decode("utf-8", "replace").rstrip("\r\n")
        return Record(line, [CONTROL.sub("\ufffd", text)], code, message)


CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def why_malformed(error: csv.Error) -> str:
    """What the csv module says, but for its advice to programmers."""
    if str(error).startswith("new-line character"):
        return "A carriage return stands in a cell without quotes around it."
    return f"This is not CSV: {error}."


def count_known(names: list[str], known: Collection[str]) -> int:
    """How many of a header's names mean something to the import."""
    folded = {name.casefold() for name in known}
    return sum(name.casefold() in folded for name in names)
