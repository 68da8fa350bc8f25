"""SFTP commands on folders with generated files."""

from __future__ import annotations

import os

import paramiko

from sftp_ingest.area.made_files import MadeFile, MadeFolder, made_folders
from sftp_ingest.area.paths import Parts
from sftp_ingest.database import own_connection
from sftp_ingest.errors import Missing, NotAllowed
from sftp_ingest.server.attributes import attributes
from sftp_ingest.server.handles import MAX_OFFSET, MAX_READ

Entries = list[tuple[str, os.stat_result]]


def listed(folder: MadeFolder, supplier_id: int, parts: Parts) -> Entries:
    """Return the files of a generated folder. Raises Missing for a folder within it."""
    if len(parts) > 1:
        raise Missing(f"There is no folder {parts[-1]}.")
    return sorted((name, make().status) for name, make in folder.files(supplier_id).items())


def status_of(folder: MadeFolder, supplier_id: int, parts: Parts) -> os.stat_result:
    """Return the status of a generated file or folder. Raises Missing."""
    if len(parts) == 1:
        return folder.status
    return folder.file(supplier_id, parts).status


def opened(folder: MadeFolder, supplier_id: int, parts: Parts) -> MadeHandle:
    """Open a generated file. Raises Missing."""
    return MadeHandle(folder.file(supplier_id, parts))


def with_made(entries: Entries) -> Entries:
    """Add the generated folders to the entries of an area's root."""
    made = made_folders()
    stored = [(name, status) for name, status in entries if name not in made]
    return sorted([*stored, *((name, folder.status) for name, folder in made.items())])


class MadeHandle(paramiko.SFTPHandle):  # type: ignore[misc]
    """A generated file open for reading, with the content of the moment of opening."""

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
        raise NotAllowed("This file was opened for reading.")

    def stat(self) -> paramiko.SFTPAttributes:
        return attributes("", self._made.status, read_only=True)

    def chattr(self, attr: paramiko.SFTPAttributes) -> int:
        raise NotAllowed("This file was opened for reading.")

    def sync(self) -> None:
        """Do nothing: no written bytes wait."""

    def close(self) -> None:
        """Do nothing: the file is only in memory."""
