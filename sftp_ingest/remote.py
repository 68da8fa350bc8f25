"""Fetching a file from a supplier's own SFTP server: only from a registered host with the registered key."""

from __future__ import annotations

import errno
import os
import secrets
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import paramiko

from accounts.models import Supplier
from api.errors import ApiError
from sftp_ingest.keys import parse_public_key
from sftp_ingest.models import GIB, RemoteHost, SftpLogin
from sftp_ingest.sources import Remote, classify

CONNECT_WITHIN, ANSWER_WITHIN, DONE_WITHIN = 10.0, 30.0, 1800.0  # seconds
READ_AT_ONCE = 256 * 1024
DEFAULT_LARGEST = 2 * GIB


class RemoteFailed(Exception):
    """The file could not be fetched: a code, and a sentence for the import job."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def fetch(supplier: Supplier, url: str, destination: Path) -> None:
    """Copy the file behind an sftp:// URL to a local one, which is there when it is whole, and not before.

    Raises RemoteFailed. Not to be called within a transaction: it may take as long as the host does.
    """
    try:
        source = classify(supplier, url)
    except ApiError as fault:  # the host was taken off the list meanwhile
        raise RemoteFailed("remote_not_registered", fault.message) from fault
    if not isinstance(source, Remote):
        raise RemoteFailed("remote_not_registered", f"{url} is not on a remote host.")
    login = SftpLogin.objects.filter(supplier=supplier).first()
    largest = login.largest_file_bytes if login else DEFAULT_LARGEST
    with _whole(destination) as file:
        _receive(source, file, largest)


@contextmanager
def _whole(path: Path) -> Iterator[IO[bytes]]:
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


def _receive(source: Remote, file: IO[bytes], largest: int) -> None:
    try:
        with _session(source.host) as client:
            for piece in _pieces(client, source, largest):
                file.write(piece)
    except TimeoutError as error:
        raise RemoteFailed("remote_timeout", f"{source.host} did not answer in time.") from error
    except (OSError, EOFError, paramiko.SSHException) as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise RemoteFailed("disk_full", "The disk of this service is full.") from error
        raise RemoteFailed("remote_failed", f"{source.host} broke off: {error}.") from error


@contextmanager
def _session(host: RemoteHost) -> Iterator[paramiko.SFTPClient]:
    """An SFTP session with a host that has proven to be the registered one."""
    try:
        connection = socket.create_connection((host.host, host.port), CONNECT_WITHIN)
    except OSError as error:
        raise RemoteFailed("remote_unreachable", f"{host} cannot be reached: {error}.") from error
    transport = paramiko.Transport(connection)
    transport.banner_timeout = transport.auth_timeout = transport.channel_timeout = ANSWER_WITHIN
    try:
        _prove(transport, host)
        client = paramiko.SFTPClient.from_transport(transport)
        assert client is not None
        client.get_channel().settimeout(ANSWER_WITHIN)
        yield client
    finally:
        transport.close()


def _prove(transport: paramiko.Transport, host: RemoteHost) -> None:
    """Check the host's key, and only then show it the password."""
    key, password = _secrets(host)
    transport.get_security_options().key_types = _key_types(key)
    try:
        transport.start_client(timeout=ANSWER_WITHIN)
    except paramiko.SSHException as error:
        raise RemoteFailed(
            "remote_handshake", f"{host} and this service found no common ground: {error}."
        ) from error
    if transport.get_remote_server_key().asbytes() != key.asbytes():
        raise RemoteFailed("remote_host_key", f"{host} shows another host key than the registered one.")
    try:
        transport.auth_password(host.username, password)
    except paramiko.AuthenticationException as error:
        raise RemoteFailed("remote_login", f"{host} refused the login {host.username}.") from error


def _secrets(host: RemoteHost) -> tuple[paramiko.PKey, str]:
    try:
        return parse_public_key(host.host_key), host.read_password()
    except ValueError as error:
        raise RemoteFailed("remote_login", f"{host}: {error}") from error


def _key_types(key: paramiko.PKey) -> tuple[str, ...]:
    name = key.get_name()
    return ("rsa-sha2-512", "rsa-sha2-256") if name == "ssh-rsa" else (name,)


def _pieces(client: paramiko.SFTPClient, source: Remote, largest: int) -> Iterator[bytes]:
    """The file's content: all of it, no more than the supplier may have, and not for ever."""
    size, began = 0, time.monotonic()
    with _opened(client, source) as file:
        expected = file.stat().st_size or 0
        file.prefetch(min(expected, largest), max_concurrent_requests=64)
        while piece := file.read(READ_AT_ONCE):
            size += len(piece)
            if size > largest:
                raise RemoteFailed("remote_too_large", f"The file has more than {largest} bytes.")
            if time.monotonic() - began > DONE_WITHIN:
                raise TimeoutError
            yield piece
    if size < expected:
        raise RemoteFailed("remote_failed", f"{source.host} gave {size} bytes of {expected}.")


def _opened(client: paramiko.SFTPClient, source: Remote) -> paramiko.SFTPFile:
    """The remote file, if it is one: opening a pipe or a device there might wait for ever."""
    try:
        plain = stat.S_ISREG(client.stat(source.path).st_mode or stat.S_IFREG)
        if plain:
            return client.open(source.path)
    except OSError as error:
        raise RemoteFailed("remote_missing", f"{source.host} has no file {source.path} to read.") from error
    raise RemoteFailed("remote_missing", f"{source.path} on {source.host} is not a plain file.")
