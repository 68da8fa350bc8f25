"""Rounds of load, in turn for all that is compared, so that whatever else the machine does hits all alike."""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from statistics import median

from tools.bench.serving.load import Round, drive

ROUNDS, SECONDS = 16, 0.4
CONNECTIONS = 4


@dataclass(frozen=True)
class Target:
    """Requests for the server on this port."""

    port: int
    requests: list[bytes]


def in_turn(
    pool: ProcessPoolExecutor, targets: Mapping[str, Target], connections: int = CONNECTIONS
) -> dict[str, list[Round]]:
    """The rounds of each target, the first of them, which warms up, left out."""
    found: dict[str, list[Round]] = {name: [] for name in targets}
    for _ in range(ROUNDS + 1):
        for name, target in targets.items():
            task = pool.submit(drive, target.port, target.requests, SECONDS, connections)
            found[name].append(task.result())
    return {name: rounds[1:] for name, rounds in found.items()}


def rate(rounds: list[Round]) -> float:
    """Requests a second."""
    return median(each.rate for each in rounds)


def share(part: list[Round], whole: list[Round]) -> float:
    """How much of the one rate the other is, round by round."""
    return median(a.rate / b.rate for a, b in zip(part, whole, strict=True))


def p95(rounds: list[Round]) -> float:
    """Milliseconds that 95 of 100 requests took at most; one round alone has too few to tell."""
    latencies = sorted(each for found in rounds for each in found.latencies)
    return latencies[math.ceil(len(latencies) * 0.95) - 1] * 1000
