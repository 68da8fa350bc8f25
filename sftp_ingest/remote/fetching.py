"""The fetching of a file from a supplier's own SFTP server."""

from __future__ import annotations

import errno
import stat
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing

import paramiko

from accounts.models import Supplier
from api.errors import ApiError
from sftp_ingest.area import contents
from sftp_ingest.models import GIB, Blob, SftpLogin
from sftp_ingest.remote.connection import RemoteFailed, connect
from sftp_ingest.remote.read_ahead import read_ahead
from sftp_ingest.remote.sources import Remote, classify

FETCH_TIMEOUT = 1800.0  # seconds
# After RATE_AFTER seconds, a host must send LEAST_RATE bytes per second on average, because a slow host
# occupies a fetch slot.
RATE_AFTER, LEAST_RATE = 30.0, 32 * 1024
DEFAULT_MAX_BYTES = 2 * GIB


def _no_check() -> None:
    """Do nothing. This is the default of `check`."""


def fetch(supplier: Supplier, url: str, *, check: Callable[[], None] = _no_check) -> Blob:
    """Fetch the file of an sftp:// URL into a new blob without references. Raises RemoteFailed.

    `check` is called at least once a second, and its exceptions end the fetch. Do not call this inside a
    transaction, because the host may be slow.
    """
    try:
        source = classify(supplier, url)
    except ApiError as error:  # the host was removed after the job was created
        raise RemoteFailed("remote_not_registered", error.message) from error
    if not isinstance(source, Remote):
        raise RemoteFailed("remote_not_registered", f"{url} is not on a remote host.")
    login = SftpLogin.objects.filter(supplier=supplier).first()
    largest = login.largest_file_bytes if login else DEFAULT_MAX_BYTES
    try:
        with closing(_received(source, largest, check)) as received:
            return contents.write(received)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise RemoteFailed("disk_full", "The disk of this service is full.") from error
        raise


def _received(source: Remote, largest: int, check: Callable[[], None]) -> Generator[bytes]:
    """Yield the file's content. Reconnect after a lost connection.

    Raises RemoteFailed after two connections in a row without new bytes.
    """
    fetching, fruitless = _Fetching(source, largest, check), 0
    while fruitless < 2:
        before = fetching.received
        try:
            with connect(source.host, fetching.on_received) as client:
                yield from fetching.chunks(client)
        except TimeoutError as error:
            raise RemoteFailed("remote_timeout", f"{source.host} did not answer in time.") from error
        except (OSError, EOFError, paramiko.SSHException) as error:
            lost = error
        else:
            return
        fruitless = fruitless + 1 if fetching.received == before else 0
    raise RemoteFailed("remote_failed", f"{source.host} ended the connection: {lost}.") from lost


class _Fetching:
    """The state of a fetch, with its limits of size and time."""

    def __init__(self, source: Remote, largest: int, check: Callable[[], None]) -> None:
        self.source, self.largest, self._check = source, largest, check
        self.received, self._transferred, self._began = 0, 0, time.monotonic()
        self._version: tuple[int, int] | None = None  # the remote file's size and change time

    def chunks(self, client: paramiko.SFTPClient) -> Iterator[bytes]:
        """Yield the bytes that were not received yet. Raises RemoteFailed, TimeoutError, OSError."""
        with _open(client, self.source) as file:
            expected = self._expected(file)
            for chunk in read_ahead(client, file, self.received, min(expected, self.largest)):
                self.received += len(chunk)
                if self.received > self.largest:
                    raise RemoteFailed("remote_too_large", f"The file has more than {self.largest} bytes.")
                yield chunk
            self._refuse_resized(file)
        if self.received < expected:
            raise RemoteFailed(
                "remote_failed", f"{self.source.host} sent {self.received} bytes of {expected}."
            )

    def _expected(self, file: paramiko.SFTPFile) -> int:
        """Return the size of the file. Raises RemoteFailed if the file has changed since the fetch began."""
        status = file.stat()
        version = (status.st_size or 0, status.st_mtime or 0)
        if self.received and version != self._version:
            raise self._changed()
        self._version = version
        return version[0]

    def _refuse_resized(self, file: paramiko.SFTPFile) -> None:
        """Raise RemoteFailed if the host wrote the file during the fetch, because the content may be mixed.

        Compare the sizes alone: some hosts generate files, and report the present time as their change time.
        """
        try:
            size = file.stat().st_size or 0
        except TimeoutError:
            raise
        except (OSError, EOFError, paramiko.SSHException):
            return  # the host ended the session or deleted the file after the last byte
        if self._version and size != self._version[0]:
            raise self._changed()

    def _changed(self) -> RemoteFailed:
        return RemoteFailed("remote_failed", f"The file on {self.source.host} changed during the fetch.")

    def on_received(self, number: int) -> None:
        """Check the limits after `number` more bytes. Raises TimeoutError, and exceptions of `check`."""
        self._transferred += number
        seconds = time.monotonic() - self._began
        if seconds > FETCH_TIMEOUT or self._transferred < (seconds - RATE_AFTER) * LEAST_RATE:
            raise TimeoutError
        self._check()


def _open(client: paramiko.SFTPClient, source: Remote) -> paramiko.SFTPFile:
    """Open the remote file if it is a plain file. Opening a pipe or a device might never return."""
    try:
        if stat.S_ISREG(client.stat(source.path).st_mode or stat.S_IFREG):
            return client.open(source.path)
    except TimeoutError:
        raise
    except OSError as error:
        raise RemoteFailed("remote_missing", f"{source.host} has no file {source.path} to read.") from error
    raise RemoteFailed("remote_missing", f"{source.path} on {source.host} is not a plain file.")
