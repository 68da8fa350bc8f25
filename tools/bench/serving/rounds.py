"""Rounds of load that alternate between targets, so that other load of the machine affects all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from statistics import median

from tools.bench.measuring import p95
from tools.bench.serving.byte_requests import bare
from tools.bench.serving.load import Round, drive
from tools.bench.sizes import size

ROUNDS, SECONDS = size(16, smoke=1), size(0.4, smoke=0.1)
CONNECTIONS = 4

LoadTarget = tuple[int, Sequence[bytes]]
"""A server's port, and the requests for it."""


def in_turn(targets: Mapping[str, LoadTarget], connections: int = CONNECTIONS) -> dict[str, list[Round]]:
    """Return the rounds of each target, except the first, which warms up. Clients run in another process."""
    rounds_of: dict[str, list[Round]] = {name: [] for name in targets}
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for _ in range(ROUNDS + 1):
            for name, (port, requests) in targets.items():
                task = pool.submit(drive, port, requests, SECONDS, connections)
                rounds_of[name].append(task.result())
    return {name: rounds[1:] for name, rounds in rounds_of.items()}


def beside_bare(
    port: int, requests: Sequence[bytes], connections: int = CONNECTIONS
) -> tuple[float, float, float]:
    """Return the requests per second of the Exchange and of the bare views, and their ratio."""
    rounds = in_turn({"real": (port, requests), "bare": (port, [*map(bare, requests)])}, connections)
    return rate(rounds["real"]), rate(rounds["bare"]), share(rounds["real"], rounds["bare"])


def rate(rounds: list[Round]) -> float:
    """Return the median of the requests per second."""
    return median(measured.rate for measured in rounds)


def share(part: list[Round], whole: list[Round]) -> float:
    """Return one rate as a share of another: the median over pairs of rounds."""
    return median(a.rate / b.rate for a, b in zip(part, whole, strict=True))


def slowest(rounds: list[Round]) -> float:
    """Return the 95th percentile of all latencies in milliseconds. One round alone has too few requests."""
    return p95([latency for measured in rounds for latency in measured.latencies])
