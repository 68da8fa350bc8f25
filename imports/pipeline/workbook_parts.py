"""The limits of an .xlsx archive. Without limits, a worker could work for minutes on a small file."""

from __future__ import annotations

import zipfile
from collections.abc import Callable

from imports.pipeline.errors import Unreadable

Check = Callable[[], None]
"""A function to call repeatedly during long work. It raises an exception if the work should stop."""

# The number of the last row that Excel can write.
MOST_ROWS = 1024**2
# The number of the last column that Excel can write, XFD.
MOST_COLUMNS = 16_384
MOST_BYTES = 1024**3
# A part of more than FREE_BYTES may unpack to MOST_RATIO times its packed size. Excel needs a ratio of 30.
FREE_BYTES, MOST_RATIO = 16 * 1024**2, 150
# Limit the shared texts, because all of them are in memory together. Rows are read one by one.
MOST_TEXTS = 2_000_000
MOST_CELLS = 100_000_000


def refuse_large(archive: zipfile.ZipFile) -> None:
    """Raise Unreadable if the archive would unpack to too many bytes.

    The declared sizes of the parts are reliable limits, because `zipfile` never unpacks more.
    """
    parts = archive.infolist()
    dense = [part for part in parts if part.file_size > max(FREE_BYTES, MOST_RATIO * part.compress_size)]
    if dense or sum(part.file_size for part in parts) > MOST_BYTES:
        raise too_large("Unpacked, the workbook is too large.")


def too_large(problem: str) -> Unreadable:
    return Unreadable("too_large", f"{problem} Save the sheet as CSV.")
