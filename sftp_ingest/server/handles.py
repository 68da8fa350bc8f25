"""Handles of open files and folders."""

from __future__ import annotations

import itertools
import logging
import os

import paramiko
from django.db import Error as DatabaseError

from sftp_ingest.area.incoming import IncomingFile
from sftp_ingest.blobs.store import Reader
from sftp_ingest.errors import NotAllowed, Refused
from sftp_ingest.server.attributes import attributes

logger = logging.getLogger(__name__)

MAX_READ = 256 * 1024
MAX_OFFSET = 2**63 - 1


class FolderHandle(paramiko.SFTPHandle):  # type: ignore[misc]
    """An open folder, with the entries that it had when it was opened."""

    def __init__(self, entries: list[paramiko.SFTPAttributes]) -> None:
        super().__init__()
        self._entries = iter(entries)

    def next(self, most: int) -> list[paramiko.SFTPAttributes]:
        return list(itertools.islice(self._entries, most))


class ReadHandle(paramiko.SFTPHandle):  # type: ignore[misc]
    """A file open for reading, in the version that it had when it was opened."""

    def __init__(self, reader: Reader | None, status: os.stat_result) -> None:
        """Use this reader. None means that the file is empty."""
        super().__init__()
        self._reader, self._status = reader, status

    def read(self, offset: int, length: int) -> bytes:
        if self._reader is None:
            return b""
        return self._reader.read(min(offset, MAX_OFFSET), min(length, MAX_READ))

    def write(self, offset: int, data: bytes) -> int:
        raise NotAllowed("This file was opened for reading.")

    def stat(self) -> paramiko.SFTPAttributes:
        return attributes("", self._status)

    def chattr(self, attr: paramiko.SFTPAttributes) -> int:
        raise NotAllowed("This file was opened for reading.")

    def sync(self) -> None:
        """Do nothing, because this handle only reads."""

    def close(self) -> None:
        if self._reader:
            self._reader.close()


class UploadHandle(paramiko.SFTPHandle):  # type: ignore[misc]
    """A file open for writing. The client's CLOSE finishes the upload; a missing CLOSE cuts the upload."""

    def __init__(self, incoming: IncomingFile) -> None:
        super().__init__()
        self._incoming = incoming
        self._finished = False

    def read(self, offset: int, length: int) -> bytes:
        return self._incoming.read(min(offset, MAX_OFFSET), min(length, MAX_READ))

    def write(self, offset: int, data: bytes) -> int:
        self._incoming.write(offset, data)
        return int(paramiko.SFTP_OK)

    def stat(self) -> paramiko.SFTPAttributes:
        return attributes("", self._incoming.status)

    def chattr(self, attr: paramiko.SFTPAttributes) -> int:
        """Set times (`put -p`) and truncate. Modes have no effect."""
        if attr._flags & attr.FLAG_SIZE:
            self._incoming.set_size(attr.st_size)
        if attr._flags & attr.FLAG_AMTIME:
            self._incoming.set_times(attr.st_atime, attr.st_mtime)
        return int(paramiko.SFTP_OK)

    def sync(self) -> None:
        self._incoming.sync()

    def finish(self) -> None:
        """Give the file its name and record the upload. Raises Refused, OSError, a database error."""
        upload = self._incoming.finish()
        self._finished = True
        if upload:
            logger.info("SFTP upload of %s: %r, %d bytes", self._incoming.login, upload.path, upload.size)

    def close(self) -> None:
        """Keep the file for resuming. Log errors instead of raising, so that all files are closed."""
        try:
            self._incoming.cut()
        except (OSError, Refused, DatabaseError):
            logger.exception("an upload of %s cannot be kept for resuming", self._incoming.login)
        if not self._finished:
            logger.warning("SFTP upload of %s not finished: %r", self._incoming.login, self._incoming.parts)
