"""Clients with persistent connections, in their own process; they use only the standard library."""

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
"""The placeholder for a number of the same width that is new in each request."""
_numbers = count(1)


@dataclass(frozen=True)
class Round:
    """A round of load: its seconds, and the latency of each answered request."""

    seconds: float
    latencies: list[float]

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds


def clients() -> ProcessPoolExecutor:
    """Return a pool of one process for all rounds."""
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def drive(port: int, requests: Sequence[bytes], seconds: float, connections: int) -> Round:
    """Send these requests in a loop over this many connections, for this many seconds."""
    latencies: list[float] = []
    errors: list[Exception] = []
    end = time.perf_counter() + seconds

    def work(offset: int) -> None:
        try:
            latencies.extend(_latencies(port, [*requests[offset:], *requests[:offset]], end))
        except Exception as error:  # noqa: BLE001 - raised again in the calling thread
            errors.append(error)

    began = time.perf_counter()
    threads = [threading.Thread(target=work, args=[offset]) for offset in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return Round(time.perf_counter() - began, latencies)


def ask(port: int, request: bytes) -> bytes:
    """Send one request and return the body of its answer."""
    with LoadConnection(port) as connection:
        return connection.ask(request)


def _latencies(port: int, requests: Sequence[bytes], end: float) -> list[float]:
    latencies = []
    with LoadConnection(port) as connection:
        for request in cycle(requests):
            ready = request.replace(MARK, b"%012d" % next(_numbers)) if MARK in request else request
            began = time.perf_counter()
            if began > end:
                break
            connection.ask(ready)
            latencies.append(time.perf_counter() - began)
    return latencies


class LoadConnection:
    """A persistent connection."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> LoadConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, request: bytes) -> bytes:
        """Send a request and return the body of its answer. Raise RuntimeError if it is no success."""
        self._socket.sendall(request)
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._receive()
        head, _, body = received.partition(b"\r\n\r\n")
        chunks = [body]
        missing = _length(head) - len(body)
        while missing > 0:
            chunks.append(self._receive())
            missing -= len(chunks[-1])
        if not head.startswith(b"HTTP/1.1 2"):
            raise RuntimeError(f"{head.decode()}\n{b''.join(chunks)[:500].decode()}")
        return b"".join(chunks)

    def _receive(self) -> bytes:
        chunk = self._socket.recv(256 * 1024)
        if not chunk:
            raise RuntimeError("The server closed the connection.")
        return chunk


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    raise RuntimeError(f"The answer has no Content-Length: {head!r}")
