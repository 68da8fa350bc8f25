"""Clients with wrong passwords, and keys of clients."""

from __future__ import annotations

from collections.abc import Callable

import paramiko
import pytest

from sftp_ingest.server.listener import SftpServer


@pytest.fixture(scope="session")
def key() -> paramiko.PKey:
    return paramiko.RSAKey.generate(2048)


@pytest.fixture
def fail(server: SftpServer, connect: Callable[..., paramiko.SSHClient]) -> Callable[..., None]:
    """Return a function that logs in with a wrong password."""

    def once(username: str = "acme") -> None:
        with pytest.raises(paramiko.AuthenticationException):
            connect(server, username, password="wrong")

    return once
