"""Find the encoding of a file from its bytes, and convert the bytes to UTF-8."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from imports.pipeline.errors import Unreadable

CHUNK = 256 * 1024
# Patterns for the beginning of documents that are not tables, with the names of their formats.
OTHER_FORMATS = (
    (rb"%PDF-", "a PDF"),
    (rb"<\?xml|<(rss|feed|html|!doctype)\b", "XML or HTML"),
    (rb'\{\s*["}]|\[\s*[\[{]', "JSON"),
)
# The first bytes of zip (which includes .xlsx and .ods), of gzip, and of the older .xls.
WORKBOOKS = (b"PK\x03\x04", b"\x1f\x8b", b"\xd0\xcf\x11\xe0")


@dataclass(frozen=True)
class Encoding:
    """The encoding of a file; `guessed` if nothing in the file names it."""

    name: str
    guessed: bool = False

    @property
    def warnings(self) -> list[str]:
        if not self.guessed:
            return []
        return [
            f"The file does not name its encoding; it was read as {LABELS[self.name]}. If letters"
            " such as ä or é came out wrong, save it as UTF-8 and send it again."
        ]


LABELS = {"cp1252": "Windows-1252", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}


class Readable(Protocol):
    """A plain file, or the content of a packed file."""

    def read(self, size: int, /) -> bytes: ...
    def seek(self, position: int, /) -> object: ...


def find_encoding(file: Readable) -> Encoding:
    """Return the encoding of a file, found from its bytes.

    A file without a byte order mark that is not valid UTF-8 is read as Windows-1252. If it also has valid
    UTF-8 characters beyond ASCII, it is read as UTF-8, and the invalid bytes count as damage. Raises
    Unreadable for a file that is not text.
    """
    file.seek(0)
    head = file.read(4096)
    if head.startswith(WORKBOOKS):
        message = (
            "This is an older workbook or an archive, not text. Save it as .xlsx or CSV, and upload that."
        )
        raise Unreadable("not_text", message)
    beginning = head.removeprefix(codecs.BOM_UTF8).lstrip()
    for pattern, name in OTHER_FORMATS:
        if re.match(pattern, beginning, re.IGNORECASE):
            message = (
                f"This is {name}, not CSV. Save it as CSV or .xlsx, one row per record, and upload that."
            )
            raise Unreadable("not_text", message)
    if head.startswith(codecs.BOM_UTF8):
        return Encoding("utf-8-sig")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Encoding("utf-16")
    if b"\0" in head:
        even, odd = head[0::2].count(0), head[1::2].count(0)
        if max(even, odd) > len(head) // 5 and min(even, odd) <= max(even, odd) // 10:
            return Encoding("utf-16-le" if odd > even else "utf-16-be", guessed=True)
    file.seek(0)
    return _eight_bits(file)


def _eight_bits(file: Readable) -> Encoding:
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
    return Encoding("cp1252", guessed=True) if damaged and not proper else Encoding("utf-8")


def as_utf8(file: Readable, encoding: str) -> Iterator[bytes]:
    """Yield the file as UTF-8. Undecodable bytes stay invalid, so that their record is found and refused."""
    file.seek(3 if encoding == "utf-8-sig" else 0)
    if encoding in ("utf-8", "utf-8-sig"):
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
        yield b"\xff"  # the last character is incomplete, because the file was cut off
