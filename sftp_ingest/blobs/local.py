"""Blobs as files of a folder, which several hosts may share."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from sftp_ingest.blobs.store import CannotGoOn, Found, Kept, Reader, Store, Writer

A_FOLDER_HAS = 1000
CHUNK_SIZE = 1024**2
FOLDER_MODE = 0o750
NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC

_flushing = ThreadPoolExecutor(max_workers=4, thread_name_prefix="blobs")


class FileReader(Reader):
    """Reads a file by its descriptor; what is before `start` is not in it."""

    def __init__(self, file: int, start: int = 0) -> None:
        self._file, self._start = file, start

    def read(self, offset: int, length: int) -> bytes:
        if offset < self._start:
            raise OSError(f"What came before byte {self._start} came by another server, and is not here.")
        return os.pread(self._file, length, offset)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        with suppress(OSError):  # a session that ended while it read
            self.close()


def write_at(file: int, offset: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        written = os.pwrite(file, rest, offset)
        rest, offset = rest[written:], offset + written


class LocalWriter(Writer):
    """A file that grows under its number; rows say when it is complete."""

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

    def checkpoint(self, whole_to: int) -> Kept:
        """The disk works on it meanwhile: the end, which must wait for the disk, is the shorter."""
        if self._flushing and self._flushing[1].done():
            self._end_flushing()
        if not self._flushing:
            self._flushing = whole_to, _flushing.submit(os.fdatasync, self._file)
        return Kept(self._flushed)

    def complete(self, size: int) -> None:
        self._end_flushing()
        os.ftruncate(self._file, size)
        os.fsync(self._file)
        _sync_folder(self._path.parent)
        self._close()

    def keep(self, size: int) -> Kept:
        self.complete(size)
        return Kept(size)

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
    """`<folder>/12/12345`: a thousand to a folder."""

    name = "local"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, number: int) -> Path:
        return self.folder / str(number // A_FOLDER_HAS) / str(number)

    def require_usable(self) -> None:
        _make_private(self.folder)

    def create(self, number: int) -> LocalWriter:
        path = self.path(number)
        _make_private(self.folder)
        path.parent.mkdir(mode=FOLDER_MODE, exist_ok=True)
        # A database that was restored gives out numbers again; no row of it refers to what they were then.
        path.unlink(missing_ok=True)
        return LocalWriter(path, os.open(path, NEW, 0o640))

    def resume(self, number: int, kept: Kept, *, lapsed: bool) -> LocalWriter:
        path = self.path(number)
        if lapsed:
            _copy(path, kept.size)
        try:
            writer = LocalWriter(path, os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC))
        except FileNotFoundError as error:
            raise CannotGoOn from error
        writer.cut_to(kept.size)
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

    def look(self, after: str) -> tuple[list[Found], str]:
        folders = [int(path.name) for path in self.folder.glob("*") if path.name.isdecimal()]
        upcoming = min((each for each in folders if each > int(after or -1)), default=None)
        if upcoming is None:
            return [], ""
        found = []
        for path in (self.folder / str(upcoming)).iterdir():
            with suppress(FileNotFoundError):
                found.append(Found(int(path.name.partition(".")[0]), path.stat().st_mtime))
        return found, str(upcoming)

    def free_bytes(self) -> int:
        _make_private(self.folder)
        disk = os.statvfs(self.folder)
        return disk.f_bavail * disk.f_frsize


def _make_private(folder: Path) -> None:
    """Make the store's own folder as its files need it; one that others may look into was made before this.

    `mkdir` gives its mode to the last folder alone, so that one made on the way to a blob's had another.
    """
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & stat.S_IRWXO:
        with suppress(PermissionError):  # somebody else's, who may want it so
            folder.chmod(mode & ~stat.S_IRWXO)


def _copy(path: Path, size: int) -> None:
    """Put a copy in a file's place: whoever has it open still writes to what was there."""
    copy = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        with path.open("rb") as source, copy.open("xb") as file:
            while file.tell() < size and (data := source.read(min(CHUNK_SIZE, size - file.tell()))):
                file.write(data)
            if file.tell() < size:
                raise CannotGoOn
        copy.replace(path)
    except FileNotFoundError as error:
        raise CannotGoOn from error
    finally:
        copy.unlink(missing_ok=True)


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
