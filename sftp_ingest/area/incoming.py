"""Uploads in progress: hidden until they are complete, and then recorded (contract 8).

The login can resume an interrupted upload for a day.
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
from sftp_ingest.area.publishing import publish
from sftp_ingest.area.received_chunks import ReceivedChunks
from sftp_ingest.blobs.store import CannotResume, Reader, Writer
from sftp_ingest.blobs.stores import store_for_new
from sftp_ingest.database import own_connection
from sftp_ingest.errors import Refused
from sftp_ingest.models import Blob, OpenUpload, SftpLogin, Upload

MIN_FREE_DISK = 256 * 1024**2  # the bytes that uploads leave free on the disk
# Save a checkpoint after this many bytes or seconds, so that another server can resume the upload there.
KEEP_EVERY_BYTES, KEEP_EVERY_SECONDS = 8 * 1024**2, 10.0
WHOLE = "A part of a file cannot be changed. Put the whole file. Only an interrupted upload can be resumed."
PUT_AGAIN = "Bytes that another server received cannot be changed. Put the whole file again."


@dataclass(frozen=True)
class OpenMode:
    """How a client opened a file for writing."""

    session: object = None  # the client's session, which can read and rename the open file
    truncated: bool = True
    seen: int = 0  # the size that the client saw, if it did not truncate the file
    resumes: bool = False  # whether the client saw an unfinished upload


class IncomingFile:
    """An upload in progress. `finish` makes the file appear. `cut` keeps the received bytes for resuming.

    A client that opened the file without truncating it writes the whole file again, as scp does, or resumes a
    cut upload (`reput`). A whole file may be shorter than the old file only if the client sets its size.
    """

    def __init__(self, login: SftpLogin, parts: Parts, address: str, mode: OpenMode | None = None) -> None:
        self.login, self.parts, self.address = login, parts, address
        self.mode = mode or OpenMode()
        self.size = self._hashed = self._kept_at = 0
        self._heard_at = self._opened_at = time.monotonic()
        self._times: tuple[int, int] | None = None
        self._truncated, self._begun, self._ended = self.mode.truncated, False, False
        self._digest, self._chunks = hashlib.sha256(), ReceivedChunks()
        self._error: Refused | OSError | None = None
        self._lock = threading.RLock()  # another session's thread may resume this upload
        self._writer: Writer | None = None
        self._row: OpenUpload | None = None
        _check_disk()
        open_uploads.add(self)

    @property
    def whole_to(self) -> int:  # the position at which a cut upload resumes
        return self._chunks.whole_to

    @property
    def shown_size(self) -> int:
        """The size that the writing client sees."""
        return self.mode.seen if self.untouched else self.size

    @property
    def status(self) -> os.stat_result:
        """The status that the writing client sees."""
        accessed, modified = self._times or (time.time(), time.time())
        return os.stat_result((stat.S_IFREG, 0, 0, 1, 0, 0, self.shown_size, accessed, modified, modified))

    def reader(self) -> Reader | None:
        """Return a reader of the received bytes, or None if nothing was received."""
        with self._lock:
            return self._writer.reader() if self._writer and not self._ended else None

    def write(self, offset: int, data: bytes) -> None:
        """Write a chunk. Raises Refused or OSError. After an error, the upload cannot be finished."""
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
            self._chunks.add(offset, offset + len(data))
            if offset == self._hashed:
                self._digest.update(data)
                self._hashed += len(data)
            elif offset < self._hashed:  # hashed bytes have changed, so hash the whole file at the end
                self._hashed = -1
            self._checkpoint_if_due()

    def read(self, offset: int, length: int) -> bytes:
        reader = self.reader()
        if reader is None:
            return b""
        try:
            return reader.read(offset, length)
        finally:
            reader.close()

    def sync(self) -> None:
        """Write the received bytes to durable storage. Raises OSError."""
        with self._lock:
            if self._writer and not self._ended:
                self._writer.sync()

    def set_size(self, size: int) -> None:
        """Truncate the file. Raises Refused for a size beyond its end."""
        with self._lock:
            if size > self.size:
                raise Refused(WHOLE)
            self._shrink(size)
            self._truncated = True

    def set_times(self, accessed: int, modified: int) -> None:
        """Set the times of the file in seconds since 1970."""
        self._times = accessed, modified

    @own_connection()
    def rename(self, parts: Parts) -> None:
        """Change the name under which the file will appear."""
        with self._lock:
            open_uploads.remove(self)
            self.parts = parts
            open_uploads.add(self)
            if self._row:
                self._row.path = join_path(parts)
                cut_uploads.update(self._row, path=self._row.path)

    @property
    def untouched(self) -> bool:
        """Whether the file was opened without truncating it, and nothing was written."""
        return not (self._truncated or self._begun or self._error)

    def finish(self) -> Upload | None:
        """Give the file its name and record the upload, in one transaction. Raises Refused, OSError.

        Return None if the client did not change the file, or if the upload has ended already.
        """
        with self._lock:
            unchanged = self.untouched and not self._resume(self.mode.seen, also_open=False)
            if unchanged or (self._ended and not self._error):
                return None
            try:
                upload = self._publish()
            except BaseException as error:
                self._error = self._error or OSError(str(error))
                raise
            self._end()
            return upload

    def _publish(self) -> Upload:
        self._refuse_incomplete()
        writer, row = self._start()
        with own_connection():
            cut_uploads.update(row, heard_at=Now())  # fails if another connection has resumed the upload
        writer.complete(self.size)
        upload = Upload(
            supplier_id=self.login.supplier_id,
            path=join_path(self.parts),
            size=self.size,
            sha256=self._digest.hexdigest() if self._hashed == self.size else contents.sha256_of(row.blob),
            remote_address=self.address,
        )
        with own_connection():
            publish(upload, row, self.parts, self._times)
            cut_uploads.drop(self.login, self.parts)
        return upload

    def _refuse_incomplete(self) -> None:
        if self._error:
            raise self._error
        if not self._truncated and self.size < self.mode.seen:
            raise Refused(WHOLE)
        if self.whole_to < self.size:
            raise Refused(f"The bytes from {self.whole_to} on are missing. Send the file again.")

    def cut(self) -> None:
        """Keep the bytes before the first gap for resuming, unless the upload is finished or has failed."""
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
            except DatabaseError:  # the row still has the last checkpoint, which can be resumed
                self._end()
                raise
            except (OSError, Refused) as error:
                self._error = error
                self.discard()
                raise
            self._end()

    def discard(self) -> None:
        """Discard the file, unless it is finished."""
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
        """Keep the received bytes for another connection, which resumes the upload."""
        with self._lock:
            if not self._ended and not self._error:
                self.cut()
                self._error = cut_uploads.TakenUp()

    def _end(self) -> None:
        self._ended = True
        open_uploads.remove(self)

    def _start(self) -> tuple[Writer, OpenUpload]:
        """Return the writer and the row of this upload. The first call creates them."""
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
        """Decide at the first chunk whether this is a new file or continues a cut upload."""
        if self._ended:
            raise self._error or Refused("This upload has ended. Start a new upload.")
        if not self._begun:
            self._begun = True
            if not offset:
                self._forget_cut()
            elif self._resume(offset, also_open=True):
                return
        if self.mode.seen and not self._truncated and offset > self.size:
            raise Refused(WHOLE)  # the bytes of the gap are only in the old file, which is not copied

    @own_connection()
    def _forget_cut(self) -> None:
        cut_uploads.drop(self.login, self.parts)

    @own_connection()
    def _resume(self, offset: int, *, also_open: bool) -> bool:
        """Resume a cut upload (or an open upload if `also_open`) at `offset`. Return whether it worked."""
        if self._truncated or not self.mode.resumes:
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
        self._chunks, self._hashed = ReceivedChunks(self.size), -1
        self._shrink(offset)
        return True

    def _shrink(self, size: int) -> None:
        if size < self.size and self._writer:
            try:
                self._writer.cut_to(size)
            except CannotResume as error:
                raise Refused(PUT_AGAIN) from error
            self.size = size
            self._kept_at = min(self._kept_at, size)
            self._chunks.cut(size)
            self._hashed = -1
        if not size:
            self._digest, self._hashed = hashlib.sha256(), 0

    def _write(self, offset: int, data: bytes) -> None:
        writer, _ = self._start()
        try:
            writer.write(offset, data)
        except CannotResume as error:
            raise Refused(PUT_AGAIN) from error

    def _grow(self, size: int) -> None:
        if size <= self.size:
            return
        if size > self.login.largest_file_bytes:
            raise Refused(f"The file is too large. The maximum is {self.login.largest_file_bytes} bytes.")
        _, row = self._start()
        if size > row.reserved_bytes:
            with own_connection():
                quota.reserve(row, size - row.reserved_bytes, self.login.quota_bytes)
        self.size = size

    def _checkpoint_if_due(self) -> None:
        """Save a checkpoint in the store and the upload's row. Ignore database errors."""
        now, whole_to = time.monotonic(), self.whole_to
        if whole_to - self._kept_at < KEEP_EVERY_BYTES and now - self._heard_at < KEEP_EVERY_SECONDS:
            return
        self._kept_at, self._heard_at = whole_to, now
        writer, row = self._start()
        try:
            _check_disk()
            checkpoint = writer.checkpoint(whole_to)
            with suppress(DatabaseError), own_connection():
                fields = {"kept_size": checkpoint.size, "kept_notes": checkpoint.state}
                cut_uploads.update(row, **fields, heard_at=Now())
        except (Refused, OSError) as error:
            self._error = error
            raise


def _check_disk() -> None:
    if store_for_new().free_bytes() < MIN_FREE_DISK:
        raise Refused("The disk of this service is full. Try again after its operators have made room.")


open_uploads: OpenUploads[IncomingFile] = OpenUploads()
