"""A client of a web server over real sockets, with complete or partial requests."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

START_TIMEOUT = 120.0


@dataclass
class Answer:
    """An answer and its duration."""

    status: int
    headers: dict[str, str]
    content: bytes
    seconds: float

    def json(self) -> Any:
        return json.loads(self.content)


class WebServer:
    """A server on a port of this machine."""

    def __init__(self, port: int) -> None:
        self.port = port

    def wait_until_up(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        deadline = time.monotonic() + START_TIMEOUT
        while process.poll() is None and time.monotonic() < deadline:
            with suppress(OSError):
                if self.ask("GET", "/healthz").status == 200:
                    return
            time.sleep(0.05)
        raise AssertionError("the web server does not start")

    def kill(self) -> None:
        """Kill the server and its processes at once, like a power failure."""
        for each in (self._process.pid, *self.processes()):
            os.kill(each, signal.SIGKILL)
        self._process.wait()

    def processes(self) -> set[int]:
        """Return the ids of the processes that answer requests."""
        main = self._process.pid
        return set(map(int, Path(f"/proc/{main}/task/{main}/children").read_text().split()))

    def ask(
        self,
        method: str,
        path: str,
        *,
        secret: str = "",
        body: Any = None,
        headers: Mapping[str, str] = MappingProxyType({}),
        timeout: float = 30.0,
    ) -> Answer:
        """Send a complete request, and read its complete answer."""
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        head += f"Content-Length: {len(content)}\r\nContent-Type: application/json\r\n"
        head += f"Authorization: Bearer {secret}\r\n" if secret else ""
        head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return self.send(head.encode() + b"\r\n" + content, timeout=timeout)

    def send(self, data: bytes, *, timeout: float = 30.0, bodiless: bool = False) -> Answer:
        """Send these bytes, and read the answer. An answer to HEAD has no body."""
        began = time.monotonic()
        with self.open(timeout) as sock:
            with suppress(OSError):  # the server may answer before it has read all bytes
                sock.sendall(data)
            return read_answer(sock, began, bodiless=bodiless)

    @contextmanager
    def open(self, timeout: float = 30.0) -> Iterator[socket.socket]:
        with socket.create_connection(("127.0.0.1", self.port), timeout) as sock:
            yield sock


def read_answer(sock: socket.socket, began: float, *, bodiless: bool = False) -> Answer:
    """Read an answer up to its length or the end of the connection."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += _more(sock)
    head, _, content = data.partition(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 100"):
        while b"\r\n\r\n" not in content:
            content += _more(sock)
        head, _, content = content.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while not bodiless and len(content) < int(headers.get("content-length", 0)):
        content += _more(sock)
    return Answer(int(first.split()[1]), headers, content, time.monotonic() - began)


def _more(sock: socket.socket) -> bytes:
    data = sock.recv(65_536)
    if not data:
        raise ConnectionError("the server closed the connection without an answer")
    return data
