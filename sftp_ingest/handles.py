"""Open files, as SFTP sees them."""

from __future__ import annotations

import logging
import os

import paramiko

from sftp_ingest.attributes import attributes
from sftp_ingest.errors import Forbidden, Refused
from sftp_ingest.incoming import Incoming

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 256 * 1024


class Reading(paramiko.SFTPHandle):  # type: ignore[misc]
    """A file being got: the version that was there when it was opened."""

    def __init__(self, file: int) -> None:
        super().__init__()
        self._file = file

    def read(self, offset: int, length: int) -> bytes:
        return os.pread(self._file, min(length, MOST_AT_ONCE), min(offset, 2**63 - 1))

    def write(self, offset: int, data: bytes) -> int:
        raise Forbidden("This file was opened for reading.")

    def stat(self) -> paramiko.SFTPAttributes:
        return attributes("", os.fstat(self._file))

    def chattr(self, attr: paramiko.SFTPAttributes) -> int:
        raise Forbidden("This file was opened for reading.")

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class Receiving(paramiko.SFTPHandle):  # type: ignore[misc]
    """A file being put. Only a real CLOSE finishes it; the end of the session only closes it."""

    def __init__(self, incoming: Incoming) -> None:
        super().__init__()
        self._incoming = incoming
        self._finished = False

    def read(self, offset: int, length: int) -> bytes:
        raise Forbidden("This file was opened for writing.")

    def write(self, offset: int, data: bytes) -> int:
        self._incoming.write(offset, data)
        return int(paramiko.SFTP_OK)

    def stat(self) -> paramiko.SFTPAttributes:
        return attributes("", os.stat(self._incoming.temporary))

    def chattr(self, attr: paramiko.SFTPAttributes) -> int:
        """Modes and times are taken note of politely (`put -p`); a size would cut the file."""
        if attr._flags & attr.FLAG_SIZE and attr.st_size != self._incoming.size:
            raise Refused("Files are put whole: their size cannot be set.")
        return int(paramiko.SFTP_OK)

    def finish(self) -> None:
        """Let the file appear and be recorded. Raises Refused, OSError, a database error."""
        upload = self._incoming.finish()
        self._finished = True
        logger.info("SFTP upload of %s: %r, %d bytes", self._incoming.login, upload.path, upload.size)

    def close(self) -> None:
        self._incoming.discard()
        if not self._finished:
            logger.warning("SFTP upload of %s given up: %r", self._incoming.login, self._incoming.parts)
