"""The limits of an .xlsx archive: a small file must not cost minutes."""

from __future__ import annotations

import zipfile
from collections.abc import Callable

from imports.pipeline.errors import Unreadable

Check = Callable[[], None]
"""A function to call now and then during long work. It raises an exception if the work should stop."""

# Excel's limit; Excel writes no row below it.
MOST_ROWS = 1024**2
MOST_BYTES = 1024**3
# A part above FREE_BYTES may unpack to this many bytes for each packed byte; parts written by Excel need 30.
FREE_BYTES, MOST_RATIO = 16 * 1024**2, 150
# Shared texts are in memory at once; rows are read one by one.
MOST_TEXTS = 2_000_000
MOST_CELLS = 100_000_000


def refuse_large(archive: zipfile.ZipFile) -> None:
    """Raise Unreadable if the archive unpacks to too much; zipfile never exceeds the declared sizes."""
    parts = archive.infolist()
    dense = [part for part in parts if part.file_size > max(FREE_BYTES, MOST_RATIO * part.compress_size)]
    if dense or sum(part.file_size for part in parts) > MOST_BYTES:
        raise too_large("Unpacked, the workbook is too large.")


def too_large(problem: str) -> Unreadable:
    return Unreadable("too_large", f"{problem} Save the sheet as CSV.")
