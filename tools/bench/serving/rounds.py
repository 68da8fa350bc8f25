"""Rounds of load that alternate between targets, so that other load of the machine affects all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from statistics import median

from tools.bench.serving.load import Round, drive
from tools.bench.sizes import size

ROUNDS, SECONDS = size(16, smoke=1), size(0.4, smoke=0.1)
CONNECTIONS = 4


@dataclass(frozen=True)
class LoadTarget:
    """A server's port, and the requests for it."""

    port: int
    requests: list[bytes]


def in_turn(
    pool: ProcessPoolExecutor, targets: Mapping[str, LoadTarget], connections: int = CONNECTIONS
) -> dict[str, list[Round]]:
    """Return the rounds of each target without the first, which warms up."""
    rounds_of: dict[str, list[Round]] = {name: [] for name in targets}
    for _ in range(ROUNDS + 1):
        for name, target in targets.items():
            task = pool.submit(drive, target.port, target.requests, SECONDS, connections)
            rounds_of[name].append(task.result())
    return {name: rounds[1:] for name, rounds in rounds_of.items()}


def rate(rounds: list[Round]) -> float:
    """Return the median of the requests per second."""
    return median(measured.rate for measured in rounds)


def share(part: list[Round], whole: list[Round]) -> float:
    """Return one rate as a share of another: the median over pairs of rounds."""
    return median(a.rate / b.rate for a, b in zip(part, whole, strict=True))


def p95(rounds: list[Round]) -> float:
    """Return the 95th percentile of all latencies in milliseconds. One round alone has too few requests."""
    latencies = sorted(latency for measured in rounds for latency in measured.latencies)
    return latencies[math.ceil(len(latencies) * 0.95) - 1] * 1000
