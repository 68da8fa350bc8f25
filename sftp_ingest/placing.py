"""How files get their names: all at once, and together with the row that records them."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from django.conf import settings
from django.db import transaction

from sftp_ingest.areas import Area
from sftp_ingest.database import own_connection
from sftp_ingest.errors import Refused
from sftp_ingest.models import Upload
from sftp_ingest.paths import Parts, joined

READ_AT_ONCE = 1024**2


def incoming_folder() -> Path:
    """Where unfinished files are: outside of every area, on the same file system."""
    folder: Path = settings.UPLOADS_DIR / ".incoming"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def sweep() -> int:
    """Remove what a killed server left unfinished; return how many files. A live one locks its own."""
    removed = 0
    for path in incoming_folder().iterdir():
        with suppress(OSError), path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
            removed += 1
    return removed


def sha256_of(file: int) -> str:
    """The digest of a whole file, read through its descriptor."""
    digest, position = hashlib.sha256(), 0
    while data := os.pread(file, READ_AT_ONCE, position):
        digest.update(data)
        position += len(data)
    return digest.hexdigest()


class Placing:
    """Gives a file its name within a block; if the block fails, the name is again what it was."""

    def __init__(self, area: Area, parts: Parts, source: Path) -> None:
        self.area, self.parts, self.source = area, parts, source
        self.former = source.with_name(f"{source.name}.former")
        self.replaced_size = 0
        self._placed = False

    def __enter__(self) -> None:
        pass

    def place(self) -> None:
        with self.area.folder(self.parts[:-1]) as folder:
            self._keep_former(folder)
            os.rename(self.source, self.parts[-1], dst_dir_fd=folder)
            self._placed = True
            os.fsync(folder)

    def _keep_former(self, folder: int) -> None:
        with suppress(FileNotFoundError):
            status = os.stat(self.parts[-1], dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode):
                raise Refused(f"{joined(self.parts)} is there already, and is not a plain file.")
            os.link(self.parts[-1], self.former, src_dir_fd=folder, follow_symlinks=False)
            self.replaced_size = status.st_size

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if fault is not None and self._placed:
            with self.area.folder(self.parts[:-1]) as folder:
                if self.former.exists():
                    os.rename(self.former, self.parts[-1], dst_dir_fd=folder)
                else:
                    os.unlink(self.parts[-1], dir_fd=folder)
        self.former.unlink(missing_ok=True)


def arrive(area: Area, old: Parts, new: Parts, address: str) -> Upload:
    """Rename a file into a place that imports look at, and record that: both, or neither."""
    temporary = incoming_folder() / secrets.token_hex(16)
    area.link(old, temporary)
    try:
        with temporary.open("rb") as file:
            upload = Upload(
                supplier_id=area.supplier_id,
                path=joined(new),
                size=os.fstat(file.fileno()).st_size,
                sha256=sha256_of(file.fileno()),
                remote_address=address,
            )
        placing = Placing(area, new, temporary)
        with own_connection(), placing, transaction.atomic():
            upload.save()
            placing.place()
    finally:
        temporary.unlink(missing_ok=True)
    with area.folder(old[:-1]) as folder, suppress(FileNotFoundError):
        os.unlink(old[-1], dir_fd=folder)
    return upload
