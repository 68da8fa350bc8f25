"""Who may come in, and how long one waits who guesses."""

from __future__ import annotations

import socket
from collections.abc import Callable

import paramiko
import pytest
import time_machine
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import ConnectionError as RedisConnectionError

from accounts.models import Supplier
from sftp_ingest import attempts
from sftp_ingest.addresses import plain_address, source_of
from sftp_ingest.hostkey import host_key, public_line
from sftp_ingest.models import SftpLogin
from sftp_ingest.server import Server
from sftp_ingest.session import Limits
from tests.sftp_ingest.conftest import put, serving

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def key() -> paramiko.PKey:
    return paramiko.RSAKey.generate(2048)


@pytest.fixture
def fail(server: Server, connect: Callable[..., paramiko.SSHClient]) -> Callable[[str], None]:
    def once(username: str = "acme") -> None:
        with pytest.raises(paramiko.AuthenticationException):
            connect(server, username, password="wrong")

    return once


def test_the_right_password_opens_the_area_and_is_noted(server, acme_login: SftpLogin, connect):
    assert sorted(connect(server, "acme").open_sftp().listdir()) == ["inventory", "products", "templates"]

    acme_login.refresh_from_db()
    assert acme_login.last_login_at is not None


def test_a_key_opens_the_area(server, acme: Supplier, key: paramiko.PKey, connect):
    line = f"# laptop\n\n{key.get_name()} {key.get_base64()} acme@erp\n"
    SftpLogin.objects.create(supplier=acme, username="acme", public_keys=line)

    assert connect(server, "acme", pkey=key).open_sftp().listdir("products") == []


def test_another_key_does_not(server, acme_login: SftpLogin, key: paramiko.PKey, connect):
    with pytest.raises(paramiko.AuthenticationException):
        connect(server, "acme", pkey=key)


@pytest.mark.parametrize("username", ["acme", "nobody", "", "a\nb", "x" * 5000])
def test_wrong_passwords_and_unknown_names_are_refused_alike(acme_login: SftpLogin, fail, username: str):
    fail(username)


def test_an_unknown_name_costs_a_hash_too(fail, monkeypatch):
    hashed: list[str] = []
    monkeypatch.setattr("sftp_ingest.logins.make_password", hashed.append)
    fail("nobody")

    assert hashed == ["wrong"]


def test_a_login_without_a_password_takes_no_empty_one(server, acme: Supplier, connect):
    SftpLogin.objects.create(supplier=acme, username="acme")

    with pytest.raises(paramiko.AuthenticationException):
        connect(server, "acme", password="")


def test_a_login_that_is_switched_off_does_not_come_in(server, acme_login: SftpLogin, connect):
    SftpLogin.objects.update(is_active=False)

    with pytest.raises(paramiko.AuthenticationException):
        connect(server, "acme")


def test_after_six_failures_the_right_password_waits_too(server, acme_login: SftpLogin, connect, fail):
    for _ in range(6):
        fail()

    assert 290 < attempts.wait_left("acme", "127.0.0.1") <= 300
    with pytest.raises(paramiko.AuthenticationException):
        connect(server, "acme")


def test_five_failures_are_forgiven_by_the_right_password(server, acme_login: SftpLogin, connect, fail):
    for _ in range(5):
        fail()
    connect(server, "acme").open_sftp().listdir()

    assert attempts.failed("acme", "127.0.0.1") == 1


def test_others_do_not_wait(server, acme_login: SftpLogin, rival: Supplier, login_of, connect, fail):
    login_of(rival)
    for _ in range(6):
        fail()

    connect(server, "rival").open_sftp().listdir()
    assert attempts.wait_left("acme", "192.0.2.7") == 0


def test_offering_a_public_key_that_is_known_forgives_nothing(server, acme: Supplier, key, fail):
    """Whoever has only the public half must not be able to begin his guesses anew."""
    SftpLogin.objects.create(
        supplier=acme, username="acme", public_keys=f"{key.get_name()} {key.get_base64()}"
    )
    for _ in range(5):
        fail()
    transport = paramiko.Transport(("127.0.0.1", server.port))
    forged = paramiko.RSAKey.generate(2048)
    forged.public_blob = paramiko.pkey.PublicBlob(key.get_name(), key.asbytes())
    transport.start_client(timeout=10)
    with pytest.raises(paramiko.AuthenticationException):
        transport.auth_publickey("acme", forged)
    transport.close()

    fail()
    assert attempts.wait_left("acme", "127.0.0.1") > 0


def test_each_further_round_of_failures_waits_longer():
    with time_machine.travel("2026-01-01T00:00:00Z", tick=False):
        waits = []
        for _ in range(20):
            attempts.failed("acme", "192.0.2.7")
            waits.append(attempts.wait_left("acme", "192.0.2.7"))

    assert waits[:8] == [0, 0, 0, 0, 0, 300, 600, 1200]
    assert waits[-1] == 24 * 3600


def test_one_network_of_ipv6_is_one_address():
    assert source_of("2001:db8:1:2::1") == source_of("2001:db8:1:2:ffff::9")
    assert source_of("2001:db8:1:2::1") != source_of("2001:db8:1:3::1")
    assert source_of("::ffff:192.0.2.7") == "192.0.2.7"
    assert plain_address("fe80::1%eth0") == "fe80::1"


def test_failures_are_counted_while_redis_is_away(monkeypatch):
    def away(*args: object, **kwargs: object) -> None:
        raise RedisConnectionError

    for method in ("get", "add", "incr", "set", "delete_many"):
        monkeypatch.setattr(RedisCache, method, away)
    for _ in range(6):
        attempts.failed("away", "192.0.2.7")

    assert attempts.wait_left("away", "192.0.2.7") > 290
    attempts.succeeded("away", "192.0.2.7")
    assert attempts.wait_left("away", "192.0.2.7") == 0


def test_a_failure_slows_the_next_answer(acme_login: SftpLogin, serve, connect, monkeypatch):
    waited: list[float] = []
    server = serve(failure_delay=1.0)
    monkeypatch.setattr(server._stopping, "wait", waited.append)
    for _ in range(6):
        with pytest.raises(paramiko.AuthenticationException):
            connect(server, "acme", password="wrong")

    assert waited == [1.0, 2.0, 3.0, 4.0, 5.0, 5.0]


def test_whoever_does_not_authenticate_is_dropped(serve):
    server = serve(authenticate_within=0.1)
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
        assert client.recv(100).startswith(b"SSH-2.0-Exchange")
        client.sendall(b"SSH-2.0-idler\r\n")
        while client.recv(10000):
            pass


def test_whoever_idles_is_dropped(acme_login: SftpLogin, serve, connect):
    client = connect(serve(idle=0.5), "acme")
    client.open_sftp().listdir()
    client.get_transport().join(20)

    assert not client.get_transport().is_active()


def test_one_address_cannot_take_all_places(serve):
    server = serve(unproven_of_one_address=2)
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


def test_one_login_has_so_many_sessions_at_most(acme_login: SftpLogin, serve, connect):
    server = serve(sessions_of_one_login=1)
    first = connect(server, "acme")
    first.open_sftp()

    with pytest.raises(paramiko.ChannelException):
        connect(server, "acme").open_sftp()


def test_the_service_says_its_standard_limits():
    assert (Limits().authenticate_within, Limits().idle) == (30, 600)
    assert (SftpLogin().largest_file_bytes, SftpLogin().quota_bytes) == (2 * 1024**3, 5 * 1024**3)


def test_the_host_key_is_made_once_and_for_its_owner_alone(settings):
    line = public_line()

    assert line.startswith("ssh-ed25519 AAAA")
    assert public_line() == line
    assert (settings.DATA_DIR / "sftp_host_key").stat().st_mode & 0o777 == 0o600
    assert len(list(settings.DATA_DIR.iterdir())) == 1
    assert host_key().can_sign()


def test_a_server_that_ends_drops_what_is_unfinished(acme_login: SftpLogin, acme_area, connect):
    with serving(Limits()) as server:
        file = connect(server, "acme").open_sftp().open("products/a.csv", "w")
        file.write(b"sku")
        file.stat()
    assert list((acme_area.parent / ".incoming").iterdir()) == []
    assert list((acme_area / "products").iterdir()) == []


def test_a_server_that_begins_sweeps_up_after_one_that_was_killed(acme_area, serve, acme_login, connect):
    serve()
    left = acme_area.parent / ".incoming" / "left-behind"
    left.write_text("half")
    other = serve()
    assert not left.exists()

    file = connect(other, "acme").open_sftp().open("products/a.csv", "w")
    file.write(b"sku\n")
    file.stat()
    serve()  # a second server on the same folder leaves alone what the first is at
    file.close()
    assert (acme_area / "products/a.csv").read_bytes() == b"sku\n"


def test_quotas_are_met_while_writing(server, acme: Supplier, login_of, connect, acme_area):
    login_of(acme, quota_bytes=1000, largest_file_bytes=600)
    sftp = connect(server, "acme").open_sftp()

    with pytest.raises(OSError, match="600 bytes at most"):
        put(sftp, b"x" * 601, "products/large.csv")
    put(sftp, b"x" * 600, "products/a.csv")
    with pytest.raises(OSError, match="area is full"):
        put(sftp, b"x" * 600, "products/b.csv")
    sftp.remove("products/a.csv")
    put(sftp, b"x" * 600, "products/b.csv")
    put(sftp, b"x" * 400, "products/c.csv")
    put(sftp, b"", "products/empty.csv")

    assert sorted(path.name for path in (acme_area / "products").iterdir()) == [
        "b.csv",
        "c.csv",
        "empty.csv",
    ]


def test_a_full_disk_is_said(acme_login: SftpLogin, server, connect, monkeypatch):
    monkeypatch.setattr("sftp_ingest.incoming.FREE_ALWAYS", 2**62)

    with pytest.raises(OSError, match="disk of this service is full"):
        connect(server, "acme").open_sftp().open("products/a.csv", "w")


def test_what_operators_remove_is_free_again(
    server, acme: Supplier, login_of, connect, acme_area, monkeypatch
):
    login_of(acme, quota_bytes=1000)
    sftp = connect(server, "acme").open_sftp()
    put(sftp, b"x" * 1000, "products/a.csv")
    (acme_area / "products/a.csv").unlink()
    with pytest.raises(OSError, match="area is full"):
        put(sftp, b"x", "products/b.csv")

    monkeypatch.setattr("sftp_ingest.ledger.STALE_AFTER", 0.0)  # a minute later
    put(sftp, b"x" * 1000, "products/b.csv")


def test_a_client_that_cannot_be_taken_does_not_end_the_server(
    server: Server, acme_login: SftpLogin, connect, monkeypatch
):
    def no_thread(*args: object) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(Server, "_begin", no_thread)
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
            assert client.recv(100) == b""
    assert connect(server, "acme").open_sftp().listdir("products") == []
