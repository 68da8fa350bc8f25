"""Clients with persistent connections. Plain sockets leave most time of the processors to the server."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count, cycle

MARK = b"@@@@@@@@@@@@"
"""A placeholder in requests. A new number of the same width replaces it in each request."""
_numbers = count((time.time_ns() // 1_000 + os.getpid() * 10**7) % 10**12)
"""The numbers that replace MARK. Each process of clients begins with another number, so that two processes do
not send the same numbers."""


@dataclass(frozen=True)
class Round:
    """A round of load: its seconds, and the latency of each answered request."""

    seconds: float
    latencies: list[float]

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds


def drive(port: int, requests: Sequence[bytes], seconds: float, connections: int) -> Round:
    """Send these requests in a loop over this many connections, for this many seconds."""
    began = time.perf_counter()
    with ThreadPoolExecutor(connections) as threads:
        tasks = [
            threads.submit(_latencies, port, [*requests[offset:], *requests[:offset]], began + seconds)
            for offset in range(connections)
        ]
    latencies = [latency for task in tasks for latency in task.result()]
    return Round(time.perf_counter() - began, latencies)


def _latencies(port: int, requests: Sequence[bytes], end: float) -> list[float]:
    latencies = []
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for request in cycle(requests):
            ready = request.replace(MARK, b"%012d" % next(_numbers)) if MARK in request else request
            began = time.perf_counter()
            if began > end:
                break
            _ask(connection, ready)
            latencies.append(time.perf_counter() - began)
    return latencies


def _ask(connection: socket.socket, request: bytes) -> None:
    """Send a request and read its answer. Raise RuntimeError if the request failed."""
    connection.sendall(request)
    received = b""
    while b"\r\n\r\n" not in received:
        received += _receive(connection)
    head, _, body = received.partition(b"\r\n\r\n")
    (length,) = (line[15:] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    missing = int(length) - len(body)
    while missing > 0:
        missing -= len(_receive(connection))
    if not head.startswith(b"HTTP/1.1 2"):
        raise RuntimeError(f"{head.decode()}\n{body[:500].decode()}")


def _receive(connection: socket.socket) -> bytes:
    chunk = connection.recv(256 * 1024)
    if not chunk:
        raise RuntimeError("The server closed the connection.")
    return chunk
