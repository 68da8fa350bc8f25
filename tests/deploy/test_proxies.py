"""The proxies' examples skip a host that cannot serve, and follow a name to a new address."""

from __future__ import annotations

import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, IncompleteRead, RemoteDisconnected
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.deploy.proxies import proxy

pytestmark = pytest.mark.program
PATIENCE = 20.0


@dataclass
class Host:
    """A host that answers each request with its name, and its health check with its readiness."""

    name: str
    port: int = 0
    is_ready: bool = True


@contextmanager
def a_host(name: str, address: str = "127.0.0.1", port: int = 0) -> Iterator[Host]:
    host = Host(name)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            is_check = self.path == "/readyz"
            body = host.name.encode()
            self.send_response(200 if host.is_ready or not is_check else 503)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.rfile.read()  # wait until the proxy closes the connection

        def log_message(self, *_: object) -> None:
            """Log nothing."""

        def handle(self) -> None:
            with suppress(ConnectionError):  # haproxy ends its checks with a reset
                super().handle()

    with ThreadingHTTPServer((address, port), Handler) as server:
        host.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield host
        server.shutdown()


def answered_by(port: int) -> str:
    """Return the name of the host that answers; `cut` if the proxy closes the connection instead."""
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/", headers={"Host": "exchange.example"})
    try:
        return connection.getresponse().read().decode()
    except (RemoteDisconnected, IncompleteRead):
        return "cut"
    finally:
        connection.close()


def wait_until_all_are_answered_by(port: int, names: set[str]) -> None:
    """Ask until ten answers in a row come from these hosts."""
    end = time.monotonic() + PATIENCE
    while {answered_by(port) for _ in range(10)} != names:
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("program", ["nginx", "haproxy"])
def test_a_host_that_is_not_ready_gets_no_requests(program, tmp_path):
    with (
        a_host("one") as one,
        a_host("two") as two,
        proxy(program, tmp_path, f"127.0.0.1:{one.port}", f"127.0.0.1:{two.port}") as port,
    ):
        wait_until_all_are_answered_by(port, {"one", "two"})
        one.is_ready = False
        wait_until_all_are_answered_by(port, {"two"})
        one.is_ready = True
        wait_until_all_are_answered_by(port, {"one", "two"})


@pytest.mark.parametrize("body", [b"00000000000000005\r\nab", b"zz\r\nab", b"2\r\nabXX"])
def test_caddy_delays_its_answer_to_broken_chunks(tmp_path, body):
    head = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    with (
        a_host("one") as one,
        proxy("caddy", tmp_path, f"127.0.0.1:{one.port}", "") as port,
        socket.create_connection(("127.0.0.1", port), PATIENCE) as sock,
    ):
        began = time.monotonic()
        sock.sendall(head + body)
        assert sock.recv(65_536).startswith(b"HTTP/1.1 502 ")
        assert time.monotonic() - began > 0.9


@contextmanager
def a_name_server(addresses: list[str]) -> Iterator[int]:
    """Answer every DNS query with the last of these addresses; yield the server's port."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            query, sock = self.request
            end = query.index(b"\0", 12) + 5
            is_ipv4 = query[end - 4 : end - 2] == b"\0\1"
            head = query[:2] + b"\x81\x80\0\1" + (b"\0\1" if is_ipv4 else b"\0\0") + b"\0\0\0\0"
            packed = bytes(int(part) for part in addresses[-1].split("."))
            answer = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4" + packed if is_ipv4 else b""
            sock.sendto(head + query[12:end] + answer, self.client_address)

    with socketserver.ThreadingUDPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_haproxy_follows_a_name_to_another_address(tmp_path):
    addresses = ["127.0.0.1"]
    with (
        a_host("old") as old,
        a_host("new", "127.0.0.2", old.port),
        a_name_server(addresses) as names,
        proxy(
            "haproxy",
            tmp_path,
            f"web.test:{old.port}",
            f"web.test:{old.port}",
            **{"parse-resolv-conf": f"nameserver test 127.0.0.1:{names}"},
        ) as port,
    ):
        wait_until_all_are_answered_by(port, {"old"})
        addresses.append("127.0.0.2")
        wait_until_all_are_answered_by(port, {"new"})
