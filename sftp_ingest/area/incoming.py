"""Uploads that are not finished: hidden until they are whole, recorded when they appear (contract 8).

What was cut is kept for its login, who may go on with it for a day (contract 13).
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import threading
import time
from contextlib import suppress
from dataclasses import dataclass

from django.db import Error as DatabaseError
from django.db import transaction
from django.db.models.functions import Now

from sftp_ingest.area import contents, cut_uploads, quota
from sftp_ingest.area.open_uploads import OpenUploads
from sftp_ingest.area.paths import Parts, join_path
from sftp_ingest.area.pieces import Pieces
from sftp_ingest.area.publishing import publish
from sftp_ingest.blobs.store import CannotGoOn, Reader, Writer
from sftp_ingest.blobs.stores import store_for_new
from sftp_ingest.database import own_connection
from sftp_ingest.errors import Refused
from sftp_ingest.models import Blob, OpenUpload, SftpLogin, Upload

MIN_FREE_DISK = 256 * 1024**2  # bytes of the disk that uploads leave free
# So often what came is kept, for another server to go on with if this one dies.
KEEP_EVERY_BYTES, KEEP_EVERY_SECONDS = 8 * 1024**2, 10.0
WHOLE = "Files are put whole: none is appended to or changed in part. Only an upload that was cut is resumed."
ANEW = "What came of this upload by another server cannot be changed. Put the file anew."


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
        self.size = self._hashed = self._kept_at = 0
        self._heard_at = self._opened_at = time.monotonic()
        self._times: tuple[int, int] | None = None
        self._truncated, self._begun, self._ended = self.opened.truncated, False, False
        self._digest, self._pieces = hashlib.sha256(), Pieces()
        self._error: Refused | OSError | None = None
        self._lock = threading.RLock()  # another session may want to go on with it
        self._writer: Writer | None = None
        self._row: OpenUpload | None = None
        _check_disk()
        open_uploads.add(self)

    @property
    def whole_to(self) -> int:
        """How many bytes came without a gap: where a cut upload goes on."""
        return self._pieces.whole_to

    @property
    def shown_size(self) -> int:
        """Its size, as the client that writes it sees it."""
        return self.opened.seen if self.untouched else self.size

    @property
    def status(self) -> os.stat_result:
        """What the client that writes it sees of it."""
        accessed, modified = self._times or (time.time(), time.time())
        return os.stat_result((stat.S_IFREG, 0, 0, 1, 0, 0, self.shown_size, accessed, modified, modified))

    def reader(self) -> Reader | None:
        """For reading what came so far; None when nothing did."""
        with self._lock:
            return self._writer.reader() if self._writer and not self._ended else None

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
            except DatabaseError as error:
                self._error = OSError(str(error))
                raise
            self._pieces.add(offset, offset + len(data))
            if offset == self._hashed:
                self._digest.update(data)
                self._hashed += len(data)
            elif offset < self._hashed:  # written over: read it all again in the end
                self._hashed = -1
            self._keep_now_and_then()

    def read(self, offset: int, length: int) -> bytes:
        reader = self.reader()
        if reader is None:
            return b""
        try:
            return reader.read(offset, length)
        finally:
            reader.close()

    def sync(self) -> None:
        """Let what came survive the machine. Raises OSError."""
        with self._lock:
            if self._writer and not self._ended:
                self._writer.sync()

    def set_size(self, size: int) -> None:
        """Drop what there is beyond that size. Raises Refused for one that the file does not have yet."""
        with self._lock:
            if size > self.size:
                raise Refused(WHOLE)
            self._shrink(size)
            self._truncated = True

    def set_times(self, accessed: int, modified: int) -> None:
        """Set its times, in seconds since 1970."""
        self._times = accessed, modified

    @own_connection()
    def rename(self, parts: Parts) -> None:
        """Let it appear under another name."""
        with self._lock:
            open_uploads.remove(self)
            self.parts = parts
            open_uploads.add(self)
            if self._row:
                self._row.path = join_path(parts)
                cut_uploads.update(self._row, path=self._row.path)

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
            if left or (self._ended and not self._error):
                return None
            try:
                upload = self._publish()
            except BaseException as error:
                self._error = self._error or OSError(str(error))
                raise
            self._end()
            return upload

    def _publish(self) -> Upload:
        self._refuse_half()
        writer, row = self._start()
        with own_connection():
            cut_uploads.update(row, heard_at=Now())  # or another connection has gone on with it
        writer.complete(self.size)
        upload = Upload(
            supplier_id=self.login.supplier_id,
            path=join_path(self.parts),
            size=self.size,
            sha256=self._sha256(row.blob),
            remote_address=self.address,
        )
        with own_connection():
            publish(upload, row, self.parts, self._times)
            cut_uploads.drop(self.login, self.parts)
        return upload

    def _refuse_half(self) -> None:
        if self._error:
            raise self._error
        if not self._truncated and self.size < self.opened.seen:
            raise Refused(WHOLE)
        if self.whole_to < self.size:
            raise Refused(f"Bytes from number {self.whole_to} on never came.")

    def _sha256(self, blob: Blob) -> str:
        return self._digest.hexdigest() if self._hashed == self.size else contents.sha256_of(blob)

    def cut(self) -> None:
        """Keep what came without a gap, unless the file is finished or was refused."""
        with self._lock:
            if self._ended:
                return
            if self._error or not self.whole_to or not self._writer or not self._row:
                self.discard()
                return
            try:
                cut = self._writer.keep(self.whole_to)
                with own_connection():
                    cut_uploads.keep(self._row, cut)
            except DatabaseError:  # the row says what was kept before, and that will be taken up
                self._end()
                raise
            except (OSError, Refused) as error:
                self._error = error
                self.discard()
                raise
            self._end()

    def discard(self) -> None:
        """Forget the file, unless it is finished."""
        with self._lock:
            if self._ended:
                return
            self._end()
            if self._writer and self._row:
                if isinstance(self._error, cut_uploads.TakenUp):
                    self._writer.leave()
                    return
                self._writer.discard()
                with own_connection():
                    cut_uploads.forget(self._row)

    def hand_over(self) -> None:
        """Leave to another connection what came so far."""
        with self._lock:
            if not self._ended and not self._error:
                self.cut()
                self._error = cut_uploads.TakenUp()

    def _end(self) -> None:
        self._ended = True
        open_uploads.remove(self)

    def _start(self) -> tuple[Writer, OpenUpload]:
        """The writer and the row of this upload, made when they are first needed."""
        if self._writer is None or self._row is None:
            store = store_for_new()
            with own_connection(), transaction.atomic():
                self._row = OpenUpload.objects.create(
                    blob=Blob.objects.create(store=store.name),
                    supplier_id=self.login.supplier_id,
                    login=self.login,
                    path=join_path(self.parts),
                    holder=secrets.token_hex(16),
                )
            self._writer = store.create(self._row.pk)
        return self._writer, self._row

    def _begin(self, offset: int) -> None:
        """See what the first piece means: a new file, or the rest of an upload that was cut."""
        if self._ended:
            raise self._error or Refused("This upload has ended.")
        if not self._begun:
            self._begun = True
            if not offset:
                self._forget_cut()
            elif self._take_up(offset, also_open=True):
                return
        if self.opened.seen and not self._truncated and offset > self.size:
            raise Refused(WHOLE)  # what is not written would be the former content, which is not here

    @own_connection()
    def _forget_cut(self) -> None:
        cut_uploads.drop(self.login, self.parts)

    @own_connection()
    def _take_up(self, offset: int, *, also_open: bool) -> bool:
        """Go on with the login's cut upload at that byte, if it came so far."""
        if self._truncated or not self.opened.resumes:
            return False
        if also_open:
            for other in open_uploads.at(self.login, self.parts):
                if other is not self and other.whole_to >= offset:
                    other.hand_over()
                    break
        row = cut_uploads.find(self.login, self.parts)
        writer = cut_uploads.take(row, secrets.token_hex(16)) if row and row.kept_size >= offset else None
        if row is None or writer is None:
            return False
        self._row, self._writer = row, writer
        self.size = self._kept_at = row.kept_size
        self._pieces, self._hashed = Pieces(self.size), -1
        self._shrink(offset)
        return True

    def _shrink(self, size: int) -> None:
        if size < self.size and self._writer:
            try:
                self._writer.cut_to(size)
            except CannotGoOn as error:
                raise Refused(ANEW) from error
            self.size = size
            self._kept_at = min(self._kept_at, size)
            self._pieces.cut(size)
            self._hashed = -1
        if not size:
            self._digest, self._hashed = hashlib.sha256(), 0

    def _write(self, offset: int, data: bytes) -> None:
        writer, _ = self._start()
        try:
            writer.write(offset, data)
        except CannotGoOn as error:
            raise Refused(ANEW) from error

    def _grow(self, size: int) -> None:
        if size <= self.size:
            return
        if size > self.login.largest_file_bytes:
            raise Refused(f"A file may have {self.login.largest_file_bytes} bytes at most.")
        _, row = self._start()
        if size > row.reserved_bytes:
            with own_connection():
                quota.reserve(row, size - row.reserved_bytes, self.login.quota_bytes)
        self.size = size

    def _keep_now_and_then(self) -> None:
        """Let the store keep what came, and the row say so. While the database is away it says it later."""
        now, whole_to = time.monotonic(), self.whole_to
        if whole_to - self._kept_at < KEEP_EVERY_BYTES and now - self._heard_at < KEEP_EVERY_SECONDS:
            return
        self._kept_at, self._heard_at = whole_to, now
        writer, row = self._start()
        try:
            _check_disk()
            kept = writer.checkpoint(whole_to)
            with suppress(DatabaseError), own_connection():
                fields = {"kept_size": kept.size, "kept_notes": kept.state}
                cut_uploads.update(row, **fields, heard_at=Now())
        except (Refused, OSError) as error:
            self._error = error
            raise


def _check_disk() -> None:
    if store_for_new().free_bytes() < MIN_FREE_DISK:
        raise Refused("The disk of this service is full. Its operators must make room first.")


open_uploads: OpenUploads[IncomingFile] = OpenUploads()
