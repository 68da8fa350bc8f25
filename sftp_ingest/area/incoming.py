"""Uploads that are not finished: hidden until they are whole, recorded when they appear (contract 8).

What was cut is kept for its login, who may go on with it for a day (contract 13).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
from dataclasses import dataclass

from sftp_ingest.area import cut_uploads
from sftp_ingest.area.files import Area
from sftp_ingest.area.open_uploads import OpenUploads
from sftp_ingest.area.paths import Parts, join_path
from sftp_ingest.area.pieces import Pieces
from sftp_ingest.area.publishing import publish, sha256_of
from sftp_ingest.area.quota import usage_counter
from sftp_ingest.area.unfinished import unfinished_path
from sftp_ingest.errors import Refused
from sftp_ingest.models import SftpLogin, Upload

MIN_FREE_DISK = 256 * 1024**2  # bytes of the disk that uploads leave free
CHECK_DISK_EVERY = 16 * 1024**2
WHOLE = "Files are put whole: none is appended to or changed in part. Only an upload that was cut is resumed."
TAKEN_UP = "Another connection of this login went on with this upload."


@dataclass(frozen=True)
class Opened:
    """How a client opened a file for writing."""

    session: object = None  # whose it is: within it, names and sizes of open files are those of the client
    truncated: bool = True
    seen: int = 0  # the size that the client saw there, if it did not truncate it
    resumes: bool = False  # whether what it saw was an upload that was cut, or is under way


class IncomingFile:
    """One file being put. `finish` makes it appear; `cut` (safe at any time) keeps what can be resumed.

    A file that the client opened without truncating it is written from its start on, up to where the client
    sets its size or to the size that it saw (scp); or it is an upload that was cut, and goes on (`reput`).
    """

    def __init__(self, login: SftpLogin, parts: Parts, address: str, opened: Opened | None = None) -> None:
        self.login, self.parts, self.address = login, parts, address
        self.opened = opened or Opened()
        self.area = Area(login.supplier_id)
        self.size = self._hashed = self._disk_checked_at = 0
        self._times: tuple[int, int] | None = None
        self._truncated, self._begun = self.opened.truncated, False
        self._digest, self._pieces = hashlib.sha256(), Pieces()
        self._error: Refused | OSError | None = None
        self._lock = threading.RLock()  # another session may want to go on with it
        self.temporary = unfinished_path()
        self._check_disk()
        self.area.prepare()
        self._file = os.open(self.temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o640)
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        usage_counter.begin_upload(self.area)
        open_uploads.add(self)

    @property
    def whole_to(self) -> int:
        """How many bytes came without a gap: where a cut upload goes on."""
        return self._pieces.whole_to

    @property
    def shown_size(self) -> int:
        """Its size, as the client that writes it sees it."""
        return self.opened.seen if self.untouched else self.size

    def reader(self) -> int:
        """A descriptor for reading what came so far; the caller closes it."""
        with self._lock:
            return os.open(self.temporary, os.O_RDONLY | os.O_CLOEXEC)

    def write(self, offset: int, data: bytes) -> None:
        """Take a piece. Raises Refused or OSError when it does not fit; the file is then never finished."""
        with self._lock:
            try:
                self._begin(offset)
                self._grow(offset + len(data))
                self._write(offset, data)
            except (Refused, OSError) as error:
                self._error = error
                raise
            self._pieces.add(offset, offset + len(data))
            if offset == self._hashed:
                self._digest.update(data)
                self._hashed += len(data)
            elif offset < self._hashed:  # written over: read it all again in the end
                self._hashed = -1

    def read(self, offset: int, length: int) -> bytes:
        return os.pread(self._file, length, offset)

    def sync(self) -> None:
        """Let what came survive the machine. Raises OSError."""
        os.fsync(self._file)

    def set_size(self, size: int) -> None:
        """Drop what there is beyond that size. Raises Refused for one that the file does not have yet."""
        with self._lock:
            if size > self.size:
                raise Refused(WHOLE)
            self._shrink(size)
            self._truncated = True

    def set_times(self, accessed: int, modified: int) -> None:
        """Set its times, in seconds since 1970. Raises OSError."""
        self._times = accessed, modified
        os.utime(self._file, self._times)

    def rename(self, parts: Parts) -> None:
        """Let it appear under another name."""
        with self._lock:
            open_uploads.remove(self)
            self.parts = parts
            open_uploads.add(self)

    @property
    def untouched(self) -> bool:
        """Whether the file was opened without truncating it, and then left as it was."""
        return not (self._truncated or self._begun or self._error)

    def finish(self) -> Upload | None:
        """Let the file appear under its name, and record it: both, or neither. Raises Refused, OSError.

        None when there was nothing to do: the file was opened and left as it was, or removed.
        """
        with self._lock:
            left = self.untouched and not self._take_up(self.opened.seen, also_open=False)
            if left or (self._file < 0 and not self._error):
                return None
            try:
                upload = self._record()
                replaced_size = publish(upload, self.area, self.parts, self.temporary)
            except BaseException as error:
                self._error = self._error or OSError(str(error))
                raise
            self._end(freed=replaced_size)
            self._forget_cut()
            return upload

    def _record(self) -> Upload:
        self._refuse_half()
        if self._times:  # writing has changed them
            os.utime(self._file, self._times)
        os.fsync(self._file)
        return Upload(
            supplier_id=self.login.supplier_id,
            path=join_path(self.parts),
            size=self.size,
            sha256=self._sha256(),
            remote_address=self.address,
        )

    def _refuse_half(self) -> None:
        if self._error:
            raise self._error
        if not self._truncated and self.size < self.opened.seen:
            raise Refused(WHOLE)
        if self.whole_to < self.size:
            raise Refused(f"Bytes from number {self.whole_to} on never came.")

    def cut(self) -> None:
        """Keep what came without a gap, unless the file is finished or was refused."""
        with self._lock:
            if self._file < 0:
                return
            if self._error or not self.whole_to:
                self.discard()
                return
            os.ftruncate(self._file, self.whole_to)
            self._forget_cut()
            try:
                cut_uploads.keep(self.temporary, self.login, self.parts)
            except OSError:
                self.discard()
                raise
            self._end(freed=self.size - self.whole_to)

    def discard(self) -> None:
        """Forget the file, unless it is finished."""
        with self._lock:
            if self._file >= 0:
                self.temporary.unlink(missing_ok=True)
                self._end(freed=self.size)

    def hand_over(self) -> None:
        """Leave to another connection what came so far."""
        with self._lock:
            if self._file >= 0 and not self._error:
                self.cut()
                self._error = Refused(TAKEN_UP)

    def _end(self, freed: int) -> None:
        os.close(self._file)
        self._file = -1
        open_uploads.remove(self)
        usage_counter.end_upload(self.area, freed)

    def _begin(self, offset: int) -> None:
        """See what the first piece means: a new file, or the rest of an upload that was cut."""
        if self._file < 0:
            raise self._error or Refused("This upload has ended.")
        if not self._begun:
            self._begun = True
            if not offset:
                self._forget_cut()
            elif self._take_up(offset, also_open=True):
                return
        if self.opened.seen and not self._truncated and offset > self.size:
            raise Refused(WHOLE)  # what is not written would be the former content, which is not here

    def _take_up(self, offset: int, *, also_open: bool) -> bool:
        """Go on with the login's cut upload at that byte, if it came so far."""
        if self._truncated or not self.opened.resumes:
            return False
        if also_open:
            for other in open_uploads.at(self.login, self.parts):
                if other is not self and other.whole_to >= offset:
                    other.hand_over()
                    break
        status = cut_uploads.find(self.login, self.parts)
        taken = cut_uploads.take(self.login, self.parts) if status and status.st_size >= offset else None
        if taken is None:
            return False
        self.temporary.unlink(missing_ok=True)
        os.close(self._file)
        self._file, self.temporary = taken
        self.size = os.fstat(self._file).st_size
        self._pieces, self._hashed = Pieces(self.size), -1
        self._shrink(offset)
        return True

    def _shrink(self, size: int) -> None:
        if size < self.size:
            os.ftruncate(self._file, size)
            usage_counter.subtract(self.area, self.size - size)
            self.size = size
            self._pieces.cut(size)
            self._hashed = -1
        if not size:
            self._digest, self._hashed = hashlib.sha256(), 0

    def _forget_cut(self) -> None:
        usage_counter.subtract(self.area, cut_uploads.drop(self.login, self.parts) or 0)

    def _write(self, offset: int, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            written = os.pwrite(self._file, rest, offset)
            rest, offset = rest[written:], offset + written

    def _grow(self, size: int) -> None:
        growth = size - self.size
        if growth <= 0:
            return
        if size > self.login.largest_file_bytes:
            raise Refused(f"A file may have {self.login.largest_file_bytes} bytes at most.")
        self._reserve(growth)
        self.size = size
        if size - self._disk_checked_at > CHECK_DISK_EVERY:
            self._disk_checked_at = size
            self._check_disk()

    def _reserve(self, growth: int) -> None:
        """Count bytes against the quota; uploads that were cut give way to those that go on."""
        try:
            usage_counter.add(self.area, growth, self.login.quota_bytes)
        except Refused:
            freed = cut_uploads.drop_all(self.login.supplier_id)
            if not freed:
                raise
            usage_counter.subtract(self.area, freed)
            usage_counter.add(self.area, growth, self.login.quota_bytes)

    def _check_disk(self) -> None:
        disk = os.statvfs(self.temporary.parent)
        if disk.f_bavail * disk.f_frsize < MIN_FREE_DISK:
            raise Refused("The disk of this service is full. Its operators must make room first.")

    def _sha256(self) -> str:
        if self._hashed == self.size:
            return self._digest.hexdigest()
        return sha256_of(self._file)


open_uploads: OpenUploads[IncomingFile] = OpenUploads()
