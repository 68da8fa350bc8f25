"""The HTTP client of webhooks: receivers with odd answers, and names that lead to other addresses."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_network

import pytest

from events.webhooks.addresses import REFUSAL
from events.webhooks.sending import connections
from events.webhooks.sending.http_client import HttpClient, ReceiverAnswer
from events.webhooks.targets import WrongWebhookUrl, parse_url
from tests.events.webhooks.receiving import receiver

pytestmark = pytest.mark.usefixtures("_local_receivers")

HEADERS = [("Content-Type", "application/json")]
Talk = Callable[[socket.socket], object]


def post(*urls: str) -> list[ReceiverAnswer]:
    """Send one client's requests to these URLs, one after another, and return the answers."""

    async def all_of_them() -> list[ReceiverAnswer]:
        client = HttpClient()
        try:
            return [await client.post(parse_url(url), HEADERS, b"{}") for url in urls]
        finally:
            client.close()

    return asyncio.run(all_of_them())


@contextmanager
def talking(talk: Talk) -> Iterator[str]:
    """Start a server that calls `talk` for each connection after a request has arrived."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    def answer(connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(65_536)
                talk(connection)
            except OSError:
                return

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
    finally:
        server.close()


@pytest.fixture
def names(monkeypatch) -> dict[str, list[str]]:
    """Replace the resolver: each look-up of a name takes the next address from its list."""
    known: dict[str, list[str]] = {}

    def look_up(host: str, *_: object, **__: object) -> list[tuple[object, ...]]:
        if not known.get(host):
            raise socket.gaierror("no such name")
        address = known[host].pop(0)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return known


def test_a_name_that_leads_to_a_private_address_is_not_connected_to(settings, names):
    settings.WEBHOOK_NETWORKS = []
    names["shop.example"] = ["127.0.0.1"]
    with receiver() as server:
        [answer] = post(f"https://shop.example:{server.port}/")
    assert answer == ReceiverAnswer(None, REFUSAL)
    assert server.posts == []


def test_a_dns_change_between_check_and_connection_has_no_effect(settings, names):
    """The client connects to the address that was checked: each connection resolves the name once."""
    settings.WEBHOOK_NETWORKS = [ip_network("127.0.0.1/32")]
    names["shop.example"] = ["127.0.0.1", "127.0.0.2"]
    with receiver() as server:
        [answer] = post(f"http://shop.example:{server.port}/")
        assert answer.taken
        assert server.posts[0].headers["host"] == f"shop.example:{server.port}"
    assert names["shop.example"] == ["127.0.0.2"]


def test_plain_http_goes_to_listed_networks_alone(settings, names):
    settings.WEBHOOK_NETWORKS = [ip_network("10.0.0.0/8")]
    names["shop.example"] = ["93.184.216.34"]
    [answer] = post("http://shop.example/")
    assert answer.error == REFUSAL


def test_every_refusal_of_a_host_is_the_same_sentence(settings, names):
    """A partner must not learn from `last_error` which names and addresses exist in our network."""
    settings.WEBHOOK_NETWORKS = []
    names["intranet.example"] = ["10.1.2.3"]
    names["shop.example"] = ["192.0.0.9"]
    urls = ["https://nowhere.example/", "https://intranet.example/", "https://shop.example/"]
    assert [post(url)[0] for url in urls] == [ReceiverAnswer(None, REFUSAL)] * 3
    with pytest.raises(WrongWebhookUrl, match=REFUSAL):
        parse_url("https://10.1.2.3/")


def test_a_redirect_is_not_followed():
    def redirect(post, handler):
        handler.more = {"Location": "http://127.0.0.1:1/"}
        return 307

    with receiver(redirect) as server:
        [answer] = post(server.url)
    assert (answer.status, answer.taken) == (307, False)
    assert len(server.posts) == 1


def test_a_connection_serves_the_next_request_too():
    ports = set()

    def note(post, handler):
        ports.add(handler.client_address[1])
        return 200

    with receiver(note) as server:
        answers = post(*[server.url] * 5)
    assert all(each.taken for each in answers)
    assert len(ports) == 1


def test_a_connection_that_was_closed_meanwhile_is_no_failure():
    """Some servers close idle connections. Control: the first request on a connection is not repeated."""
    with talking(lambda c: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) as url:
        assert [each.taken for each in post(*[url] * 3)] == [True] * 3
    with talking(lambda c: None) as url:
        [answer] = post(url)
    assert "without an answer" in answer.error


@pytest.mark.parametrize(
    ("said", "taken", "error"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n" + b"x" * 200_000, True, ""),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"4000\r\n" + b"x" * 0x4000 + b"\r\n",
            True,
            "",
        ),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nok", True, ""),
        (b"HTTP/1.0 200 OK\r\n\r\nok", True, ""),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000, False, "not HTTP"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", False, "not HTTP"),
        (b"", False, "without an answer"),
    ],
)
def test_an_odd_answer_counts_by_its_status_or_as_no_answer(said, taken, error, settings):
    settings.WEBHOOK_SECONDS = 5.0
    with talking(lambda connection: connection.sendall(said)) as url:
        [answer] = post(url)
    assert answer.taken is taken
    assert error in answer.error


def test_an_endless_answer_is_cut_off(settings):
    settings.WEBHOOK_SECONDS = 0.3
    with talking(lambda connection: threading.Event().wait(5)) as url:
        [answer] = post(url)
    assert answer == ReceiverAnswer(None, "No answer within 0.3 seconds.")


@pytest.mark.parametrize("head", [b"Content-Length: 100", b"Transfer-Encoding: chunked"])
@pytest.mark.parametrize("limits", [{"body": 0.1}, {"status": 0.3, "body": 0.4}])
def test_an_answer_counts_although_its_body_never_ends(head, limits, monkeypatch, settings):
    monkeypatch.setattr(connections, "BODY_SECONDS", limits["body"])
    settings.WEBHOOK_SECONDS = limits.get("status", 10.0)
    done = threading.Event()

    def talk(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n")
        done.wait(30)

    with talking(talk) as url:
        [answer] = post(url)
        done.set()
    assert (answer.status, answer.taken, answer.error) == (200, True, "")


def test_a_refused_connection_is_reported_in_words():
    [answer] = post("http://127.0.0.1:9/")
    assert answer.error.startswith("The connection failed: ")


def test_a_receiver_without_tls_is_refused_at_an_https_url(settings):
    """The server speaks plain HTTP. The client does not try again without TLS."""
    with receiver() as server:
        [answer] = post(f"https://127.0.0.1:{server.port}/")
    assert not answer.taken
    assert server.posts == []
