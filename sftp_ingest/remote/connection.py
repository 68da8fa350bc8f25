"""Connections to suppliers' own SFTP servers, which must show the registered host key."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import paramiko

from sftp_ingest.bounded_attributes import bound_attributes
from sftp_ingest.keys import parse_public_key
from sftp_ingest.models import RemoteHost

CONNECT_TIMEOUT, ANSWER_TIMEOUT = 10.0, 30.0  # seconds
LOOK_SECONDS = 1.0

# paramiko raises these errors if the bytes of a host are not SFTP, or its names are not UTF-8.
UNREADABLE = (paramiko.SFTPError, struct.error, UnicodeDecodeError)
NOT_SFTP = (
    "{} sent an answer that is not SFTP: {}. Its login scripts must print no text, and its file names must be"
    " UTF-8."
)

T = TypeVar("T")
OnReceived = Callable[[int], None]  # called with the number of received bytes; an exception ends the session


class RemoteFailed(Exception):
    """The error for a failed fetch. Its `code` and `message` are saved in the import job."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class WatchedChannel:
    """A channel that calls `on_received` at each chunk and each second, so that time limits apply.

    paramiko returns only whole answers: with a host that sends byte by byte, a call could take hours. After
    an error, every further call raises the same error, because a part of an answer may be missing.
    """

    def __init__(self, channel: paramiko.Channel, on_received: OnReceived) -> None:
        self._channel, self._on_received = channel, on_received
        self._error: Exception | None = None
        channel.settimeout(LOOK_SECONDS)

    def recv(self, size: int) -> bytes:
        """Receive bytes. Raises TimeoutError after ANSWER_TIMEOUT, and exceptions of `on_received`."""
        data = self._watched(lambda: bytes(self._channel.recv(size)))
        self._look(len(data))
        return data

    def send(self, data: bytes) -> int:
        """Send bytes. Raises TimeoutError after ANSWER_TIMEOUT, and exceptions of `on_received`."""
        return self._watched(lambda: int(self._channel.send(data)))

    def _watched(self, step: Callable[[], T]) -> T:
        if self._error:
            raise self._error
        deadline = time.monotonic() + ANSWER_TIMEOUT
        while True:
            try:
                return step()
            except TimeoutError as error:
                self._look(0)
                if time.monotonic() > deadline:
                    self._error = error
                    raise
            except Exception as error:
                self._error = error
                raise

    def _look(self, number: int) -> None:
        try:
            self._on_received(number)
        except Exception as error:
            self._error = error
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._channel, name)


@contextmanager
def connect(host: RemoteHost, on_received: OnReceived) -> Iterator[paramiko.SFTPClient]:
    """Open an SFTP session with a host after checking its key. Raises RemoteFailed."""
    bound_attributes()
    try:
        connection = socket.create_connection((host.host, host.port), CONNECT_TIMEOUT)
    except (OSError, UnicodeError) as error:  # the host's name cannot exist
        raise RemoteFailed("remote_unreachable", f"{host} cannot be reached: {error}.") from error
    transport = paramiko.Transport(connection)
    transport.banner_timeout = transport.auth_timeout = transport.channel_timeout = ANSWER_TIMEOUT
    try:
        _authenticate(transport, host)
        yield paramiko.SFTPClient(WatchedChannel(_begin(transport), on_received))
    except UNREADABLE as error:
        raise RemoteFailed("remote_failed", NOT_SFTP.format(host, error)) from error
    finally:
        transport.close()


def _begin(transport: paramiko.Transport) -> paramiko.Channel:
    """Open a channel with the subsystem sftp. Raises SSHException."""
    channel = transport.open_session(timeout=ANSWER_TIMEOUT)
    channel.settimeout(ANSWER_TIMEOUT)
    ending = threading.Timer(
        ANSWER_TIMEOUT, transport.close
    )  # paramiko waits for this answer without a limit
    ending.start()
    try:
        channel.invoke_subsystem("sftp")
    finally:
        ending.cancel()
    return channel


def _authenticate(transport: paramiko.Transport, host: RemoteHost) -> None:
    """Check the host's key before sending the password. Raises RemoteFailed."""
    key, password = _credentials(host)
    transport.get_security_options().key_types = _key_types(key)
    try:
        transport.start_client(timeout=ANSWER_TIMEOUT)
    except paramiko.SSHException as error:
        raise RemoteFailed(
            "remote_handshake", f"{host} and this service have no common SSH algorithms: {error}."
        ) from error
    if transport.get_remote_server_key().asbytes() != key.asbytes():
        raise RemoteFailed(
            "remote_host_key", f"{host} shows a host key that differs from the registered one."
        )
    try:
        transport.auth_password(host.username, password)
    except paramiko.AuthenticationException as error:
        raise RemoteFailed("remote_login", f"{host} refused the login {host.username}.") from error


def _credentials(host: RemoteHost) -> tuple[paramiko.PKey, str]:
    try:
        return parse_public_key(host.host_key), host.read_password()
    except ValueError as error:
        raise RemoteFailed("remote_login", f"{host}: {error}") from error


def _key_types(key: paramiko.PKey) -> tuple[str, ...]:
    name = key.get_name()
    return ("rsa-sha2-512", "rsa-sha2-256") if name == "ssh-rsa" else (name,)
