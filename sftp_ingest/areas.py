"""Upload areas: a folder for each supplier, of which nothing else can be reached.

Every step along a path is opened relative to the folder before it, and never through a link. So there
is no moment between looking at a path and using it in which it could come to mean something else.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings

from accounts.models import Supplier
from sftp_ingest.errors import Forbidden, Missing, Refused
from sftp_ingest.paths import READ_ONLY, REPORTS, SKELETON, Parts, joined, split

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a named pipe would wait for its writer.
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Area:
    """One supplier's files. Paths are what `split` made of them."""

    def __init__(self, supplier_id: int) -> None:
        self.supplier_id = supplier_id
        self.root: Path = settings.UPLOADS_DIR / str(supplier_id)

    def prepare(self) -> None:
        """Make the folders that every area has."""
        for name in SKELETON:
            (self.root / name).mkdir(mode=0o750, parents=True, exist_ok=True)

    @contextmanager
    def folder(self, parts: Parts) -> Iterator[int]:
        """A descriptor of a folder. Raises Missing."""
        current = os.open(self.root, FOLDER)
        try:
            for index, name in enumerate(parts):
                try:
                    inner = os.open(name, FOLDER, dir_fd=current)
                except OSError as error:
                    raise Missing(f"There is no folder {joined(parts[: index + 1])}.") from error
                os.close(current)
                current = inner
            yield current
        finally:
            os.close(current)

    def open(self, parts: Parts) -> int:
        """A descriptor of a file, for reading; the caller closes it. Raises Missing, Refused."""
        path = joined(parts)
        if not parts:
            raise Refused("A file is wanted here, not a folder.")
        with self.folder(parts[:-1]) as folder:
            try:
                file = os.open(parts[-1], FILE, dir_fd=folder)
            except FileNotFoundError as error:
                raise Missing(f"There is no file {path} in the upload area.") from error
            except OSError as error:
                raise Refused(f"{path} is not a plain file.") from error
        if stat.S_ISREG(os.fstat(file).st_mode):
            return file
        os.close(file)
        raise Refused(f"{path} is not a plain file.")

    def status(self, parts: Parts) -> os.stat_result:
        """What is under that name: a file or a folder. Raises Missing, also for anything else."""
        with self.folder(parts[:-1]) as folder:
            try:
                found = os.stat(parts[-1] if parts else ".", dir_fd=folder, follow_symlinks=False)
            except OSError as error:
                raise Missing(f"There is no {joined(parts)}.") from error
        if not plain(found):
            raise Missing(f"There is no {joined(parts)}.")
        return found

    def link(self, parts: Parts, destination: Path) -> None:
        """Give a file a second name, outside of the area. Raises Missing, OSError."""
        with self.folder(parts[:-1]) as folder:
            try:
                os.link(parts[-1], destination, src_dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError as error:
                if destination.parent.is_dir():
                    raise Missing(f"There is no file {joined(parts)} in the upload area.") from error
                raise

    def listing(self, parts: Parts) -> list[tuple[str, os.stat_result]]:
        """The files and folders in a folder, by name. Raises Missing."""
        found = []
        with self.folder(parts) as folder, os.scandir(folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # removed meanwhile
                    found.append((entry.name, entry.stat(follow_symlinks=False)))
        return sorted((name, status) for name, status in found if plain(status))

    def files(self, parts: Parts = ()) -> Iterator[tuple[Parts, os.stat_result]]:
        """All files below a folder."""
        for name, status in self.listing(parts):
            inner = (*parts, name)
            if stat.S_ISREG(status.st_mode):
                yield inner, status
            else:
                with suppress(Missing):
                    yield from self.files(inner)

    def size(self) -> int:
        """The bytes that all files here have together; reports are ours, and count for nothing."""
        return sum(status.st_size for parts, status in self.files() if parts[0] != REPORTS)


def plain(status: os.stat_result) -> bool:
    """Whether it is a file or a folder, and no link, pipe or device."""
    return stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)


def changeable(parts: Parts) -> Parts:
    """The parts, if what is there may be put, renamed or removed. Raises Forbidden."""
    if len(parts) == 0 or (len(parts) == 1 and parts[0] in SKELETON):
        raise Forbidden(f"The folder /{joined(parts)} is always there.")
    if parts[0] in READ_ONLY:
        raise Forbidden(f"{parts[0]}/ is only for reading.")
    return parts


def area_of(supplier: Supplier) -> Path:
    """The supplier's folder, with products/, inventory/ and templates/ in it."""
    area = Area(supplier.pk)
    area.prepare()
    return area.root


def resolve(supplier: Supplier, path: str) -> int:
    """A descriptor of a file in the supplier's area, for reading; the caller closes it.

    Raises Refused (a ValueError with a sentence to show) for `..`, links, folders, and what is missing.
    """
    area = Area(supplier.pk)
    area.prepare()
    return area.open(split(path))


def link_version(supplier: Supplier, path: str, destination: Path) -> None:
    """Give the present version of a file a second, private name: later uploads do not touch it.

    Uploads replace files and never write into them, so the link is as good as a copy, and free.
    The destination must be within UPLOADS_DIR (one file system) and not exist. Raises Refused, OSError.
    """
    area, parts = Area(supplier.pk), split(path)
    os.close(resolve(supplier, path))
    area.link(parts, destination)
