"""Files on their way in: hidden until they are whole, recorded when they appear (contract 8)."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets

from django.db import transaction

from sftp_ingest.areas import Area
from sftp_ingest.database import own_connection
from sftp_ingest.errors import Refused
from sftp_ingest.ledger import ledger
from sftp_ingest.models import SftpLogin, Upload
from sftp_ingest.paths import Parts, joined
from sftp_ingest.placing import Placing, incoming_folder, sha256_of

FREE_ALWAYS = 256 * 1024**2  # bytes of the disk that uploads leave free
LOOK_AT_DISK_EVERY = 16 * 1024**2


class Incoming:
    """One file being put. `finish` makes it appear; `discard` (safe at any time) forgets what is left."""

    def __init__(self, login: SftpLogin, parts: Parts, address: str) -> None:
        self.login, self.parts, self.address = login, parts, address
        self.area = Area(login.supplier_id)
        self.size = self._hashed = self._looked_at = 0
        self._digest = hashlib.sha256()
        self._fault: Refused | OSError | None = None
        self.temporary = incoming_folder() / secrets.token_hex(16)
        self._look_at_disk()
        self.area.prepare()
        self._file = os.open(self.temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o640)
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        ledger.begin(self.area)

    def write(self, offset: int, data: bytes) -> None:
        """Take a piece. Raises Refused or OSError when it does not fit; the file is then never finished."""
        try:
            self._grow(offset + len(data))
            self._write(offset, data)
        except (Refused, OSError) as fault:
            self._fault = fault
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

    def finish(self) -> Upload:
        """Let the file appear under its name, and record it: both, or neither. Raises Refused, OSError."""
        if self._fault:
            raise self._fault
        os.fsync(self._file)
        upload = Upload(
            supplier_id=self.login.supplier_id,
            path=joined(self.parts),
            size=self.size,
            sha256=self._sha256(),
            remote_address=self.address,
        )
        placing = Placing(self.area, self.parts, self.temporary)
        with own_connection(), placing, transaction.atomic():
            upload.save()
            placing.place()
        self._end(given_back=placing.replaced_size)
        return upload

    def discard(self) -> None:
        """Forget the file, unless it is finished."""
        if self._file >= 0:
            self.temporary.unlink(missing_ok=True)
            self._end(given_back=self.size)

    def _end(self, given_back: int) -> None:
        os.close(self._file)
        self._file = -1
        ledger.end(self.area, given_back)

    def _grow(self, size: int) -> None:
        growth = size - self.size
        if growth <= 0:
            return
        if size > self.login.largest_file_bytes:
            raise Refused(f"A file may have {self.login.largest_file_bytes} bytes at most.")
        ledger.take(self.area, growth, self.login.quota_bytes)
        self.size = size
        if size - self._looked_at > LOOK_AT_DISK_EVERY:
            self._looked_at = size
            self._look_at_disk()

    def _look_at_disk(self) -> None:
        disk = os.statvfs(self.temporary.parent)
        if disk.f_bavail * disk.f_frsize < FREE_ALWAYS:
            raise Refused("The disk of this service is full. Its operators must make room first.")

    def _sha256(self) -> str:
        if self._hashed == self.size:
            return self._digest.hexdigest()
        return sha256_of(self._file)
