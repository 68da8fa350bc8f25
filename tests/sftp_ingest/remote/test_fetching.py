"""Fetching from a supplier's own host. Our own server plays that host."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import paramiko
import pytest
from django.test import Client

from accounts.models import Supplier
from sftp_ingest.models import RemoteHost, SftpLogin
from sftp_ingest.remote.connection import RemoteFailed
from sftp_ingest.remote.fetching import fetch
from sftp_ingest.server.handles import ReadHandle
from sftp_ingest.server.host_key import public_line
from sftp_ingest.server.listener import Server
from tests.factories import RemoteHostFactory
from tests.sftp_ingest.conftest import PASSWORD

pytestmark = pytest.mark.django_db(transaction=True)

CSV = b"sku,title\n" * 100_000


@pytest.fixture
def registered(acme: Supplier, rival: Supplier, login_of: Callable[..., SftpLogin], server: Server):
    """Acme's files lie in the home of the login `rival` on a host that happens to be this one."""
    login_of(rival)
    return RemoteHostFactory.create(
        supplier=acme,
        host="127.0.0.1",
        port=server.port,
        host_key=public_line(),
        username="rival",
        password=PASSWORD,
    )


@pytest.fixture
def url(registered: RemoteHost, server: Server, rival: Supplier, settings) -> str:
    settings.SFTP_PORT = 1  # so that this port is not our own
    folder = Path(settings.UPLOADS_DIR) / str(rival.pk)
    folder.mkdir(parents=True)
    (folder / "out.csv").write_bytes(CSV)
    return f"sftp://127.0.0.1:{server.port}/out.csv"


@pytest.fixture
def destination(tmp_path: Path) -> Path:
    return tmp_path / "fetched.csv"


def failure(supplier: Supplier, url: str, destination: Path) -> RemoteFailed:
    with pytest.raises(RemoteFailed) as caught:
        fetch(supplier, url, destination)
    assert list(destination.parent.glob("fetched*")) == []
    return caught.value


def test_a_file_is_fetched_whole(acme: Supplier, url: str, destination: Path):
    fetch(acme, url, destination)

    assert destination.read_bytes() == CSV


def test_an_empty_file_is_fetched_too(acme: Supplier, rival: Supplier, url: str, destination: Path, settings):
    (Path(settings.UPLOADS_DIR) / str(rival.pk) / "out.csv").write_bytes(b"")
    fetch(acme, url, destination)

    assert destination.read_bytes() == b""


def test_the_password_is_kept_encrypted_and_bound_to_the_key(registered: RemoteHost, settings):
    assert PASSWORD not in registered.password
    assert registered.read_password() == PASSWORD

    settings.SECRET_KEY = "another"
    with pytest.raises(ValueError, match="SECRET_KEY has changed"):
        registered.read_password()


def test_a_host_with_another_key_never_sees_the_password(
    acme: Supplier, url: str, registered: RemoteHost, destination: Path, server: Server
):
    other = paramiko.ECDSAKey.generate()
    RemoteHost.objects.update(host_key=f"{other.get_name()} {other.get_base64()}")
    assert failure(acme, url, destination).code == "remote_handshake"

    line = public_line().split()
    key = bytearray(paramiko.Ed25519Key(data=paramiko.util.b(server._key.asbytes())).asbytes())
    key[-1] ^= 1
    fake = paramiko.Message(bytes(key))
    RemoteHost.objects.update(host_key=f"{line[0]} {paramiko.Ed25519Key(data=fake.asbytes()).get_base64()}")
    assert failure(acme, url, destination).code == "remote_host_key"
    assert not SftpLogin.objects.exclude(last_login_at=None).exists()


def test_a_wrong_password_is_said(acme: Supplier, url: str, registered: RemoteHost, destination: Path):
    registered.set_password("wrong")
    registered.save(update_fields=["password"])

    assert failure(acme, url, destination).code == "remote_login"


def test_a_missing_file_or_a_folder_is_said(acme: Supplier, url: str, destination: Path):
    assert failure(acme, url.replace("out", "none"), destination).code == "remote_missing"
    assert failure(acme, url.replace("out.csv", "products"), destination).code == "remote_missing"


def test_a_file_that_is_too_large_is_not_kept(
    acme: Supplier, url: str, login_of: Callable[..., SftpLogin], destination: Path
):
    login_of(acme, largest_file_bytes=1000)

    assert failure(acme, url, destination).code == "remote_too_large"


def test_a_host_that_is_not_there_is_said(acme: Supplier, url: str, destination: Path):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    RemoteHost.objects.update(port=port)
    answer = failure(acme, f"sftp://127.0.0.1:{port}/out.csv", destination)

    assert answer.code == "remote_unreachable"
    assert f"127.0.0.1:{port}" in answer.message


def test_a_host_that_is_no_longer_registered_is_not_asked(acme: Supplier, url: str, destination: Path):
    RemoteHost.objects.all().delete()

    assert failure(acme, url, destination).code == "remote_not_registered"


def test_what_an_earlier_try_left_is_replaced(acme: Supplier, url: str, destination: Path):
    destination.write_text("half")
    fetch(acme, url, destination)

    assert destination.read_bytes() == CSV
    assert [path.name for path in destination.parent.glob("fetched*")] == ["fetched.csv"]


# paramiko reads ahead in a thread of its own, which may meet the closed socket first and complain to nobody.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_host_that_breaks_off_leaves_nothing(
    acme: Supplier, url: str, server: Server, destination: Path, monkeypatch
):
    def cut(handle: ReadHandle, offset: int, length: int) -> bytes:
        server.sessions[-1].transport.close()
        return b""

    monkeypatch.setattr(ReadHandle, "read", cut)

    assert failure(acme, url, destination).code == "remote_failed"


def test_a_file_that_comes_short_is_not_taken_for_whole(
    acme: Supplier, url: str, destination: Path, monkeypatch
):
    whole = ReadHandle.read
    monkeypatch.setattr(
        ReadHandle, "read", lambda handle, at, length: whole(handle, at, length) if at < 500_000 else b""
    )

    assert failure(acme, url, destination).code == "remote_failed"


def asked(page: Client, host: RemoteHost) -> str:
    """What an operator sees after testing the connection."""
    choice = {"action": "test_connection", "_selected_action": [host.pk]}
    return page.post("/admin/sftp_ingest/remotehost/", choice, follow=True).content.decode()


def test_an_operator_tries_a_host_before_suppliers_do(page: Client, url: str, registered: RemoteHost):
    assert "took the login rival: " in asked(page, registered)
    registered.set_password("wrong")
    registered.save(update_fields=["password"])

    assert "refused the login rival." in asked(page, registered)
    RemoteHost.objects.update(port=1)
    assert "cannot be reached" in asked(page, registered)
