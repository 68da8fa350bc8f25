"""Connecting to a supplier's own SFTP server: only to a registered host that shows the registered key."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import paramiko

from sftp_ingest.keys import parse_public_key
from sftp_ingest.models import RemoteHost

CONNECT_TIMEOUT, ANSWER_TIMEOUT = 10.0, 30.0  # seconds


class RemoteFailed(Exception):
    """The file could not be fetched: a code, and a sentence for the import job."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


@contextmanager
def connect(host: RemoteHost) -> Iterator[paramiko.SFTPClient]:
    """An SFTP session with a host that has proved to be the registered one. Raises RemoteFailed."""
    try:
        connection = socket.create_connection((host.host, host.port), CONNECT_TIMEOUT)
    except OSError as error:
        raise RemoteFailed("remote_unreachable", f"{host} cannot be reached: {error}.") from error
    transport = paramiko.Transport(connection)
    transport.banner_timeout = transport.auth_timeout = transport.channel_timeout = ANSWER_TIMEOUT
    try:
        _authenticate(transport, host)
        client = paramiko.SFTPClient.from_transport(transport)
        assert client is not None
        client.get_channel().settimeout(ANSWER_TIMEOUT)
        yield client
    finally:
        transport.close()


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
