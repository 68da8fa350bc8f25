"""Fetching a file from a supplier's own SFTP server."""

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
# From then on so many bytes a second must have come: a host that trickles holds a slot, and a line of ours.
RATE_AFTER, LEAST_RATE = 30.0, 32 * 1024
DEFAULT_MAX_BYTES = 2 * GIB


def _no_check() -> None:
    """Nobody has anything against it."""


def fetch(supplier: Supplier, url: str, *, check: Callable[[], None] = _no_check) -> Blob:
    """The file behind an sftp:// URL as a blob, which nothing refers to yet.

    `check` is called each second at least; what it raises ends the fetching. Raises RemoteFailed.
    Not to be called within a transaction: it may take as long as the host does.
    """
    try:
        source = classify(supplier, url)
    except ApiError as error:  # the host was removed since the job was made
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
    """The file's content. A connection that is lost is made anew, until two in a row bring nothing."""
    fetching, fruitless = _Fetching(source, largest, check), 0
    while fruitless < 2:
        came = fetching.came
        try:
            with connect(source.host, fetching.heed) as client:
                yield from fetching.chunks(client)
        except TimeoutError as error:
            raise RemoteFailed("remote_timeout", f"{source.host} did not answer in time.") from error
        except (OSError, EOFError, paramiko.SSHException) as error:
            lost = error
        else:
            return
        fruitless = fruitless + 1 if fetching.came == came else 0
    raise RemoteFailed("remote_failed", f"{source.host} ended the connection: {lost}.") from lost


class _Fetching:
    """One file on its way: all of it, no more than the supplier may have, and in limited time."""

    def __init__(self, source: Remote, largest: int, check: Callable[[], None]) -> None:
        self.source, self.largest, self._check = source, largest, check
        self.came, self._received, self._began = 0, 0, time.monotonic()
        self._version: tuple[int, int] | None = None  # size and time

    def chunks(self, client: paramiko.SFTPClient) -> Iterator[bytes]:
        """What did not come yet. Raises RemoteFailed, TimeoutError, OSError."""
        with _open(client, self.source) as file:
            expected = self._expected(file)
            for chunk in read_ahead(client, file, self.came, min(expected, self.largest)):
                self.came += len(chunk)
                if self.came > self.largest:
                    raise RemoteFailed("remote_too_large", f"The file has more than {self.largest} bytes.")
                yield chunk
        if self.came < expected:
            raise RemoteFailed("remote_failed", f"{self.source.host} gave {self.came} bytes of {expected}.")

    def _expected(self, file: paramiko.SFTPFile) -> int:
        """Its size; once more, only if it is still the same version."""
        status = file.stat()
        version = (status.st_size or 0, status.st_mtime or 0)
        if self.came and version != self._version:
            raise RemoteFailed("remote_failed", f"The file on {self.source.host} changed while it came.")
        self._version = version
        return version[0]

    def heed(self, received: int) -> None:
        """See whether to go on, now that so many more bytes came. Raises TimeoutError, what `check` does."""
        self._received += received
        seconds = time.monotonic() - self._began
        if seconds > FETCH_TIMEOUT or self._received < (seconds - RATE_AFTER) * LEAST_RATE:
            raise TimeoutError
        self._check()


def _open(client: paramiko.SFTPClient, source: Remote) -> paramiko.SFTPFile:
    """The remote file, if it is a plain one: opening a pipe or a device there might wait for ever."""
    try:
        if stat.S_ISREG(client.stat(source.path).st_mode or stat.S_IFREG):
            return client.open(source.path)
    except TimeoutError:
        raise
    except OSError as error:
        raise RemoteFailed("remote_missing", f"{source.host} has no file {source.path} to read.") from error
    raise RemoteFailed("remote_missing", f"{source.path} on {source.host} is not a plain file.")
