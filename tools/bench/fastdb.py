"""Each use of `fastdb` on trial: what an operation costs with it, and with what Django alone would do.

Both are asked in turn, so that whatever else the machine does falls on both alike. A cost is the processor
time of this process and of its PostgreSQL (where that runs elsewhere: the time on the clock).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from statistics import median

from django.db import connection

from tools.bench.database import own_database
from tools.bench.measuring import timed
from tools.bench.options import read_options
from tools.bench.serving import market
from tools.bench.trial.operations import Answer, Operation, operations, service
from tools.bench.trial.plain import inserts_can_be_plain
from tools.bench.trial.uses import Way, all_plain, used_by

ORDERS = 10_000
LEAST = 0.10
"""A use that saves less of every operation that it serves is not worth its price."""


def main(arguments: list[str]) -> None:
    options = read_options("fastdb", arguments, only=True, pairs=120)
    with own_database():
        with timed(f"a market of {ORDERS:,} orders"):
            secrets = market.open_market()
            market.grow(0, ORDERS)
        answer = service()
        inserts_can_be_plain()
        best: dict[str, float] = {}
        for name, operation in operations(secrets).items():
            if options.only in name:
                for use, gain in gains(name, operation, answer, options.pairs):
                    best[use] = max(gain, best.get(use, 0))
    print("  of the operation that it serves best, each use saves")
    for use, gain in sorted(best.items(), key=lambda each: -each[1]):
        print(f"    {use:<64} {gain:8.1%}    (at least {LEAST:.0%}: {'yes' if gain >= LEAST else 'NO'})")


def gains(name: str, operation: Operation, answer: Answer, pairs: int) -> Iterator[tuple[str, float]]:
    """What each use saves of an operation, as a share of what it would cost without."""
    uses = used_by(operation, answer)
    print(f"  {name}")

    def gain(label: str, plain: Way) -> float:
        costs = in_turn(operation, answer, plain, pairs)
        saved = 1 - median(fast / plain for fast, plain in costs)
        fast, slow = (median(each) * 1e3 for each in zip(*costs, strict=True))
        print(f"    {label:<64} {saved:8.1%}    {slow:7.2f} -> {fast:.2f} ms", flush=True)
        return saved

    for use in uses:
        yield use.name, gain(use.name, use.plain)
        if len(use.parts) > 1:
            for part, plain in use.parts.items():
                gain(f"    {part}", plain)
    gain("all of them", lambda: all_plain(use.plain for use in uses))


def in_turn(operation: Operation, answer: Answer, plain: Way, pairs: int) -> list[tuple[float, float]]:
    """Pairs of what the operation costs as it is, and without that use."""

    def done(without: bool) -> float:
        asked = operation()
        with plain() if without else nullcontext():
            before = cost()
            answer(asked)
            return cost() - before

    done(False), done(True)  # what is found out once for each process does not count
    pairs_of_costs = []
    for number in range(pairs):
        first = done(bool(number % 2))
        second = done(not number % 2)
        pairs_of_costs.append((second, first) if number % 2 else (first, second))
    return pairs_of_costs


def cost() -> float:
    connection.ensure_connection()
    backend = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
    try:
        return time.process_time() + int(backend.read_text().split()[0]) / 1e9
    except OSError:
        return time.perf_counter()
