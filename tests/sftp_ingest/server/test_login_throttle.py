"""The delays for a client that guesses passwords."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import paramiko
import pytest
import time_machine
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import ConnectionError as RedisConnectionError

from accounts.models import Supplier
from sftp_ingest.models import SftpLogin
from sftp_ingest.server import authentication, login_throttle
from sftp_ingest.server.turns import one_at_a_time
from tests.factories import SftpLoginFactory
from tests.sftp_ingest.conftest import PASSWORD

pytestmark = pytest.mark.django_db(transaction=True)


def test_after_six_failures_the_right_password_waits_too(server, acme_login: SftpLogin, connect, fail):
    for _ in range(6):
        fail()

    assert 290 < login_throttle.seconds_to_wait("acme", "127.0.0.1") <= 300
    with pytest.raises(paramiko.AuthenticationException):
        connect(server, "acme")


def test_five_failures_are_forgiven_by_the_right_password(server, acme_login: SftpLogin, connect, fail):
    for _ in range(5):
        fail()
    connect(server, "acme").open_sftp().listdir()

    assert login_throttle.record_failure("acme", "127.0.0.1") == 1


def test_failures_that_are_forgotten_at_that_moment_start_again_at_one(monkeypatch):
    """A valid login deletes the count between the two commands of a failed login."""
    store = login_throttle._shared()
    monkeypatch.setattr(type(store), "add", lambda *args, **options: False)

    assert login_throttle.record_failure("acme", "192.0.2.8") == 1
    assert login_throttle.record_failure("acme", "192.0.2.8") == 2


def test_other_logins_and_addresses_do_not_wait(
    server, acme_login: SftpLogin, rival: Supplier, login_of, connect, fail
):
    login_of(rival)
    for _ in range(6):
        fail()

    connect(server, "rival").open_sftp().listdir()
    assert login_throttle.seconds_to_wait("acme", "192.0.2.7") == 0


def test_a_known_public_key_without_its_signature_forgives_no_failure(server, acme: Supplier, key, fail):
    """A client with only the public half must not reset its failures."""
    SftpLoginFactory.create(supplier=acme, public_keys=f"{key.get_name()} {key.get_base64()}")
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
    assert login_throttle.seconds_to_wait("acme", "127.0.0.1") > 0


def test_an_address_that_tries_many_names_waits_before_any_password_is_hashed(
    server, acme_login: SftpLogin, key, connect, fail, monkeypatch
):
    for number in range(29):
        login_throttle.record_failure(f"name-{number}", "127.0.0.1")
    connect(server, "acme").open_sftp()  # a valid login forgives the failures of the name, not of the address
    fail("name-30")
    hashed: list[str] = []
    monkeypatch.setattr("sftp_ingest.server.authentication.by_password", lambda name, _: hashed.append(name))

    with pytest.raises(paramiko.AuthenticationException):
        connect(server, "acme")
    assert hashed == []
    assert 290 < login_throttle.address_seconds_to_wait("127.0.0.1") <= 300
    assert login_throttle.address_seconds_to_wait("192.0.2.7") == 0

    SftpLogin.objects.update(public_keys=f"{key.get_name()} {key.get_base64()}")  # keys cannot be guessed
    assert connect(server, "acme", pkey=key).open_sftp().listdir("products") == []


def test_passwords_from_one_address_are_checked_one_after_another(server, acme_login, connect, monkeypatch):
    """Otherwise many guesses at once would all be hashed before the first of them is counted."""
    together = threading.Barrier(2)
    met: list[bool] = []

    def check(username: str, password: str) -> None:
        with suppress(threading.BrokenBarrierError):
            together.wait(1)
            met.append(True)

    monkeypatch.setattr("sftp_ingest.server.authentication.by_password", check)

    def guess(_: int) -> None:
        with pytest.raises(paramiko.AuthenticationException):
            connect(server, "acme", password="wrong")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(guess, range(2)))
    assert met == []


def test_twenty_logins_from_one_address_wait_while_the_service_is_busy(
    acme_login, serve, connect, monkeypatch
):
    """The time limit for a login does not include the time that the service needs."""
    server, check = serve(), authentication.by_password

    def check_slowly(username: str, password: str) -> SftpLogin | None:
        waiting = [session for session in server.sessions if session.checking]
        for session in waiting:
            session.connected_at -= 100
        server._close_overdue()
        for session in waiting:
            session.connected_at += 100
        return check(username, password)

    monkeypatch.setattr(authentication, "by_password", check_slowly)
    with ThreadPoolExecutor(20) as pool:
        clients = list(pool.map(lambda _: connect(server, "acme"), range(20)))

    assert all(client.get_transport().is_authenticated() for client in clients)


def test_a_login_without_a_free_slot_must_try_later(acme_login, serve, connect, caplog):
    server = serve(password_turn_within=0.01)
    with (
        caplog.at_level("INFO", "paramiko"),
        one_at_a_time("127.0.0.1", 1),
        pytest.raises(paramiko.SSHException),
    ):
        connect(server, "acme")

    assert "Disconnect (code 7): The service cannot check logins at the moment" in caplog.text
    assert login_throttle.record_failure("acme", "127.0.0.1") == 1


def test_a_throttled_login_reads_when_to_try_again(server, acme_login, fail):
    for _ in range(6):
        fail()
    transport = paramiko.Transport(("127.0.0.1", server.port))
    transport.start_client(timeout=60)
    with pytest.raises(paramiko.AuthenticationException):
        transport.auth_password("acme", PASSWORD)

    assert transport.get_banner() == b"Too many logins failed. Try again in 5 minutes.\r\n"
    transport.close()


def test_each_further_round_of_failures_waits_longer():
    with time_machine.travel("2026-01-01T00:00:00Z", tick=False):
        waits = []
        for _ in range(20):
            login_throttle.record_failure("acme", "192.0.2.7")
            waits.append(login_throttle.seconds_to_wait("acme", "192.0.2.7"))

    assert waits[:8] == [0, 0, 0, 0, 0, 300, 600, 1200]
    assert waits[-1] == 24 * 3600


def test_failures_are_counted_while_redis_is_away(monkeypatch):
    def away(*args: object, **kwargs: object) -> None:
        raise RedisConnectionError

    for method in ("get", "add", "incr", "set", "delete_many"):
        monkeypatch.setattr(RedisCache, method, away)
    for _ in range(6):
        login_throttle.record_failure("away", "192.0.2.7")

    assert login_throttle.seconds_to_wait("away", "192.0.2.7") > 290
    login_throttle.forget_failures("away", "192.0.2.7")
    assert login_throttle.seconds_to_wait("away", "192.0.2.7") == 0


def test_a_failure_slows_the_next_answer(acme_login: SftpLogin, serve, connect, monkeypatch):
    waited: list[float] = []
    server = serve(failure_delay=1.0)
    monkeypatch.setattr(server._stopping, "wait", waited.append)
    for _ in range(6):
        with pytest.raises(paramiko.AuthenticationException):
            connect(server, "acme", password="wrong")

    assert waited == [1.0, 2.0, 3.0, 4.0, 5.0, 5.0]
