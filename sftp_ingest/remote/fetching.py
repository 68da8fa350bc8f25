"""Fetching a file from a supplier's own SFTP server."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import paramiko

from accounts.models import Supplier
from api.errors import ApiError
from sftp_ingest.models import GIB, SftpLogin
from sftp_ingest.remote.connection import RemoteFailed, connect
from sftp_ingest.remote.sources import Remote, classify

FETCH_TIMEOUT = 1800.0  # seconds
# From then on so many bytes a second must have come: a host that trickles holds a slot, and a line of ours.
RATE_AFTER, LEAST_RATE = 30.0, 32 * 1024
CHUNK_SIZE = 256 * 1024
DEFAULT_MAX_BYTES = 2 * GIB


def _go_on() -> None:
    """Nobody has anything against it."""


def fetch(supplier: Supplier, url: str, destination: Path, *, check: Callable[[], None] = _go_on) -> None:
    """Copy the file behind an sftp:// URL to a local one, which is there when it is whole, and not before.

    `check` is called for each piece; what it raises ends the fetching. Raises RemoteFailed. Not to be called
    within a transaction: it may take as long as the host does.
    """
    try:
        source = classify(supplier, url)
    except ApiError as error:  # the host was removed since the job was made
        raise RemoteFailed("remote_not_registered", error.message) from error
    if not isinstance(source, Remote):
        raise RemoteFailed("remote_not_registered", f"{url} is not on a remote host.")
    login = SftpLogin.objects.filter(supplier=supplier).first()
    largest = login.largest_file_bytes if login else DEFAULT_MAX_BYTES
    with _complete_file(destination) as file:
        _receive(source, file, largest, check)


@contextmanager
def _complete_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that gets its name only if the block ends well: a killed worker's next try finds none."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o640), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)


def _receive(source: Remote, file: IO[bytes], largest: int, check: Callable[[], None]) -> None:
    try:
        with connect(source.host) as client:
            for chunk in _chunks(client, source, largest):
                file.write(chunk)
                check()
    except TimeoutError as error:
        raise RemoteFailed("remote_timeout", f"{source.host} did not answer in time.") from error
    except (OSError, EOFError, paramiko.SSHException) as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise RemoteFailed("disk_full", "The disk of this service is full.") from error
        raise RemoteFailed("remote_failed", f"{source.host} ended the connection: {error}.") from error


def _chunks(client: paramiko.SFTPClient, source: Remote, largest: int) -> Iterator[bytes]:
    """The file's content: all of it, no more than the supplier may have, and in limited time."""
    size, began = 0, time.monotonic()
    with _open(client, source) as file:
        expected = file.stat().st_size or 0
        file.prefetch(min(expected, largest), max_concurrent_requests=64)
        while chunk := file.read(CHUNK_SIZE):
            size += len(chunk)
            if size > largest:
                raise RemoteFailed("remote_too_large", f"The file has more than {largest} bytes.")
            seconds = time.monotonic() - began
            if seconds > FETCH_TIMEOUT or size < (seconds - RATE_AFTER) * LEAST_RATE:
                raise TimeoutError
            yield chunk
    if size < expected:
        raise RemoteFailed("remote_failed", f"{source.host} gave {size} bytes of {expected}.")


def _open(client: paramiko.SFTPClient, source: Remote) -> paramiko.SFTPFile:
    """The remote file, if it is a plain one: opening a pipe or a device there might wait for ever."""
    try:
        if stat.S_ISREG(client.stat(source.path).st_mode or stat.S_IFREG):
            return client.open(source.path)
    except OSError as error:
        raise RemoteFailed("remote_missing", f"{source.host} has no file {source.path} to read.") from error
    raise RemoteFailed("remote_missing", f"{source.path} on {source.host} is not a plain file.")
