"""Open a file as a sheet of rows: plain text, gzip, zip or a workbook, recognized by its content.

A packed file is unpacked while it is read, to save memory and disk. There is a limit for the unpacked bytes,
because a few kilobytes can unpack to any size.
"""

from __future__ import annotations

import gzip
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from imports.pipeline.csv_reader import Sheet
from imports.pipeline.encodings import find_encoding
from imports.pipeline.errors import Unreadable
from imports.pipeline.header import ExpectedHeader
from imports.pipeline.tolerant_reader import LONGEST_RECORD
from imports.pipeline.workbook import WorkbookSheet
from imports.pipeline.workbook_parts import Check

GZIP, ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")
# `zipfile` raises NotImplementedError for an unknown compression, RuntimeError for a password.
DAMAGED = (
    OSError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
)
SHOWN_NAMES = 5
LONGEST_NAME = 60


@contextmanager
def open_sheet(
    path: Path, expected: ExpectedHeader, check: Check = lambda: None
) -> Iterator[Sheet | WorkbookSheet]:
    """Open a file and read its header; `expected` distinguishes the header from other rows.

    `check` is called repeatedly while a workbook is opened, and may raise Canceled. Raises Unreadable.
    """
    with ExitStack() as opened:
        file = opened.enter_context(path.open("rb"))
        start = file.read(4)
        file.seek(0)
        if start.startswith(GZIP):
            packed = Unpacked(opened.enter_context(gzip.GzipFile(fileobj=file)))
        elif start in ZIP:
            archive = opened.enter_context(_archive(file))
            if any(name.startswith("xl/") for name in archive.namelist()):
                yield opened.enter_context(WorkbookSheet.opened(file, archive, expected, check))
                return
            packed = Unpacked(opened.enter_context(_only_csv(archive)))
        else:
            yield Sheet(file, find_encoding(file), expected)
            return
        yield Sheet(packed, find_encoding(packed), expected)


class Unpacked:
    """The bytes of a packed file. Raises Unreadable if the file is damaged or too large."""

    def __init__(self, file: BinaryIO | gzip.GzipFile) -> None:
        self._file = file
        self._most = settings.IMPORT_UNPACKED_BYTES

    def read(self, size: int) -> bytes:
        with reading_archive():
            data = self._file.read(size)
            if self._file.tell() > self._most:
                message = f"Unpacked, the file has more than {self._most:,} bytes. Send it in parts."
                raise Unreadable("too_large", message)
        return data

    def seek(self, position: int) -> None:
        with reading_archive():
            self._file.seek(position)


@contextmanager
def reading_archive() -> Iterator[None]:
    """Turn errors of unpacking into Unreadable."""
    try:
        yield
    except DAMAGED as error:
        message = f"The file is packed, but cannot be unpacked: {error}. Pack it again, or send it as CSV."
        raise Unreadable("damaged_archive", message[: LONGEST_RECORD // 1000]) from error


def _archive(file: BinaryIO) -> zipfile.ZipFile:
    with reading_archive():
        return zipfile.ZipFile(file)


def _only_csv(archive: zipfile.ZipFile) -> BinaryIO:
    """Return the only CSV of an archive; files added by operating systems do not count."""
    names = [name for name in archive.namelist() if not name.endswith("/") and not _is_system_file(name)]
    tables = [name for name in names if name.lower().endswith((".csv", ".tsv", ".txt"))]
    if len(tables or names) != 1:
        listed = ", ".join(repr(name[:LONGEST_NAME]) for name in names[:SHOWN_NAMES])
        more = " …" if len(names) > SHOWN_NAMES else ""
        message = (
            "The archive must hold one CSV file, or be an .xlsx workbook; it holds"
            f" {listed or 'no file'}{more}."
        )
        raise Unreadable("not_text", message)
    (name,) = tables or names
    with reading_archive():
        return archive.open(name)  # type: ignore[return-value] # a stream of bytes like any other


def _is_system_file(name: str) -> bool:
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")
