"""SFTP commands on folders with generated files."""

from __future__ import annotations

import os
from collections.abc import Callable

import paramiko

from sftp_ingest.area.made_files import MadeFile, MadeFolder, made_folders
from sftp_ingest.area.paths import Parts
from sftp_ingest.area.received_chunks import ReceivedChunks
from sftp_ingest.database import own_connection
from sftp_ingest.errors import Missing, NotAllowed
from sftp_ingest.server.attributes import attributes
from sftp_ingest.server.handles import MAX_OFFSET, MAX_READ

Entries = list[tuple[str, os.stat_result]]


def listed(folder: MadeFolder, supplier_id: int, parts: Parts) -> Entries:
    """Return the files and folders in a generated folder. Raises Missing for an unknown inner folder."""
    shown, rest = folder.within(parts)
    if rest:
        raise Missing(f"There is no folder {parts[-1]}.")
    folders = ((name, inner.status) for name, inner in shown.folders.items())
    return sorted([*folders, *((name, make().status) for name, make in shown.files(supplier_id).items())])


def status_of(folder: MadeFolder, supplier_id: int, parts: Parts) -> os.stat_result:
    """Return the status of a generated file or folder. Raises Missing."""
    shown, rest = folder.within(parts)
    if not rest:
        return shown.status
    return folder.file(supplier_id, parts).status


def opened(folder: MadeFolder, supplier_id: int, parts: Parts, check_login: Callable[[], None]) -> MadeHandle:
    """Open a generated file. Raises Missing."""
    return MadeHandle(folder.file(supplier_id, parts), check_login)


def with_made(entries: Entries) -> Entries:
    """Add the generated folders to the entries of an area's root."""
    made = made_folders()
    stored = [(name, status) for name, status in entries if name not in made]
    return sorted([*stored, *((name, folder.status) for name, folder in made.items())])


class MadeHandle(paramiko.SFTPHandle):  # type: ignore[misc]
    """An open handle of a generated file. The content is generated once, when the client opens the file."""

    def __init__(self, file: MadeFile, check_login: Callable[[], None]) -> None:
        super().__init__()
        self._made, self._check_login = file, check_login
        self._read, self._sent = False, ReceivedChunks()

    def read(self, offset: int, length: int) -> bytes:
        if not self._read:
            with own_connection():
                self._check_login()  # the first read changes data, for example it captures orders
                self._made.on_read()
            self._read = True
        start = min(offset, MAX_OFFSET)
        data = self._made.content[start : start + min(length, MAX_READ)]
        self._sent.add(start, start + len(data))
        return data

    def finish(self) -> None:
        """Handle the client's close. Call `on_finished` if all bytes were sent. Raises a database error."""
        if self._read and self._sent.whole_to == len(self._made.content):
            with own_connection():
                self._made.on_finished()

    def write(self, offset: int, data: bytes) -> int:
        raise NotAllowed("This file was opened for reading.")

    def stat(self) -> paramiko.SFTPAttributes:
        return attributes("", self._made.status, read_only=True)

    def chattr(self, attr: paramiko.SFTPAttributes) -> int:
        raise NotAllowed("This file was opened for reading.")

    def sync(self) -> None:
        """Do nothing, because this handle only reads."""

    def close(self) -> None:
        """Do nothing, because the file is only in memory."""
