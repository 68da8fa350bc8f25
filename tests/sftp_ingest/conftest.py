"""A real server on a free port, and real clients."""

from __future__ import annotations

import functools
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import paramiko
import pytest
from django.test import Client, override_settings
from paramiko.sftp import CMD_CLOSE, CMD_OPEN, SFTP_FLAG_CREATE, SFTP_FLAG_TRUNC, SFTP_FLAG_WRITE

from accounts.models import Supplier
from sftp_ingest.models import SftpLogin
from sftp_ingest.server import listener
from sftp_ingest.server.host_key import host_keys
from sftp_ingest.server.listener import SftpServer
from sftp_ingest.server.session import SessionLimits
from tests.factories import SftpLoginFactory, StaffFactory
from tests.upload_area import AreaPath, area_of

PASSWORD = "correct horse battery staple"


def at_once(transport: paramiko.Transport | None) -> None:
    """Send each write at once. A write that follows another would wait 40 ms for an acknowledgement."""
    assert transport is not None
    transport.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def put(client: paramiko.SFTPClient, content: bytes, path: str) -> None:
    """Put a file and fail if its CLOSE is refused; paramiko's own file object ignores the refusal."""
    file = client.open(path, "w")
    try:
        file.write(content)
        client._request(CMD_CLOSE, file.handle)
        file._closed = True
    finally:
        file.close()


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = settings.SECRETS_DIR = tmp_path / "data"
    settings.UPLOADS_DIR = tmp_path / "data" / "uploads"


@pytest.fixture
def login_of() -> Callable[..., SftpLogin]:
    def make(supplier: Supplier, **fields: Any) -> SftpLogin:
        return SftpLoginFactory.create(supplier=supplier, password=PASSWORD, **fields)

    return make


@pytest.fixture
def acme_login(acme: Supplier, login_of: Callable[..., SftpLogin]) -> SftpLogin:
    return login_of(acme)


@contextmanager
def serving(limits: SessionLimits) -> Iterator[SftpServer]:
    server = SftpServer("127.0.0.1", 0, limits)
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(60)
        assert not thread.is_alive()


@functools.cache
def made_host_keys() -> tuple[TemporaryDirectory[str], list[paramiko.PKey]]:
    """Make a folder with host keys and read the keys, only once, because both together take 0.6 s."""
    folder = TemporaryDirectory()
    with override_settings(SECRETS_DIR=Path(folder.name)):
        return folder, host_keys()


@pytest.fixture
def serve(settings: Any) -> Iterator[Callable[..., SftpServer]]:
    """Return a function that starts a server with these limits. Failed logins are not delayed by default."""
    folder, keys = made_host_keys()
    shutil.copytree(folder.name, settings.SECRETS_DIR, dirs_exist_ok=True)
    with ExitStack() as stack, mock.patch.object(listener, "host_keys", return_value=keys):
        yield lambda **limits: stack.enter_context(serving(SessionLimits(**{"failure_delay": 0.0, **limits})))


@pytest.fixture
def server(transactional_db: None, serve: Callable[..., SftpServer]) -> SftpServer:
    return serve()


@pytest.fixture
def connect() -> Iterator[Callable[..., paramiko.SSHClient]]:
    """Return a function that logs a client in, by password unless `how` has a key."""
    with ExitStack() as stack:

        def make(server: SftpServer, username: str, **how: Any) -> paramiko.SSHClient:
            client = stack.enter_context(paramiko.SSHClient())
            client.set_missing_host_key_policy(paramiko.RejectPolicy())
            name = f"[127.0.0.1]:{server.port}"
            client.get_host_keys().add(name, "ssh-ed25519", server._keys[0])
            how = {"password": PASSWORD, **how} if "pkey" not in how else how
            # A busy machine needs more time than paramiko's defaults.
            how = {"timeout": 60, "banner_timeout": 60, "auth_timeout": 60, **how}
            client.connect("127.0.0.1", server.port, username, look_for_keys=False, allow_agent=False, **how)
            at_once(client.get_transport())
            return client

        yield make


@pytest.fixture
def acme_sftp(
    server: SftpServer, acme_login: SftpLogin, connect: Callable[..., paramiko.SSHClient]
) -> paramiko.SFTPClient:
    return connect(server, "acme").open_sftp()


@pytest.fixture
def cut(server: SftpServer) -> Callable[[paramiko.SSHClient], None]:
    """Return a function that cuts a client's connection, and waits until the server has noticed this."""

    def make(client: paramiko.SSHClient) -> None:
        sent_from = client.get_transport().sock.getsockname()[1]
        (session,) = (each for each in server.sessions if each.transport.sock.getpeername()[1] == sent_from)
        client.get_transport().sock.close()
        session.handlers[0].join(60)

    return make


@pytest.fixture
def leave_cut(
    server: SftpServer, acme: Supplier, connect: Callable[..., paramiko.SSHClient], cut: Callable[..., None]
) -> Callable[..., None]:
    """Return a function that begins or resumes an upload as Acme, and is cut off after `content`."""

    def make(path: str, content: bytes, at: int = 0) -> None:
        if not SftpLogin.objects.filter(username="acme").exists():
            SftpLoginFactory.create(supplier=acme, password=PASSWORD)
        client = connect(server, "acme")
        sftp = client.open_sftp()
        flags = SFTP_FLAG_WRITE | (0 if at else SFTP_FLAG_CREATE | SFTP_FLAG_TRUNC)
        _, message = sftp._request(CMD_OPEN, path.encode(), flags, paramiko.SFTPAttributes())
        file = paramiko.SFTPFile(sftp, message.get_binary(), "wb")
        file.seek(at)
        file.write(content)
        file.flush()
        file.stat()
        cut(client)

    return make


@pytest.fixture
def acme_area(acme: Supplier) -> AreaPath:
    return area_of(acme)


@pytest.fixture
def page(settings: Any) -> Client:
    """Return a client that is signed in to the admin as the operator Anna."""
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    client = Client()
    client.force_login(StaffFactory.create(username="anna", is_superuser=True))
    return client
