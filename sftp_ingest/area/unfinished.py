"""The folder of unfinished files: outside of every area, on the same file system."""

from __future__ import annotations

import fcntl
import secrets
from contextlib import suppress
from pathlib import Path

from django.conf import settings


def unfinished_folder() -> Path:
    """The folder, made when it is first needed."""
    folder: Path = settings.UPLOADS_DIR / ".incoming"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def unfinished_path() -> Path:
    """A new name for an unfinished file."""
    return unfinished_folder() / secrets.token_hex(16)


def remove_unfinished() -> int:
    """Remove what a killed server left behind; return how many files. A running one locks its own.

    What was cut in order lies in a folder there, and stays.
    """
    removed = 0
    for path in unfinished_folder().iterdir():
        with suppress(OSError), path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
            removed += 1
    return removed
