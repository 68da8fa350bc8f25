"""Open files, as SFTP sees them."""

from __future__ import annotations

import logging
import os

import paramiko

from sftp_ingest.area.incoming import IncomingFile
from sftp_ingest.errors import Forbidden
from sftp_ingest.server.attributes import attributes

logger = logging.getLogger(__name__)

MAX_READ = 256 * 1024


class ReadHandle(paramiko.SFTPHandle):  # type: ignore[misc]
    """A file being read: the version that was there when it was opened."""

    def __init__(self, file: int) -> None:
        super().__init__()
        self._file = file

    def read(self, offset: int, length: int) -> bytes:
        return os.pread(self._file, min(length, MAX_READ), min(offset, 2**63 - 1))

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


class UploadHandle(paramiko.SFTPHandle):  # type: ignore[misc]
    """A file being written. Only a CLOSE by the client finishes it; the end of the session drops it."""

    def __init__(self, incoming: IncomingFile) -> None:
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
        """Modes and times (`put -p`) are accepted without effect; a size only as it is."""
        if attr._flags & attr.FLAG_SIZE:
            self._incoming.set_size(attr.st_size)
        return int(paramiko.SFTP_OK)

    def finish(self) -> None:
        """Let the file appear and be recorded. Raises Refused, OSError, a database error."""
        if self._incoming.untouched:
            self._finished = True
            return
        upload = self._incoming.finish()
        self._finished = True
        logger.info("SFTP upload of %s: %r, %d bytes", self._incoming.login, upload.path, upload.size)

    def close(self) -> None:
        self._incoming.discard()
        if not self._finished:
            logger.warning("SFTP upload of %s not finished: %r", self._incoming.login, self._incoming.parts)
