"""The time of a tenant's requests while a stranger keeps 64 connections busy.

The control is the same tenant on a quiet service, measured in turn with each shape.
"""

from __future__ import annotations

import math
import socket
import time
from dataclasses import dataclass, field

from tools.bench.database import own_database
from tools.bench.hostile.crowd import CONNECTIONS, crowd
from tools.bench.hostile.shapes import SHAPES
from tools.bench.measuring import verdict
from tools.bench.options import read_options
from tools.bench.serving import market
from tools.bench.serving.asking import get
from tools.bench.serving.service import running_service
from tools.bench.sizes import size

SECONDS, ROUNDS, PAUSE = size(12, smoke=1), size(3, smoke=1), 0.01
WARM_UP_SECONDS = size(3.0, smoke=0.5)
NAMES = [*SHAPES][: size(len(SHAPES), smoke=3)]
TIMES = 2.0
"""The most time that the p95 may take beside a stranger, as a multiple."""
STRANGER = "127.0.0.2"


@dataclass
class TenantAnswers:
    """The seconds of each answer to the tenant, and the number of failed requests."""

    seconds: list[float] = field(default_factory=list)
    failed: int = 0

    @property
    def p95(self) -> float:
        ordered = sorted(self.seconds)
        return ordered[math.ceil(len(ordered) * 0.95) - 1] * 1000 if ordered else math.inf


def main(arguments: list[str]) -> None:
    options = read_options("strangers", arguments, only=True, connections=CONNECTIONS, seconds=SECONDS)
    with own_database():
        secrets = market.open_market()
        market.grow(0, 1_000)
        request = get("retailers/1/orders", secrets.retailers[1], limit="10").real_bytes()
        with running_service(rate_limit="100000000/min") as service:
            watch(service.port, request, WARM_UP_SECONDS, TenantAnswers())
            print(f"  {'p95 of the tenant, ms':<38}     quiet  attacked   times  failed")
            for name in NAMES:
                if options.only in name:
                    _compare(service.port, request, name, options.connections, options.seconds)


def _compare(port: int, request: bytes, name: str, connections: int, seconds: float) -> None:
    quiet, attacked = TenantAnswers(), TenantAnswers()
    for _ in range(ROUNDS):
        watch(port, request, seconds / ROUNDS, quiet)
        with crowd(port, name, connections=connections, source=STRANGER):
            watch(port, request, seconds / ROUNDS, attacked)
    times = attacked.p95 / quiet.p95
    judged = verdict(times <= TIMES and not attacked.failed)
    print(
        f"  {name:<38} {quiet.p95:9.1f} {attacked.p95:9.1f} {times:7.2f} {attacked.failed:7}"
        f"    (at most {TIMES}: {judged})",
        flush=True,
    )


def watch(port: int, request: bytes, seconds: float, answers: TenantAnswers) -> None:
    """Send the request repeatedly over one connection, with a short pause."""
    end = time.monotonic() + seconds
    sock: socket.socket | None = None
    while time.monotonic() < end:
        began = time.perf_counter()
        try:
            sock = sock or socket.create_connection(("127.0.0.1", port), timeout=30)
            is_good, is_kept = _ask(sock, request)
        except OSError:
            is_good = is_kept = False
        answers.seconds.append(time.perf_counter() - began)
        answers.failed += not is_good
        if not is_kept and sock is not None:
            sock.close()
            sock = None
        time.sleep(PAUSE)


def _ask(sock: socket.socket, request: bytes) -> tuple[bool, bool]:
    """Send a request and read its answer. Return whether it succeeded and whether the connection is kept."""
    sock.sendall(request)
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(sock)
    head, _, body = received.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    left = int(fields[b"content-length"]) - len(body)
    while left > 0:
        left -= len(_more(sock))
    return head.split()[1] == b"200", fields.get(b"connection") != b"close"


def _more(sock: socket.socket) -> bytes:
    data = sock.recv(65_536)
    if not data:
        raise ConnectionError
    return data
