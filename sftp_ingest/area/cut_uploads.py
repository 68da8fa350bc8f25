"""Uploads that were cut: kept for a day for the login that began them, seen by nothing else (contract 13).

They lie outside of every area, under a name that says whose they are and where they were meant to be.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from sftp_ingest.area.paths import Parts, join_path
from sftp_ingest.area.unfinished import unfinished_folder, unfinished_path
from sftp_ingest.models import SftpLogin

KEPT_SECONDS = 24 * 3600.0


def keep(source: Path, login: SftpLogin, parts: Parts) -> None:
    """Keep an unfinished file, in place of an earlier try at the same path. Raises OSError."""
    path = _path(login, parts)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.replace(source, path)


def find(login: SftpLogin, parts: Parts) -> os.stat_result | None:
    """What came of the login's cut upload to that path; None when there is none."""
    try:
        status = os.stat(_path(login, parts), follow_symlinks=False)
    except OSError:
        return None
    return None if _is_old(status) else status


def take(login: SftpLogin, parts: Parts) -> tuple[int, Path] | None:
    """Take a cut upload up again: its locked descriptor and its name, which nobody else has now."""
    path, temporary = _path(login, parts), unfinished_path()
    try:
        file = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_old(os.fstat(file)):
            os.rename(path, temporary)
            return file, temporary
    except OSError:  # another connection was faster
        pass
    os.close(file)
    return None


def drop(login: SftpLogin, parts: Parts) -> int | None:
    """Forget a cut upload; return how many bytes it had, None when there was none."""
    path = _path(login, parts)
    with suppress(OSError):
        size = path.stat().st_size
        path.unlink()
        return size
    return None


def drop_all(supplier_id: int) -> int:
    """Forget the supplier's cut uploads, to make room; return how many bytes they had."""
    freed = 0
    for path, status in _kept(_folder() / str(supplier_id)):
        path.unlink(missing_ok=True)
        freed += status.st_size
    return freed


def bytes_kept(supplier_id: int) -> int:
    """How many bytes of the supplier's quota its cut uploads have."""
    return sum(status.st_size for _, status in _kept(_folder() / str(supplier_id)))


def remove_old() -> None:
    """Remove what was cut more than a day ago."""
    with suppress(FileNotFoundError):
        for folder in list(_folder().iterdir()):
            for path, status in _kept(folder):
                if _is_old(status):
                    path.unlink(missing_ok=True)


def _folder() -> Path:
    return unfinished_folder() / "cut"


def _path(login: SftpLogin, parts: Parts) -> Path:
    name = hashlib.sha256(join_path(parts).encode()).hexdigest()
    return _folder() / str(login.supplier_id) / f"{login.pk}-{name}"


def _kept(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    with suppress(FileNotFoundError):
        for path in list(folder.iterdir()):
            with suppress(FileNotFoundError):
                yield path, path.stat()


def _is_old(status: os.stat_result) -> bool:
    return time.time() - status.st_ctime > KEPT_SECONDS  # its mtime is the client's
