"""What a client sees of the folders whose files are made as it reads them."""

from __future__ import annotations

import os

import paramiko

from sftp_ingest.area.made_files import MadeFile, MadeFolder, made_folders
from sftp_ingest.area.paths import Parts
from sftp_ingest.database import own_connection
from sftp_ingest.errors import Forbidden, Missing
from sftp_ingest.server.attributes import attributes
from sftp_ingest.server.handles import MAX_OFFSET, MAX_READ

Entries = list[tuple[str, os.stat_result]]


def listed(folder: MadeFolder, supplier_id: int, parts: Parts) -> Entries:
    """The files of such a folder. Raises Missing for one within it: there is none."""
    if len(parts) > 1:
        raise Missing(f"There is no folder {parts[-1]}.")
    return sorted((name, make().status) for name, make in folder.files(supplier_id).items())


def status_of(folder: MadeFolder, supplier_id: int, parts: Parts) -> os.stat_result:
    """Raises Missing."""
    if len(parts) == 1:
        return folder.status
    return folder.file(supplier_id, parts).status


def opened(folder: MadeFolder, supplier_id: int, parts: Parts) -> MadeHandle:
    """Raises Missing."""
    return MadeHandle(folder.file(supplier_id, parts))


def with_made(entries: Entries) -> Entries:
    """What is in an area's first folder, with those that are made."""
    made = made_folders()
    kept = [(name, status) for name, status in entries if name not in made]
    return sorted([*kept, *((name, folder.status) for name, folder in made.items())])


class MadeHandle(paramiko.SFTPHandle):  # type: ignore[misc]
    """Such a file being read, as it was when it was opened."""

    def __init__(self, file: MadeFile) -> None:
        super().__init__()
        self._made, self._read = file, False

    def read(self, offset: int, length: int) -> bytes:
        if not self._read:
            with own_connection():
                self._made.on_read()
            self._read = True
        start = min(offset, MAX_OFFSET)
        return self._made.content[start : start + min(length, MAX_READ)]

    def write(self, offset: int, data: bytes) -> int:
        raise Forbidden("This file was opened for reading.")

    def stat(self) -> paramiko.SFTPAttributes:
        return attributes("", self._made.status, read_only=True)

    def chattr(self, attr: paramiko.SFTPAttributes) -> int:
        raise Forbidden("This file was opened for reading.")

    def sync(self) -> None:
        """Nothing of it waits to be written."""

    def close(self) -> None:
        """It is only in memory."""
