"""Limits for each client, so that the server can serve the other clients."""

from __future__ import annotations

import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import paramiko
import pytest

from accounts.models import Supplier
from sftp_ingest.models import SftpLogin, Upload
from sftp_ingest.server import login_throttle
from sftp_ingest.server.handles import UploadHandle
from sftp_ingest.server.listener import WAKE_INTERVAL, SftpServer
from sftp_ingest.server.session import SessionLimits
from tests.sftp_ingest.conftest import PASSWORD, put

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_client_that_does_not_log_in_is_dropped(serve):
    server = serve()
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
        assert client.recv(100).startswith(b"SSH-2.0-Exchange")
        client.sendall(b"SSH-2.0-idler\r\n")
        (session,) = server.sessions
        session.connected_at -= server.limits.authenticate_within + 1
        while client.recv(10000):
            pass


def test_an_idle_client_is_dropped(acme_login: SftpLogin, serve, connect):
    server = serve()
    client = connect(server, "acme")
    client.open_sftp().listdir()
    (session,) = server.sessions
    session.last_seen -= server.limits.idle + 1
    client.get_transport().join(60)

    assert not client.get_transport().is_active()


def test_connections_without_a_login_from_one_address_are_limited(serve):
    server = serve(unauthenticated_per_address=2)
    clients = [socket.create_connection(("127.0.0.1", server.port), timeout=20) for _ in range(3)]
    greetings = [client.recv(100)[:4] for client in clients]
    for client in clients:
        client.close()

    assert sorted(greetings) == [b"", b"SSH-", b"SSH-"]


def test_handles_and_channels_are_limited(acme_login: SftpLogin, serve, connect):
    client = connect(serve(handles=3, channels=2), "acme")
    sftp = client.open_sftp()
    files = [sftp.open(f"products/{number}.csv", "w") for number in range(3)]
    with pytest.raises(OSError, match="Only 3 files"):
        sftp.open("products/4.csv", "w")
    files[0].close()
    sftp.open("products/4.csv", "w").close()

    client.open_sftp()
    with pytest.raises(paramiko.ChannelException):
        client.get_transport().open_session(timeout=10)


def test_the_connections_of_a_login_are_limited_with_and_without_a_channel(
    acme_login: SftpLogin, rival: Supplier, login_of, serve, connect
):
    login_of(rival)
    server = serve(connections_per_login=2)
    connect(server, "acme").open_sftp()
    second = connect(server, "acme")

    with pytest.raises(paramiko.AuthenticationException):
        connect(server, "acme")
    assert connect(server, "rival").open_sftp().listdir("products") == []

    session = server.sessions[1]
    second.close()
    session.transport.join(60)
    assert connect(server, "acme").open_sftp().listdir("products") == []


def test_a_login_with_too_many_connections_gets_the_reason_and_is_no_failure(
    acme_login: SftpLogin, serve, connect
):
    server = serve(connections_per_login=1)
    connect(server, "acme")
    with paramiko.Transport(("127.0.0.1", server.port)) as transport:
        transport.start_client(timeout=10)
        with pytest.raises(paramiko.AuthenticationException):
            transport.auth_password("acme", PASSWORD)
        assert b"has 1 connections" in transport.get_banner()

    assert login_throttle.record_failure("acme", "127.0.0.1") == 1


def test_connections_without_a_channel_from_one_address_are_limited(acme_login: SftpLogin, serve, connect):
    server = serve(without_channel_per_address=2)
    clients = [connect(server, "acme") for _ in range(2)]
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as third:
        assert third.recv(100) == b""

    assert clients[0].open_sftp().listdir("products") == []


def test_a_closed_connection_does_not_count_against_new_logins(
    acme_login: SftpLogin, serve, connect, monkeypatch
):
    ending, over = threading.Event(), threading.Event()

    def close_slowly(handle: UploadHandle) -> None:
        ending.set()
        over.wait(60)

    monkeypatch.setattr(UploadHandle, "close", close_slowly)
    server = serve(unauthenticated_per_address=1)
    client = connect(server, "acme")
    file = client.open_sftp().open("products/a.csv", "w")
    client.close()
    assert ending.wait(60)
    try:
        assert connect(server, "acme").open_sftp().listdir("products") == []
    finally:
        over.set()
        del file


def test_many_suppliers_may_share_one_address(
    acme_login: SftpLogin, rival: Supplier, login_of, serve, connect
):
    login_of(rival)
    server = serve(without_channel_per_address=2, connections_per_login=3)
    at_work = [connect(server, name).open_sftp() for name in ("acme", "rival") for _ in range(3)]

    assert [sftp.listdir("products") for sftp in at_work] == [[]] * 6


def test_a_client_without_a_channel_is_dropped(acme_login: SftpLogin, serve, connect):
    server = serve()
    client = connect(server, "acme")
    (session,) = server.sessions
    session.last_seen -= server.limits.open_channel_within + 1
    client.get_transport().join(60)

    assert not client.get_transport().is_active()


def test_a_client_with_a_channel_may_be_silent_for_longer(acme_login: SftpLogin, server: SftpServer, connect):
    connect(server, "acme").open_sftp().listdir()
    (session,) = server.sessions
    session.last_seen -= server.limits.open_channel_within + 1

    assert not session.overdue()


def test_twenty_uploads_at_once_from_one_address_and_login_go_through(acme_login: SftpLogin, serve, connect):
    server = serve(authenticate_within=120)  # a busy machine needs more time
    together = threading.Barrier(20)

    def upload(number: int) -> None:
        together.wait(60)
        client = connect(server, "acme", banner_timeout=120, auth_timeout=120)
        put(client.open_sftp(), b"sku\n", f"products/{number}.csv")

    with ThreadPoolExecutor(20) as pool:
        for done in [pool.submit(upload, number) for number in range(20)]:
            done.result(120)

    assert Upload.objects.count() == 20


def test_an_ended_session_closes_its_silent_connection_at_once(
    acme_login: SftpLogin, serve, connect, monkeypatch
):
    """The thread of a silent connection wakes rarely, because up to 500 connections may be silent at once."""
    assert WAKE_INTERVAL == 5
    monkeypatch.setattr("sftp_ingest.server.listener.WAKE_INTERVAL", 600.0)  # no timeout wakes the thread
    server = serve()
    client = connect(server, "acme")
    (session,) = server.sessions
    assert session.transport.sock.gettimeout() == 600
    session.end()
    session.transport.join(60)

    assert not session.transport.is_alive()
    client.close()


def test_the_default_limits_are_those_of_the_documents():
    assert SessionLimits().connections >= 500
    assert (
        SessionLimits().authenticate_within,
        SessionLimits().open_channel_within,
        SessionLimits().idle,
    ) == (30, 30, 600)
    assert (SftpLogin().largest_file_bytes, SftpLogin().quota_bytes) == (2 * 1024**3, 5 * 1024**3)


def test_a_client_that_cannot_be_served_does_not_end_the_server(
    server: SftpServer, acme_login: SftpLogin, connect, monkeypatch
):
    def no_thread(*args: object) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(SftpServer, "_begin", no_thread)
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
            assert client.recv(100) == b""
    assert connect(server, "acme").open_sftp().listdir("products") == []
