"""Uploads that are not finished: hidden until they are whole, recorded when they appear (contract 8)."""

from __future__ import annotations

import fcntl
import hashlib
import os

from sftp_ingest.area.files import Area
from sftp_ingest.area.paths import Parts, join_path
from sftp_ingest.area.publishing import publish, sha256_of
from sftp_ingest.area.quota import usage_counter
from sftp_ingest.area.unfinished import unfinished_path
from sftp_ingest.errors import Refused
from sftp_ingest.models import SftpLogin, Upload

MIN_FREE_DISK = 256 * 1024**2  # bytes of the disk that uploads leave free
CHECK_DISK_EVERY = 16 * 1024**2
WHOLE = "Files are put whole: none is appended to, resumed, or changed in part."


class IncomingFile:
    """One file being put. `finish` makes it appear; `discard` (safe at any time) forgets what is left.

    With `over`, the size of a file that the client opened without truncating it (as scp does): then it must
    be written from its start on, and up to where the client sets its size or to its former size at least.
    """

    def __init__(self, login: SftpLogin, parts: Parts, address: str, *, over: int | None = None) -> None:
        self.login, self.parts, self.address = login, parts, address
        self.area = Area(login.supplier_id)
        self.size = self._hashed = self._disk_checked_at = 0
        self._over, self._truncated = over, over is None
        self._digest = hashlib.sha256()
        self._error: Refused | OSError | None = None
        self.temporary = unfinished_path()
        self._check_disk()
        self.area.prepare()
        self._file = os.open(self.temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o640)
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        usage_counter.begin_upload(self.area)

    def write(self, offset: int, data: bytes) -> None:
        """Take a piece. Raises Refused or OSError when it does not fit; the file is then never finished."""
        try:
            self._refuse_gap(offset)
            self._grow(offset + len(data))
            self._write(offset, data)
        except (Refused, OSError) as error:
            self._error = error
            raise
        if offset == self._hashed:
            self._digest.update(data)
            self._hashed += len(data)
        elif offset < self._hashed:  # written over: read it all again in the end
            self._hashed = -1

    def _write(self, offset: int, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            written = os.pwrite(self._file, rest, offset)
            rest, offset = rest[written:], offset + written

    def set_size(self, size: int) -> None:
        """Drop what a former version had beyond that size. Raises Refused for any size but the present."""
        if size != self.size:
            raise Refused(WHOLE)
        self._truncated = True

    @property
    def untouched(self) -> bool:
        """Whether the file was opened without truncating it, and then left as it was."""
        return not (self._truncated or self.size or self._error)

    def finish(self) -> Upload:
        """Let the file appear under its name, and record it: both, or neither. Raises Refused, OSError."""
        if self._error:
            raise self._error
        if not self._truncated and self.size < (self._over or 0):
            raise Refused(WHOLE)
        os.fsync(self._file)
        upload = Upload(
            supplier_id=self.login.supplier_id,
            path=join_path(self.parts),
            size=self.size,
            sha256=self._sha256(),
            remote_address=self.address,
        )
        replaced_size = publish(upload, self.area, self.parts, self.temporary)
        self._end(freed=replaced_size)
        return upload

    def discard(self) -> None:
        """Forget the file, unless it is finished."""
        if self._file >= 0:
            self.temporary.unlink(missing_ok=True)
            self._end(freed=self.size)

    def _end(self, freed: int) -> None:
        os.close(self._file)
        self._file = -1
        usage_counter.end_upload(self.area, freed)

    def _refuse_gap(self, offset: int) -> None:
        """What is not written would be the former content, which is not here."""
        if self._over is not None and offset > self.size:
            raise Refused(WHOLE)

    def _grow(self, size: int) -> None:
        growth = size - self.size
        if growth <= 0:
            return
        if size > self.login.largest_file_bytes:
            raise Refused(f"A file may have {self.login.largest_file_bytes} bytes at most.")
        usage_counter.add(self.area, growth, self.login.quota_bytes)
        self.size = size
        if size - self._disk_checked_at > CHECK_DISK_EVERY:
            self._disk_checked_at = size
            self._check_disk()

    def _check_disk(self) -> None:
        disk = os.statvfs(self.temporary.parent)
        if disk.f_bavail * disk.f_frsize < MIN_FREE_DISK:
            raise Refused("The disk of this service is full. Its operators must make room first.")

    def _sha256(self) -> str:
        if self._hashed == self.size:
            return self._digest.hexdigest()
        return sha256_of(self._file)
