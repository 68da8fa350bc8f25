"""Blobs in S3-compatible storage, sent in parts during the upload and joined when they are complete."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from errno import ENOENT
from pathlib import Path
from typing import Any, TypeVar

from sftp_ingest.blobs.bucket import Bucket
from sftp_ingest.blobs.local import NEW, FileReader, delete_dead, write_at
from sftp_ingest.blobs.store import CannotResume, Checkpoint, ListedBlob, Reader, Store, Writer

PART_SIZE = 8 * 1024**2  # S3 requires at least 5 MiB and allows 10,000 parts: 80 GiB
READ_AHEAD = 4 * 1024**2

T = TypeVar("T")
_sending = ThreadPoolExecutor(max_workers=8, thread_name_prefix="s3")


class S3Reader(Reader):
    """A reader that fetches large ranges, because clients request many small ranges."""

    def __init__(self, bucket: Bucket, key: str, size: int) -> None:
        self._bucket, self._key, self._size = bucket, key, size
        self._start, self._data = 0, b""

    def read(self, offset: int, length: int) -> bytes:
        data = b""
        while len(data) < length and offset + len(data) < self._size:
            data += self._some(offset + len(data), length - len(data))
        return data

    def _some(self, offset: int, length: int) -> bytes:
        if not self._start <= offset < self._start + len(self._data):
            end = min(self._size, offset + max(length, READ_AHEAD))
            self._start, self._data = offset, self._bucket.get(self._key, offset, end)
        at = offset - self._start
        return self._data[at : at + length]

    def close(self) -> None:
        self._data = b""


class S3Writer(Writer):
    """A writer that collects chunks in a local file and sends complete parts, one after the other.

    Parts that another process sent are not in the local file, so they can be neither read nor changed.
    """

    def __init__(self, bucket: Bucket, key: str, folder: Path) -> None:
        self._bucket, self._key = bucket, key
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A file without a name disappears when this process ends, even after a crash.
        name = Path(tempfile.mktemp(dir=folder))  # noqa: S306 - O_EXCL
        self._file = os.open(name, NEW, 0o600)
        name.unlink()
        self._upload = ""
        self._parts: list[str] = []  # the tags of the sent parts
        self._start = 0  # the position of the first byte in the local file
        self._sending: Future[str] | None = None

    def resume(self, state: dict[str, Any], size: int) -> None:
        """Continue from a checkpoint. Raises OSError, CannotResume."""
        self._upload, self._parts = state.get("upload", ""), list(state.get("parts", []))
        self._start = len(self._parts) * PART_SIZE
        if size > self._start:
            tail = self._bucket.get(_tail(self._key), 0, size - self._start)
            if len(tail) < size - self._start:
                raise CannotResume
            write_at(self._file, self._start, tail)

    def write(self, offset: int, data: bytes) -> None:
        self._change(offset)
        write_at(self._file, offset, data)

    def reader(self) -> Reader:
        return FileReader(os.dup(self._file), self._start)

    def cut_to(self, size: int) -> None:
        self._change(size)
        os.ftruncate(self._file, size)

    def sync(self) -> None:
        """Do nothing, because bytes stay on this host until their part is complete."""

    def _change(self, offset: int) -> None:
        """Forget the sent parts from an offset on, because their bytes change."""
        if not offset:
            self._start = 0
        if offset < self._start:
            raise CannotResume
        if offset < self._sent + (PART_SIZE if self._sending else 0):
            self._wait()
            del self._parts[offset // PART_SIZE :]

    @property
    def _sent(self) -> int:
        return len(self._parts) * PART_SIZE

    def checkpoint(self, whole_to: int) -> Checkpoint:
        # Wait if a second complete part follows the part that is being sent, so that the checkpoint does not
        # fall far behind the upload.
        if self._sending and (self._sending.done() or whole_to >= self._sent + 2 * PART_SIZE):
            self._wait()
        if not self._sending and whole_to >= self._sent + PART_SIZE:
            self._sending = _sending.submit(self._send, len(self._parts), PART_SIZE)
        return self._checkpoint(self._sent)

    def _checkpoint(self, size: int) -> Checkpoint:
        return Checkpoint(size, {"upload": self._upload, "parts": self._parts[:]})

    def _send(self, index: int, size: int) -> str:
        if not self._upload:
            self._upload = self._bucket.begin(self._key)
        data = os.pread(self._file, size, index * PART_SIZE)
        return self._bucket.send_part(self._key, self._upload, index + 1, data)

    def _wait(self) -> None:
        if self._sending:
            sending, self._sending = self._sending, None
            self._parts.append(sending.result())

    def _send_whole_parts(self, size: int) -> None:
        self._wait()
        while size >= self._sent + PART_SIZE:
            self._parts.append(self._send(len(self._parts), PART_SIZE))

    def complete(self, size: int) -> None:
        self._send_whole_parts(size)
        rest = size - self._sent
        if self._parts:
            if rest:
                self._parts.append(self._send(len(self._parts), rest))
            self._bucket.complete(self._key, self._upload, self._parts)
        else:
            self._bucket.put(self._key, os.pread(self._file, size, 0))
            self._abort()
        self._bucket.delete(_tail(self._key))
        self._close()

    def keep(self, size: int) -> Checkpoint:
        self._send_whole_parts(size)
        if size > self._sent:
            self._bucket.put(_tail(self._key), os.pread(self._file, size - self._sent, self._sent))
        self._close()
        return self._checkpoint(size)

    def discard(self) -> None:
        with suppress(OSError):
            self._wait()
        if self._file >= 0:
            self._close()
            with suppress(OSError):
                self._abort()

    def leave(self) -> None:
        with suppress(OSError):
            self._wait()
        if self._file >= 0:
            self._close()

    def _abort(self) -> None:
        if self._upload:
            self._bucket.abort(self._key, self._upload)

    def _close(self) -> None:
        os.close(self._file)
        self._file = -1


class S3Store(Store):
    """A store in a bucket: objects `<prefix>/12345`, and `12345.tail` for bytes after the last sent part."""

    name = "s3"

    def __init__(self, bucket: Callable[[], Bucket], folder: Path) -> None:
        """`bucket` opens the bucket at its first use. `folder` holds the unsent bytes of this host."""
        self._make, self.folder = bucket, folder
        self._made: Bucket | None = None

    @property
    def bucket(self) -> Bucket:
        if self._made is None:
            self._made = self._make()
        return self._made

    def require_usable(self) -> None:
        self._made = self._make()

    def require_answer(self) -> None:
        self.bucket.require()

    def create(self, number: int) -> S3Writer:
        return S3Writer(self.bucket, str(number), self.folder)

    def resume(self, number: int, checkpoint: Checkpoint, *, lapsed: bool) -> S3Writer:
        # A lapsed writer may still send parts. A changed part has another tag, so `complete` refuses it.
        writer = S3Writer(self.bucket, str(number), self.folder)
        try:
            writer.resume(checkpoint.state or {}, checkpoint.size)
        except BaseException:
            writer.leave()
            raise
        return writer

    def reader(self, number: int) -> Reader:
        size = self.size(number)
        if size is None:
            raise FileNotFoundError(ENOENT, f"The storage of uploads does not have the content {number}.")
        return S3Reader(self.bucket, str(number), size)

    @contextmanager
    def local_file(self, number: int) -> Iterator[Path]:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        delete_dead(self.folder.iterdir())
        with tempfile.NamedTemporaryFile(dir=self.folder) as file:
            self.bucket.fetch(str(number), file)
            file.flush()
            yield Path(file.name)

    def size(self, number: int) -> int | None:
        return self.bucket.size(str(number))

    def delete(self, number: int) -> None:
        self.bucket.abort_all(str(number))
        for key in (str(number), _tail(str(number))):
            self.bucket.delete(key)

    def look(self, after: str) -> tuple[list[ListedBlob], str]:
        keys, more = self.bucket.keys(after)
        ours = {key: at for key, at in keys.items() if key.partition(".")[0].isdecimal()}
        blobs = [ListedBlob(int(key.partition(".")[0]), at) for key, at in ours.items()]
        return blobs, max(keys) if more else ""

    def free_bytes(self) -> int:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return shutil.disk_usage(self.folder).free


def _tail(key: str) -> str:
    return f"{key}.tail"
