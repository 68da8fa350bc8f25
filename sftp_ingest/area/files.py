"""Upload areas: a folder for each supplier, of which nothing else can be reached.

Each folder of a path is opened relative to the one before it, and never through a link. So a path cannot
come to mean something else between the check and the use.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings

from accounts.models import Supplier
from sftp_ingest.area.paths import READ_ONLY, REPORTS, STANDING_FOLDERS, Parts, join_path, parse_path
from sftp_ingest.errors import Forbidden, Missing, Refused

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
        for name in STANDING_FOLDERS:
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
                    raise Missing(f"There is no folder {join_path(parts[: index + 1])}.") from error
                os.close(current)
                current = inner
            yield current
        finally:
            os.close(current)

    def open(self, parts: Parts) -> int:
        """A descriptor of a file, for reading; the caller closes it. Raises Missing, Refused."""
        path = join_path(parts)
        if not parts:
            raise Refused("This must be a file, not a folder.")
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
                raise Missing(f"There is no {join_path(parts)}.") from error
        if not is_plain(found):
            raise Missing(f"There is no {join_path(parts)}.")
        return found

    def set_times(self, parts: Parts, accessed: int, modified: int) -> None:
        """Set the times of a file or folder, in seconds since 1970. Raises Missing."""
        with self.folder(parts[:-1]) as folder:
            try:
                os.utime(
                    parts[-1] if parts else ".", (accessed, modified), dir_fd=folder, follow_symlinks=False
                )
            except FileNotFoundError as error:
                raise Missing(f"There is no {join_path(parts)}.") from error

    def link(self, parts: Parts, destination: Path) -> None:
        """Give a file a second name, outside of the area. Raises Missing, OSError."""
        with self.folder(parts[:-1]) as folder:
            try:
                os.link(parts[-1], destination, src_dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError as error:
                if destination.parent.is_dir():
                    raise Missing(f"There is no file {join_path(parts)} in the upload area.") from error
                raise

    def listing(self, parts: Parts) -> list[tuple[str, os.stat_result]]:
        """The files and folders in a folder, by name. Raises Missing."""
        found = []
        with self.folder(parts) as folder, os.scandir(folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # removed meanwhile
                    found.append((entry.name, entry.stat(follow_symlinks=False)))
        return sorted((name, status) for name, status in found if is_plain(status))

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
        """The bytes of all files in the area, except reports, which this service writes."""
        return sum(status.st_size for parts, status in self.files() if parts[0] != REPORTS)


def is_plain(status: os.stat_result) -> bool:
    """Whether it is a file or a folder: not a link, pipe or device."""
    return stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)


def changeable(parts: Parts) -> Parts:
    """The parts, if what is there may be put, renamed or removed. Raises Forbidden."""
    if len(parts) == 0 or (len(parts) == 1 and parts[0] in STANDING_FOLDERS):
        raise Forbidden(f"The folder /{join_path(parts)} is always there.")
    return writable(parts)


def writable(parts: Parts) -> Parts:
    """The parts, if what is there is not only for reading. Raises Forbidden."""
    if parts and parts[0] in READ_ONLY:
        raise Forbidden(f"{parts[0]}/ is only for reading.")
    return parts


def area_of(supplier: Supplier) -> Path:
    """The supplier's folder, with products/, inventory/ and templates/ in it."""
    area = Area(supplier.pk)
    area.prepare()
    return area.root


def open_in_area(supplier: Supplier, path: str) -> int:
    """A descriptor of a file in the supplier's area, for reading; the caller closes it.

    Raises Refused (a ValueError with a sentence to show) for `..`, links, folders, and what is missing.
    """
    area = Area(supplier.pk)
    area.prepare()
    return area.open(parse_path(path))


def link_version(supplier: Supplier, path: str, destination: Path) -> None:
    """Give the present version of a file a second name, outside of the area: later uploads do not change it.

    Uploads replace files and never write into them, so the link is as good as a copy, and free.
    The destination must be within UPLOADS_DIR (one file system) and not exist. Raises Refused, OSError.
    """
    area, parts = Area(supplier.pk), parse_path(path)
    os.close(open_in_area(supplier, path))
    area.link(parts, destination)
