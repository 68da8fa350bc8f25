"""Blobs as files in a folder, which several hosts may share."""

from __future__ import annotations

import os
import secrets
import stat
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

from sftp_ingest.blobs.store import CannotResume, Checkpoint, ListedBlob, Reader, Store, Writer

FILES_PER_FOLDER = 1000
CHUNK_SIZE = 1024**2
FOLDER_MODE = 0o750
DEAD_AFTER = timedelta(days=1)
"""The age of a temporary file from which it counts as left by a killed process."""
NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC

_flushing = ThreadPoolExecutor(max_workers=4, thread_name_prefix="blobs")


class FileReader(Reader):
    """A reader of an open file. The bytes before `start` are not in this file."""

    def __init__(self, file: int, start: int = 0) -> None:
        self._file, self._start = file, start

    def read(self, offset: int, length: int) -> bytes:
        if offset < self._start:
            raise OSError(f"Another server received the bytes before {self._start}; they are not here.")
        return os.pread(self._file, length, offset)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        with suppress(OSError):  # a session that ended during a read did not close the file
            self.close()


def write_at(file: int, offset: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        written = os.pwrite(file, rest, offset)
        rest, offset = rest[written:], offset + written


class LocalWriter(Writer):
    """A writer of a growing file. Only the blob's row shows whether the blob is complete."""

    def __init__(self, path: Path, file: int) -> None:
        self._path, self._file = path, file
        self._flushed = 0
        self._flushing: tuple[int, Future[None]] | None = None

    def write(self, offset: int, data: bytes) -> None:
        write_at(self._file, offset, data)

    def reader(self) -> Reader:
        return FileReader(os.dup(self._file) if self._file >= 0 else os.open(self._path, os.O_RDONLY))

    def cut_to(self, size: int) -> None:
        os.ftruncate(self._file, size)

    def sync(self) -> None:
        os.fsync(self._file)

    def checkpoint(self, whole_to: int) -> Checkpoint:
        """Flush in the background, so that `complete` has fewer bytes to flush."""
        if self._flushing and self._flushing[1].done():
            self._end_flushing()
        if not self._flushing:
            self._flushing = whole_to, _flushing.submit(os.fdatasync, self._file)
        return Checkpoint(self._flushed)

    def complete(self, size: int) -> None:
        self._end_flushing()
        os.ftruncate(self._file, size)
        os.fsync(self._file)
        _sync_folder(self._path.parent)
        self._close()

    def keep(self, size: int) -> Checkpoint:
        self.complete(size)
        return Checkpoint(size)

    def discard(self) -> None:
        with suppress(OSError):
            self._end_flushing()
        if self._file >= 0:
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._file), os.stat(self._path)):
                    self._path.unlink(missing_ok=True)
            self._close()

    def leave(self) -> None:
        with suppress(OSError):
            self._end_flushing()
        if self._file >= 0:
            self._close()

    def _end_flushing(self) -> None:
        if self._flushing:
            to, flushed = self._flushing
            self._flushing = None
            flushed.result()
            self._flushed = to

    def _close(self) -> None:
        os.close(self._file)
        self._file = -1


class LocalStore(Store):
    """A store on disk, with paths such as `<folder>/12/12345`: a thousand files per folder."""

    name = "local"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, number: int) -> Path:
        return self.folder / str(number // FILES_PER_FOLDER) / str(number)

    def require_usable(self) -> None:
        _make_private(self.folder)

    def create(self, number: int) -> LocalWriter:
        path = self.path(number)
        _make_private(self.folder)
        path.parent.mkdir(mode=FOLDER_MODE, exist_ok=True)
        # A restored database assigns the same numbers again. No row refers to the old content of this number.
        path.unlink(missing_ok=True)
        return LocalWriter(path, os.open(path, NEW, 0o640))

    def resume(self, number: int, checkpoint: Checkpoint, *, lapsed: bool) -> LocalWriter:
        path = self.path(number)
        if lapsed:
            _copy(path, checkpoint.size)
        try:
            writer = LocalWriter(path, os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC))
        except FileNotFoundError as error:
            raise CannotResume from error
        writer.cut_to(checkpoint.size)
        return writer

    def reader(self, number: int) -> Reader:
        return FileReader(os.open(self.path(number), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC))

    @contextmanager
    def local_file(self, number: int) -> Iterator[Path]:
        yield self.path(number)

    def size(self, number: int) -> int | None:
        try:
            return self.path(number).stat().st_size
        except FileNotFoundError:
            return None

    def delete(self, number: int) -> None:
        self.path(number).unlink(missing_ok=True)

    def look(self, after: str) -> tuple[list[ListedBlob], str]:
        """Return the blobs of the next folder. Delete the copies that killed processes left in it."""
        folders = [int(path.name) for path in self.folder.glob("*") if path.name.isdecimal()]
        upcoming = min((folder for folder in folders if folder > int(after or -1)), default=None)
        if upcoming is None:
            return [], ""
        folder, blobs = self.folder / str(upcoming), []
        for path in folder.iterdir():
            if path.name.isdecimal():  # not `.nfs…`, a deleted file that someone still reads
                with suppress(FileNotFoundError):
                    blobs.append(ListedBlob(int(path.name), path.stat().st_mtime))
        delete_dead(folder.glob("[0-9]*.*"))
        return blobs, str(upcoming)

    def free_bytes(self) -> int:
        _make_private(self.folder)
        disk = os.statvfs(self.folder)
        return disk.f_bavail * disk.f_frsize


def delete_dead(temporary: Iterable[Path]) -> None:
    """Delete the temporary files that killed processes left."""
    oldest = time.time() - DEAD_AFTER.total_seconds()
    for path in temporary:
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < oldest:
                path.unlink()


def _make_private(folder: Path) -> None:
    """Create the store's folder, and remove other users' access to a folder of an older version.

    `mkdir` sets the mode of the last folder only, so older versions created this parent folder with another
    mode.
    """
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & stat.S_IRWXO:
        with suppress(PermissionError):  # the folder belongs to another user, who may want this mode
            folder.chmod(mode & ~stat.S_IRWXO)


def _copy(path: Path, size: int) -> None:
    """Replace a file by a copy, so that a process that still has the file open writes to the old file."""
    copy = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        with path.open("rb") as source, copy.open("xb") as file:
            while file.tell() < size and (data := source.read(min(CHUNK_SIZE, size - file.tell()))):
                file.write(data)
            if file.tell() < size:
                raise CannotResume
        copy.replace(path)
    except FileNotFoundError as error:
        raise CannotResume from error
    finally:
        copy.unlink(missing_ok=True)


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
