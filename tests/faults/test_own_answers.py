"""The web process answers health checks and malformed requests itself, at a limited rate per client."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from config.web.pausing import AT_ONCE, PAUSE_SECONDS
from tests.factories import IssuedKeyFactory
from tests.faults.web_server import WebServer, read_answer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture(scope="module")
def web(start_web: Callable[..., WebServer]) -> WebServer:
    return start_web()


def test_very_many_health_checks_in_one_packet_are_answered(acme, web):
    _, secret = IssuedKeyFactory.create(party=acme)
    key = f"Authorization: Bearer {secret}\r\n\r\n".encode()
    assert web.ask("GET", f"/v3/suppliers/{acme.pk}/variants", secret=secret).status == 200
    began_with, checks = web.processes(), 2_000

    with web.open() as sock:
        sock.sendall((HEALTH + key) * checks)
        sock.sendall(HEALTH + b"Connection: close\r\n" + key)
        received = b""
        while data := sock.recv(65_536):
            received += data

    assert received.count(b"HTTP/1.1 200 OK") == checks + 1
    assert web.processes() == began_with


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (HEALTH + b"\r\n", 200),
        (b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 200),
        (b"nonsense\r\n\r\n", 400),
        (b"POST /v3/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n", 413),
    ],
)
def test_a_stranger_waits_after_several_cheap_answers_within_a_second(web, data, status):
    began = time.monotonic()
    answers = [web.send(data) for _ in range(AT_ONCE * 8)]

    assert {answer.status for answer in answers} == {status}
    assert max(answer.seconds for answer in answers) > PAUSE_SECONDS
    assert len(answers) <= AT_ONCE * (time.monotonic() - began + 2)


def test_a_known_party_at_the_same_address_does_not_wait(acme, web):
    _, secret = IssuedKeyFactory.create(party=acme)
    assert web.ask("GET", f"/v3/suppliers/{acme.pk}/variants", secret=secret).status == 200
    with web.open() as sock:
        sock.sendall((HEALTH + b"\r\n") * AT_ONCE * 2)
        checks = [web.ask("GET", "/healthz", secret=secret) for _ in range(3)]
        assert read_answer(sock, time.monotonic()).status == 200

    assert max(each.seconds for each in checks) < PAUSE_SECONDS


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\n", 200),
        (b"GET /readyz HTTP/1.1\r\n", 200),
        (b"POST /v3/x HTTP/1.1\r\nContent-Length: 99999999999\r\n", 413),
        (b"POST /v3/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", 400),
    ],
)
@pytest.mark.parametrize(("sent", "is_kept"), [("erp-7/retry=2", True), ("two words", False)])
def test_an_answer_of_the_server_itself_has_the_clients_request_id(web, head, status, sent, is_kept):
    rest = f"Host: 127.0.0.1\r\nX-Request-Id: {sent}\r\n\r\n"
    answer = web.send(head + rest.encode() + b"no chunk\r\n" * (status == 400))

    assert answer.status == status
    assert (answer.headers["x-request-id"] == sent) == is_kept
    if status >= 400:
        assert answer.json()["request_id"] == answer.headers["x-request-id"]
