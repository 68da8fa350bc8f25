"""How files get their names: at once, and together with the row that records them."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.db import transaction

from sftp_ingest.area.files import Area
from sftp_ingest.area.paths import Parts, join_path
from sftp_ingest.area.unfinished import unfinished_path
from sftp_ingest.database import own_connection
from sftp_ingest.errors import Refused
from sftp_ingest.models import Upload

CHUNK_SIZE = 1024**2


def publish(upload: Upload, area: Area, parts: Parts, source: Path) -> int:
    """Record an upload and give its file the name: both, or neither.

    Returns the size of the file that it replaced. Raises Refused, OSError, a database error.
    """
    with own_connection(), _Publication(area, parts, source).undone_on_error() as publication:
        with transaction.atomic():
            upload.save(force_insert=True)
            publication.publish()
        return publication.replaced_size


def publish_renamed(area: Area, old: Parts, new: Parts, address: str) -> Upload:
    """Rename a file to where imports look, and record that as an upload: both, or neither."""
    temporary = unfinished_path()
    area.link(old, temporary)
    try:
        with temporary.open("rb") as file:
            upload = Upload(
                supplier_id=area.supplier_id,
                path=join_path(new),
                size=os.fstat(file.fileno()).st_size,
                sha256=sha256_of(file.fileno()),
                remote_address=address,
            )
        publish(upload, area, new, temporary)
    finally:
        temporary.unlink(missing_ok=True)
    with area.folder(old[:-1]) as folder, suppress(FileNotFoundError):
        os.unlink(old[-1], dir_fd=folder)
    return upload


def sha256_of(file: int) -> str:
    """The digest of a whole file, read through its descriptor."""
    digest, position = hashlib.sha256(), 0
    while data := os.pread(file, CHUNK_SIZE, position):
        digest.update(data)
        position += len(data)
    return digest.hexdigest()


class _Publication:
    """A file's name, with the version that had it before: kept until it is sure that the new one stays."""

    def __init__(self, area: Area, parts: Parts, source: Path) -> None:
        self.area, self.parts, self.source = area, parts, source
        self.former = source.with_name(f"{source.name}.former")
        self.replaced_size = 0
        self._published = False

    @contextmanager
    def undone_on_error(self) -> Iterator[_Publication]:
        """If the block fails (the commit, too), the name stands for what it stood for before."""
        try:
            yield self
        except BaseException:
            if self._published:
                self._undo()
            raise
        finally:
            self.former.unlink(missing_ok=True)

    def publish(self) -> None:
        with self.area.folder(self.parts[:-1]) as folder:
            self._keep_former(folder)
            os.rename(self.source, self.parts[-1], dst_dir_fd=folder)
            self._published = True
            os.fsync(folder)

    def _keep_former(self, folder: int) -> None:
        with suppress(FileNotFoundError):
            status = os.stat(self.parts[-1], dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode):
                raise Refused(f"{join_path(self.parts)} is there already, and is not a plain file.")
            os.link(self.parts[-1], self.former, src_dir_fd=folder, follow_symlinks=False)
            self.replaced_size = status.st_size

    def _undo(self) -> None:
        with self.area.folder(self.parts[:-1]) as folder:
            if self.former.exists():
                os.rename(self.former, self.parts[-1], dst_dir_fd=folder)
            else:
                os.unlink(self.parts[-1], dir_fd=folder)
