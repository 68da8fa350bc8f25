"""Blobs in S3-compatible storage: sent in parts while they come, and an object only when they are whole."""

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
from sftp_ingest.blobs.local import NEW, FileReader, write_at
from sftp_ingest.blobs.store import CannotGoOn, Found, Kept, Reader, Store, Writer

PART_SIZE = 8 * 1024**2  # the protocol wants 5 MiB at least, and 10,000 parts at most: 80 GiB
READ_AHEAD = 4 * 1024**2

T = TypeVar("T")
_sending = ThreadPoolExecutor(max_workers=8, thread_name_prefix="s3")


class S3Reader(Reader):
    """Asks for much at a time, since clients ask for little."""

    def __init__(self, bucket: Bucket, key: str, size: int) -> None:
        self._bucket, self._key, self._size = bucket, key, size
        self._start, self._data = 0, b""

    def read(self, offset: int, length: int) -> bytes:
        found = b""
        while len(found) < length and offset + len(found) < self._size:
            found += self._some(offset + len(found), length - len(found))
        return found

    def _some(self, offset: int, length: int) -> bytes:
        if not self._start <= offset < self._start + len(self._data):
            end = min(self._size, offset + max(length, READ_AHEAD))
            self._start, self._data = offset, self._bucket.get(self._key, offset, end)
        at = offset - self._start
        return self._data[at : at + length]

    def close(self) -> None:
        self._data = b""


class S3Writer(Writer):
    """Pieces come into a file of this machine; a part that is whole is sent, one at a time.

    What another process had sent is not in that file: it is neither read nor changed any more.
    """

    def __init__(self, bucket: Bucket, key: str, folder: Path) -> None:
        self._bucket, self._key = bucket, key
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Without a name nothing of it is left when this process ends, however it ends.
        name = Path(tempfile.mktemp(dir=folder))  # noqa: S306 - O_EXCL
        self._file = os.open(name, NEW, 0o600)
        name.unlink()
        self._upload = ""
        self._parts: list[str] = []  # their tags
        self._start = 0  # the first byte that is here
        self._sending: Future[str] | None = None

    def take_up(self, state: dict[str, Any], size: int) -> None:
        """Go on with what was kept. Raises OSError, CannotGoOn."""
        self._upload, self._parts = state.get("upload", ""), list(state.get("parts", []))
        self._start = len(self._parts) * PART_SIZE
        if size > self._start:
            tail = self._bucket.get(_tail(self._key), 0, size - self._start)
            if len(tail) < size - self._start:
                raise CannotGoOn
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
        """What came stays on this machine until its part is whole."""

    def _change(self, offset: int) -> None:
        """Parts from there on are no longer what was sent."""
        if not offset:
            self._start = 0
        if offset < self._start:
            raise CannotGoOn
        if offset < self._sent + (PART_SIZE if self._sending else 0):
            self._wait()
            del self._parts[offset // PART_SIZE :]

    @property
    def _sent(self) -> int:
        return len(self._parts) * PART_SIZE

    def checkpoint(self, whole_to: int) -> Kept:
        # More than a part never waits behind the one that is sent: what is kept is not far behind what came.
        if self._sending and (self._sending.done() or whole_to >= self._sent + 2 * PART_SIZE):
            self._wait()
        if not self._sending and whole_to >= self._sent + PART_SIZE:
            self._sending = _sending.submit(self._send, len(self._parts), PART_SIZE)
        return self._kept(self._sent)

    def _kept(self, size: int) -> Kept:
        return Kept(size, {"upload": self._upload, "parts": self._parts[:]})

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

    def keep(self, size: int) -> Kept:
        self._send_whole_parts(size)
        if size > self._sent:
            self._bucket.put(_tail(self._key), os.pread(self._file, size - self._sent, self._sent))
        self._close()
        return self._kept(size)

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
    """`<prefix>/12345` in a bucket; what came of an unfinished one since its last part in `12345.tail`."""

    name = "s3"

    def __init__(self, bucket: Callable[[], Bucket], folder: Path) -> None:
        """`folder`: where this machine keeps what it has not sent yet."""
        self._make, self.folder = bucket, folder
        self._made: Bucket | None = None

    @property
    def bucket(self) -> Bucket:
        if self._made is None:
            self._made = self._make()
        return self._made

    def require_usable(self) -> None:
        self.bucket.require()

    def create(self, number: int) -> S3Writer:
        return S3Writer(self.bucket, str(number), self.folder)

    def resume(self, number: int, kept: Kept, *, lapsed: bool) -> S3Writer:
        # What its first writer may still send has another tag, or is the same: the end looks at the tags.
        writer = S3Writer(self.bucket, str(number), self.folder)
        try:
            writer.take_up(kept.state or {}, kept.size)
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

    def look(self, after: str) -> tuple[list[Found], str]:
        keys, more = self.bucket.keys(after)
        ours = {key: at for key, at in keys.items() if key.partition(".")[0].isdecimal()}
        found = [Found(int(key.partition(".")[0]), at) for key, at in ours.items()]
        return found, max(keys) if more else ""

    def free_bytes(self) -> int:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return shutil.disk_usage(self.folder).free


def _tail(key: str) -> str:
    return f"{key}.tail"
