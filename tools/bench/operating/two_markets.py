"""Compares pages in a market with many old orders and in one with few: times and queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from statistics import median
from time import perf_counter

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import Client

from tools.bench.database import copy_database, drop_database
from tools.bench.measuring import cpu_seconds, timed
from tools.bench.operating import market
from tools.bench.operating.pages import address, ask, on, over, statements
from tools.bench.serving.market import open_market
from tools.bench.sizes import SMOKE, size

SMALL, WAITING = size(10_000, smoke=5_000), 2_000
MOST = 1.3
"""The most time that a page may take in the large market, as a multiple of its time in the small one."""


@contextmanager
def two_markets(orders: int, waiting: int) -> Iterator[str]:
    """Make the large market in Django's database, and a copy of it from when it was small; yield its name."""
    name = str(connection.settings_dict["NAME"])
    small = f"{name}_small"
    with timed(f"a market of {SMALL:,} orders, of which {WAITING:,} wait"):
        open_market()
        market.grow(0, SMALL)
        market.furnish(WAITING)
    copy_database(name, small)
    try:
        with timed(f"grown to {orders:,} orders", orders):
            market.grow(SMALL, orders)
        if waiting > WAITING:
            market.wait(WAITING + 1, waiting)
        yield small
    finally:
        drop_database(small)


def measure(
    small: str, rounds: int, pages: Mapping[str, str], sign_in: Callable[[], Client]
) -> list[BaseDatabaseWrapper]:
    """Measure each page in both markets in turn, so that other load of the machine affects both.

    Returns the connections to the small and to the large market.
    """
    markets = [over(small), over(str(connection.settings_dict["NAME"]))]
    clients = []
    for database in markets:
        with on(database):
            clients.append(sign_in())
    heading = f"{SMALL:>9,} {'large':>9} {'ratio':>7}"
    print(f"  {'queries; p95 in ms; processor time in ms':<47} {heading} {heading}", flush=True)
    late = []
    for title, path in pages.items():
        quick, slow = (MeasuredPage(*pair, path) for pair in zip(markets, clients, strict=True))
        for _ in range(rounds):
            quick.measure()
            slow.measure()
        ratio = slow.p95 / quick.p95
        verdict = "" if SMOKE or ratio <= MOST else f"    (at most {MOST}: NO)"
        statements_shown = " ".join(str(number) for number in sorted({quick.statements, slow.statements}))
        numbers = f"{quick.p95:9.1f} {slow.p95:9.1f} {ratio:7.2f}"
        work = f"{quick.work:9.1f} {slow.work:9.1f} {slow.work / quick.work:7.2f}"
        print(f"    {title:<38} {statements_shown:>6} {numbers} {work}{verdict}", flush=True)
        late += [title] if verdict else []
    print(f"  slower than {MOST} times: {', '.join(late) or 'none'}")
    return markets


class MeasuredPage:
    """A page of one market, and the times of its requests."""

    def __init__(self, market_of: BaseDatabaseWrapper, client: Client, path: str) -> None:
        self.market, self.client = market_of, client
        self.took: list[float] = []
        self.costs: list[float] = []
        with on(market_of):
            self.path = address(client, path)
            ask(client, self.path)  # the first request fills caches and is not measured
            self.statements = statements(client, self.path)

    def measure(self) -> None:
        """Request the page once more."""
        with on(self.market):
            began, spent = perf_counter(), cpu_seconds()
            ask(self.client, self.path)
            self.took.append(perf_counter() - began)
            self.costs.append(cpu_seconds() - spent)

    @property
    def work(self) -> float:
        """Return the processor time in milliseconds, of this process and of PostgreSQL."""
        return median(self.costs) * 1000

    @property
    def p95(self) -> float:
        """Return the 95th percentile of the times, in milliseconds."""
        return sorted(self.took)[math.ceil(len(self.took) * 0.95) - 1] * 1000
