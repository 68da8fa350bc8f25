"""Connecting to a supplier's own SFTP server: only to a registered host that shows the registered key."""

from __future__ import annotations

import socket
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

T = TypeVar("T")
Heed = Callable[[int], None]  # called with the bytes that came; what it raises ends the session


class RemoteFailed(Exception):
    """The file could not be fetched: a code, and a sentence for the import job."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class WatchedChannel:
    """What an SFTP client speaks through, and a look at how that goes: at each piece, and each second.

    paramiko comes back with whole answers only: from a host that trickles, hours later.
    What ended the conversation ends whatever comes after it, since it may have been amid an answer.
    """

    def __init__(self, channel: paramiko.Channel, heed: Heed) -> None:
        self._channel, self._heed = channel, heed
        self._error: Exception | None = None
        channel.settimeout(LOOK_SECONDS)

    def recv(self, size: int) -> bytes:
        """Raises TimeoutError when nothing comes for ANSWER_TIMEOUT, and what the look raises."""
        data = self._watched(lambda: bytes(self._channel.recv(size)))
        self._look(len(data))
        return data

    def send(self, data: bytes) -> int:
        """Raises TimeoutError when nothing is taken for ANSWER_TIMEOUT, and what the look raises."""
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
            self._heed(number)
        except Exception as error:
            self._error = error
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._channel, name)


@contextmanager
def connect(host: RemoteHost, heed: Heed) -> Iterator[paramiko.SFTPClient]:
    """An SFTP session with a host that has proved to be the registered one. Raises RemoteFailed."""
    bound_attributes()
    try:
        connection = socket.create_connection((host.host, host.port), CONNECT_TIMEOUT)
    except OSError as error:
        raise RemoteFailed("remote_unreachable", f"{host} cannot be reached: {error}.") from error
    transport = paramiko.Transport(connection)
    transport.banner_timeout = transport.auth_timeout = transport.channel_timeout = ANSWER_TIMEOUT
    try:
        _authenticate(transport, host)
        yield paramiko.SFTPClient(WatchedChannel(_begin(transport), heed))
    finally:
        transport.close()


def _begin(transport: paramiko.Transport) -> paramiko.Channel:
    """A channel on which SFTP is spoken. Raises SSHException."""
    channel = transport.open_session(timeout=ANSWER_TIMEOUT)
    channel.settimeout(ANSWER_TIMEOUT)
    ending = threading.Timer(ANSWER_TIMEOUT, transport.close)  # paramiko waits for this answer for ever
    ending.start()
    try:
        channel.invoke_subsystem("sftp")
    finally:
        ending.cancel()
    return channel


def _authenticate(transport: paramiko.Transport, host: RemoteHost) -> None:
    """Check the host's key, and only then send it the password."""
    key, password = _credentials(host)
    transport.get_security_options().key_types = _key_types(key)
    try:
        transport.start_client(timeout=ANSWER_TIMEOUT)
    except paramiko.SSHException as error:
        raise RemoteFailed(
            "remote_handshake", f"{host} and this service could not agree on how to connect: {error}."
        ) from error
    if transport.get_remote_server_key().asbytes() != key.asbytes():
        raise RemoteFailed("remote_host_key", f"{host} shows another host key than the registered one.")
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
