"""The fetch of files from a supplier's own host, for which these tests use our own SFTP server."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

import paramiko
import pytest
from django.test import Client

from accounts.models import Supplier
from events.models import Event
from sftp_ingest.area import contents
from sftp_ingest.database import own_connection
from sftp_ingest.models import Blob, RemoteHost, SftpLogin
from sftp_ingest.remote.connection import RemoteFailed
from sftp_ingest.remote.fetching import fetch
from sftp_ingest.remote.probing import probe
from sftp_ingest.server.handles import ReadHandle
from sftp_ingest.server.host_key import public_line
from sftp_ingest.server.listener import SftpServer
from sftp_ingest.server.session import Session
from tests.sftp_ingest.conftest import PASSWORD
from tests.upload_area import area_of

pytestmark = pytest.mark.django_db(transaction=True)

CSV = b"sku,title\n" * 100_000


@pytest.fixture
def url(registered: RemoteHost, server: SftpServer, rival: Supplier, settings) -> str:
    settings.SFTP_PORT = 1  # a wrong port, so that the URL below does not name this service
    (area_of(rival) / "out.csv").write_bytes(CSV)
    return f"sftp://127.0.0.1:{server.port}/out.csv"


def failure(supplier: Supplier, url: str) -> RemoteFailed:
    before = set(Blob.objects.values_list("pk", flat=True))
    with pytest.raises(RemoteFailed) as caught:
        fetch(supplier, url)
    assert set(Blob.objects.values_list("pk", flat=True)) == before
    return caught.value


def content_of(blob: Blob) -> bytes:
    return contents.reader_of(blob).read(0, blob.size + 1)


def test_a_file_is_fetched_whole(acme: Supplier, url: str):
    assert content_of(fetch(acme, url)) == CSV


def test_an_empty_file_is_fetched_too(acme: Supplier, rival: Supplier, url: str):
    (area_of(rival) / "out.csv").write_bytes(b"")

    assert content_of(fetch(acme, url)) == b""


def test_the_password_is_kept_encrypted_and_bound_to_the_key(registered: RemoteHost, settings):
    assert PASSWORD not in registered.password
    assert registered.read_password() == PASSWORD

    settings.SECRET_KEY = "another"
    with pytest.raises(ValueError, match="SECRET_KEY has changed"):
        registered.read_password()


def test_a_host_with_another_key_never_sees_the_password(
    acme: Supplier, url: str, registered: RemoteHost, server: SftpServer
):
    other = paramiko.ECDSAKey.generate(bits=384)
    RemoteHost.objects.update(host_key=f"{other.get_name()} {other.get_base64()}")
    assert failure(acme, url).code == "remote_handshake"

    line = public_line().split()
    key = bytearray(paramiko.Ed25519Key(data=paramiko.util.b(server._keys[0].asbytes())).asbytes())
    key[-1] ^= 1
    fake = paramiko.Message(bytes(key))
    RemoteHost.objects.update(host_key=f"{line[0]} {paramiko.Ed25519Key(data=fake.asbytes()).get_base64()}")
    assert failure(acme, url).code == "remote_host_key"
    assert not SftpLogin.objects.exclude(last_login_at=None).exists()


def test_a_wrong_password_is_reported(acme: Supplier, url: str, registered: RemoteHost):
    registered.set_password("wrong")
    registered.save(update_fields=["password"])

    assert failure(acme, url).code == "remote_login"


def test_a_missing_file_or_a_folder_is_reported(acme: Supplier, url: str):
    assert failure(acme, url.replace("out", "none")).code == "remote_missing"
    assert failure(acme, url.replace("out.csv", "products")).code == "remote_missing"


def test_a_file_that_is_too_large_is_not_kept(acme: Supplier, url: str, login_of: Callable[..., SftpLogin]):
    login_of(acme, largest_file_bytes=1000)

    assert failure(acme, url).code == "remote_too_large"


def test_an_unreachable_host_is_reported(acme: Supplier, url: str):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    RemoteHost.objects.update(port=port)
    answer = failure(acme, f"sftp://127.0.0.1:{port}/out.csv")

    assert answer.code == "remote_unreachable"
    assert f"127.0.0.1:{port}" in answer.message


def test_no_file_is_fetched_from_a_host_that_is_no_longer_registered(acme: Supplier, url: str):
    RemoteHost.objects.all().delete()

    assert failure(acme, url).code == "remote_not_registered"


def test_a_host_that_breaks_off_leaves_nothing(acme: Supplier, url: str, server: SftpServer, monkeypatch):
    def cut(handle: ReadHandle, offset: int, length: int) -> bytes:
        server.sessions[-1].transport.close()
        return b""

    monkeypatch.setattr(ReadHandle, "read", cut)

    assert failure(acme, url).code == "remote_failed"


def test_a_truncated_file_is_not_accepted_as_complete(acme: Supplier, url: str, monkeypatch):
    whole = ReadHandle.read
    monkeypatch.setattr(
        ReadHandle, "read", lambda handle, at, length: whole(handle, at, length) if at < 500_000 else b""
    )

    assert failure(acme, url).code == "remote_failed"


@pytest.mark.parametrize("after", [0, 500_000])
def test_a_lost_connection_is_made_again_and_the_fetch_continues(
    after: int, acme: Supplier, url: str, server: SftpServer, monkeypatch
):
    whole = ReadHandle.read
    lost: list[int] = []

    def cut_once(handle: ReadHandle, offset: int, length: int) -> bytes:
        if offset >= after and not lost:
            lost.append(offset)
            server.sessions[-1].transport.close()
        return whole(handle, offset, length)

    monkeypatch.setattr(ReadHandle, "read", cut_once)

    assert content_of(fetch(acme, url)) == CSV
    assert lost


def test_a_file_that_changed_while_the_connection_was_lost_is_not_mixed(
    acme: Supplier, rival: Supplier, url: str, server: SftpServer, monkeypatch
):
    whole = ReadHandle.read
    lost: list[int] = []
    # This event is set when the first chunk has arrived. Without an old chunk, the fetch could not mix old
    # and new chunks.
    came = threading.Event()

    def cut_once(handle: ReadHandle, offset: int, length: int) -> bytes:
        if offset > 500_000 and not lost:
            lost.append(offset)
            assert came.wait(60)
            with own_connection():  # this runs in the server's thread
                (area_of(rival) / "out.csv").write_bytes(CSV[::-1] + b"more")
            server.sessions[-1].transport.close()
        return whole(handle, offset, length)

    write = contents.write

    def noted(received: Iterable[bytes]) -> Iterator[bytes]:
        for part in received:
            came.set()
            yield part

    monkeypatch.setattr(ReadHandle, "read", cut_once)
    monkeypatch.setattr(contents, "write", lambda received: write(noted(received)))

    with pytest.raises(RemoteFailed, match="changed during the fetch"):
        fetch(acme, url)


def test_a_file_that_its_host_still_writes_during_the_fetch_is_not_accepted(
    acme: Supplier, url: str, monkeypatch
):
    read, status = ReadHandle.read, ReadHandle.stat
    written: list[int] = []

    def while_written(handle: ReadHandle, offset: int, length: int) -> bytes:
        written.append(offset)
        return read(handle, offset, length)

    def larger(handle: ReadHandle) -> paramiko.SFTPAttributes:
        shown = status(handle)
        shown.st_size += len(written)
        return shown

    monkeypatch.setattr(ReadHandle, "read", while_written)
    monkeypatch.setattr(ReadHandle, "stat", larger)

    assert "changed during the fetch" in str(failure(acme, url))


@pytest.mark.parametrize("most", [None, 10_000])
def test_no_byte_is_requested_twice_however_much_a_host_returns_at_once(
    acme: Supplier, url: str, monkeypatch, most: int | None
):
    whole = ReadHandle.read
    given: list[tuple[int, int]] = []

    def read(handle: ReadHandle, offset: int, length: int) -> bytes:
        data = whole(handle, offset, min(length, most or length))
        given.append((offset, len(data)))
        return data

    monkeypatch.setattr(ReadHandle, "read", read)

    assert content_of(fetch(acme, url)) == CSV
    given.sort()
    assert sum(length for _, length in given) == len(CSV)
    assert all(offset + length == following for (offset, length), (following, _) in pairwise(given) if length)


@pytest.fixture
def silent_host(url: str, monkeypatch) -> Iterator[threading.Event]:
    """Make the host accept requests for chunks and never answer.

    Yield an event that is set at the first request.
    """
    asked, over = threading.Event(), threading.Event()

    def say_nothing(handle: ReadHandle, offset: int, length: int) -> bytes:
        asked.set()
        over.wait(60)
        return b""

    monkeypatch.setattr(ReadHandle, "read", say_nothing)
    monkeypatch.setattr("sftp_ingest.remote.connection.LOOK_SECONDS", 0.01)
    monkeypatch.setattr("sftp_ingest.remote.connection.ANSWER_TIMEOUT", 50.0)
    yield asked
    over.set()


def test_a_canceled_fetch_does_not_wait_for_the_host(acme: Supplier, url: str, silent_host: threading.Event):
    class Unwanted(Exception):
        pass

    def check() -> None:
        if silent_host.is_set():
            raise Unwanted

    with pytest.raises(Unwanted):
        fetch(acme, url, check=check)


@pytest.mark.parametrize("limit", ["FETCH_TIMEOUT", "RATE_AFTER"])
def test_the_fetch_ends_if_the_host_is_silent_or_too_slow(
    limit: str, acme: Supplier, url: str, silent_host: threading.Event, monkeypatch
):
    monkeypatch.setattr(f"sftp_ingest.remote.fetching.{limit}", -1.0)
    began = time.monotonic()

    assert failure(acme, url).code == "remote_timeout"
    assert time.monotonic() - began < 45, "the fetch waited longer than its limit"


def test_the_fetch_ends_if_the_host_never_starts_sftp(acme: Supplier, url: str, monkeypatch):
    over = threading.Event()
    monkeypatch.setattr(Session, "check_channel_subsystem_request", lambda *_: over.wait(60))
    monkeypatch.setattr("sftp_ingest.remote.connection.ANSWER_TIMEOUT", 1.0)
    try:
        assert failure(acme, url).code in ("remote_failed", "remote_timeout")
        assert not over.is_set()
    finally:
        over.set()


def test_the_test_of_a_host_has_a_time_limit(registered: RemoteHost, monkeypatch):
    monkeypatch.setattr("sftp_ingest.remote.probing.MOST_SECONDS", -1.0)

    with pytest.raises(RemoteFailed) as caught:
        probe(registered)
    assert caught.value.code == "remote_timeout"


def asked(page: Client, host: RemoteHost) -> str:
    """Return the page that an operator sees after testing the connection."""
    page_of_test = f"/admin/sftp_ingest/remotehost/{host.pk}/do/test/"
    assert f"logs in as {host.username}" in page.get(page_of_test).content.decode()
    return page.post(page_of_test, follow=True).content.decode()


def test_an_operator_tries_a_host_before_suppliers_do(page: Client, url: str, registered: RemoteHost):
    assert "accepted the login rival. " in asked(page, registered)
    registered.set_password("wrong")
    registered.save(update_fields=["password"])

    assert "refused the login rival." in asked(page, registered)
    RemoteHost.objects.update(port=1)
    assert "cannot be reached" in asked(page, registered)

    tests = Event.objects.filter(type="remote_host.tested").order_by("id")
    assert [event.data["worked"] for event in tests] == [True, False, False]
    assert {event.actor for event in tests} == {"user:anna"}
    assert "refused the login rival." in page.get("/admin/activity/?person=anna").content.decode()
