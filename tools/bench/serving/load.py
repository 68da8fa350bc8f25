"""Clients with connections that stay open, in a process of their own; nothing but the standard library."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import count, cycle
from multiprocessing import get_context

MARK = b"@@@@@@@@@@@@"
"""Stands in a request for a number that it has alone, as wide as that."""
_numbers = count(1)


@dataclass(frozen=True)
class Round:
    """How many requests were answered in how many seconds, and how long each took."""

    seconds: float
    latencies: list[float]

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds


def clients() -> ProcessPoolExecutor:
    """One process for all rounds."""
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def drive(port: int, requests: Sequence[bytes], seconds: float, connections: int) -> Round:
    """Send these requests again and again, over so many connections at once, for so many seconds."""
    found: list[float] = []
    errors: list[Exception] = []
    end = time.perf_counter() + seconds

    def work(offset: int) -> None:
        try:
            found.extend(_latencies(port, [*requests[offset:], *requests[:offset]], end))
        except Exception as error:  # noqa: BLE001 - reported where the round was asked for
            errors.append(error)

    began = time.perf_counter()
    threads = [threading.Thread(target=work, args=[place]) for place in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return Round(time.perf_counter() - began, found)


def ask(port: int, request: bytes) -> bytes:
    """The body of one answer."""
    with Connection(port) as connection:
        return connection.ask(request)


def _latencies(port: int, requests: Sequence[bytes], end: float) -> list[float]:
    found = []
    with Connection(port) as connection:
        for request in cycle(requests):
            ready = request.replace(MARK, b"%012d" % next(_numbers)) if MARK in request else request
            began = time.perf_counter()
            if began > end:
                break
            connection.ask(ready)
            found.append(time.perf_counter() - began)
    return found


class Connection:
    """One connection that stays open."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, request: bytes) -> bytes:
        """Send a request; the body of its answer. Raises RuntimeError for an answer that is no success."""
        self._socket.sendall(request)
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._receive()
        head, _, body = received.partition(b"\r\n\r\n")
        pieces = [body]
        missing = _length(head) - len(body)
        while missing > 0:
            pieces.append(self._receive())
            missing -= len(pieces[-1])
        if not head.startswith(b"HTTP/1.1 2"):
            raise RuntimeError(f"{head.decode()}\n{b''.join(pieces)[:500].decode()}")
        return b"".join(pieces)

    def _receive(self) -> bytes:
        piece = self._socket.recv(256 * 1024)
        if not piece:
            raise RuntimeError("The server closed the connection.")
        return piece


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    raise RuntimeError(f"No length: {head!r}")
