"""Clients that stall and a party with locked rows delay neither other parties nor /healthz."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from orders.models import Order, RetailerClock
from tests.factories import IssuedKeyFactory
from tests.faults.held_rows import held
from tests.faults.web_server import WebServer, read_answer
from tests.orders.push_bodies import an_order

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.fault]

SOON = 2.0  # seconds; a request that waits for a stalled request takes at least five
HEAD = b"POST /v3/suppliers/1/variants HTTP/1.1\r\nHost: 127.0.0.1\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
BODY = HEAD + b"Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n"


@pytest.fixture(scope="module")
def web(start_web):
    return start_web(WEB_THREADS="4")


@contextmanager
def stalled(web: WebServer, data: bytes, count: int) -> Iterator[None]:
    """Open a number of clients that have sent this text and send nothing more."""
    with ExitStack() as cleanup:
        for _ in range(count):
            cleanup.enter_context(web.open()).sendall(data)
        yield


def answered_soon(web: WebServer, path: str, secret: str = "") -> None:
    answer = web.ask("GET", path, secret=secret)
    assert answer.status == 200
    assert answer.seconds < SOON


@pytest.mark.parametrize(
    "data",
    [b"", b"GET /v3/sche", HEAD + b"X-Slow: ", BODY, BODY + b'{"sku"', CHUNKED + b"5\r\nab"],
    ids=["nothing", "a line", "headers", "no body", "half a body", "half a chunk"],
)
def test_clients_that_stall_delay_no_other_client(acme, web, data):
    _, secret = IssuedKeyFactory.create(party=acme)
    with stalled(web, data, 32):
        answered_soon(web, "/healthz")
        answered_soon(web, f"/v3/suppliers/{acme.pk}/variants", secret)


def test_the_locked_rows_of_one_party_delay_neither_another_party_nor_the_health_check(
    acme, rival, shop, boutique, client_for, a_variant, web
):
    a_variant(acme, "A-1", stock=500)
    a_variant(rival, "R-1", stock=500)
    client_for(shop).post("orders", an_order({"sku": "A-1", "quantity": 1}))
    secrets = {party: IssuedKeyFactory.create(party=party)[1] for party in (shop, boutique)}

    def push(party, sku):
        body = an_order({"sku": sku, "quantity": 1})
        return web.ask("POST", f"/v3/retailers/{party.pk}/orders", secret=secrets[party], body=body)

    assert push(shop, "A-1").status == push(boutique, "R-1").status == 201
    with held(RetailerClock.objects.filter(retailer=shop)), ThreadPoolExecutor(24) as pool:
        stuck = [pool.submit(push, shop, "A-1") for _ in range(20)]
        began = time.monotonic()
        while time.monotonic() - began < 3:
            answer = push(boutique, "R-1")
            assert (answer.status, answer.seconds < SOON) == (201, True)
            answered_soon(web, "/healthz")
        answers = [each.result() for each in stuck]

    assert {answer.status for answer in answers} == {503}
    assert {answer.json()["code"] for answer in answers} == {"busy"}
    assert all(answer.headers["retry-after"] for answer in answers)
    # A push waits for three locks, at most five seconds for each: its turn, the stock and the clock.
    assert max(answer.seconds for answer in answers) < 20
    assert Order.objects.filter(retailer=shop).count() == 2
    assert push(shop, "A-1").status == 201


def test_slow_split_and_pipelined_requests_are_answered(acme, web):
    _, secret = IssuedKeyFactory.create(party=acme)
    ask = b"GET /v3/suppliers/%d/variants HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n\r\n"
    request = ask % (acme.pk, secret.encode())

    with web.open() as sock:
        for byte in request:
            sock.sendall(bytes([byte]))
        assert read_answer(sock, 0.0).status == 200
        sock.sendall(request)  # the connection is still open
        assert read_answer(sock, 0.0).status == 200
        sock.sendall(request + request)  # two requests at once
        assert read_answer(sock, 0.0).status == 200


def test_a_large_body_and_a_body_after_100_continue_are_read_completely(acme, web):
    _, secret = IssuedKeyFactory.create(party=acme)
    body = b'{"sku": "A-1", "title": "Shirt", "retail_price": 1, "description": "%s"}' % (b"x" * 9_000)
    head = (
        b"POST /v3/suppliers/%d/variants HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        % acme.pk
    )
    head += b"Authorization: Bearer %s\r\n" % secret.encode()

    asked = head + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body)
    with web.open() as sock:
        sock.sendall(asked)
        assert sock.recv(100).startswith(b"HTTP/1.1 100")
        sock.sendall(body)
        assert read_answer(sock, 0.0).status == 201

    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:4000], body[4000:]))
    chunks = chunks.replace(b"A-1", b"A-2") + b"0\r\n\r\n"
    assert web.send(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks).status == 201


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        (b"nonsense\r\n\r\n", 400, "validation_error"),
        (b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\n\r\n", 414, "uri_too_long"),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000 + b"\r\n\r\n", 431, "headers_too_large"),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n", 431, "headers_too_large"),
        (HEAD + b"Content-Length: 17000000\r\n\r\n", 413, "too_large"),
        (b"POST /oauth/token HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 70000\r\n\r\n", 413, "too_large"),
        (CHUNKED + b"fffffff\r\n", 413, "too_large"),
    ],
)
def test_refusals_of_the_server_itself_have_the_envelope(web, data, status, code):
    answer = web.send(data)

    assert (answer.status, answer.json()["code"]) == (status, code)
    assert answer.json()["success"] is False
    assert answer.headers["x-request-id"] == answer.json()["request_id"]
    assert answer.headers["content-type"] == "application/json"
    assert answer.seconds < SOON


@pytest.mark.parametrize("path", [b"/oauth/token", b"/oauth/token?a=b"])
def test_a_too_large_form_for_a_token_gets_the_members_of_oauth(web, path):
    """RFC 6749, section 5.2, names the members of the JSON answer."""
    answer = web.send(b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 70000\r\n\r\n" % path)

    body = answer.json()
    assert (answer.status, body["code"], body["error"]) == (413, "too_large", "invalid_request")
    assert body["error_description"] == body["message"]


def test_a_balancer_may_keep_its_connection(web):
    with web.open() as sock:
        for path in (b"/healthz", b"/readyz", b"/readyz/"):
            sock.sendall(b"GET %s HTTP/1.1\r\nHost: anything\r\n\r\n" % path)
            answer = read_answer(sock, 0.0)
            assert (answer.status, answer.headers["connection"]) == (200, "keep-alive")
        sock.sendall(b"GET /readyz HTTP/1.1\r\nHost: anything\r\n\r\n" * 2)  # two requests at once
        assert read_answer(sock, 0.0).status == 200


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_health_is_answered_by_the_server_itself(web, method):
    request = method.encode() + b" /healthz HTTP/1.1\r\nHost: anything\r\n\r\n"
    answer = web.send(request, bodiless=method == "HEAD")

    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    assert answer.content == (b'{"status":"alive"}' if method == "GET" else b"")
