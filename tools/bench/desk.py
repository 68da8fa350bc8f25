"""What operators open, over a long past beside a short: each page's time at both, and its queries.

The same orders wait at both sizes; what grows is what is done (--orders), from ten thousand on. Where more
than that shall wait (--waiting), the large market's first orders are opened again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import Client

from backoffice.navigation.counting import count_waiting
from tools.bench.database import own_database
from tools.bench.fastdb import cost
from tools.bench.measuring import timed
from tools.bench.operating import market
from tools.bench.operating.pages import PAGES, address, ask, on, operator, over, statements
from tools.bench.options import read_options
from tools.bench.serving.market import open_market

SMALL, WAITING = 10_000, 2_000
MOST = 1.3
"""A page may take so many times as long as among ten thousand orders."""


def main(arguments: list[str]) -> None:
    options = read_options("desk", arguments, only=True, orders=1_000_000, waiting=WAITING, rounds=20)
    with own_database(), _markets(options.orders, options.waiting) as small:
        measure(small, options.rounds, options.only)


@contextmanager
def _markets(orders: int, waiting: int) -> Iterator[str]:
    """The large market in Django's database; the name of a copy from when it was small."""
    name = str(connection.settings_dict["NAME"])
    small = f"{name}_small"
    with timed(f"a market of {SMALL:,} orders, {WAITING:,} of which wait"):
        open_market()
        market.grow(0, SMALL)
        market.furnish(WAITING)
    with connection._nodb_cursor() as cursor:
        connection.close()
        cursor.execute(f'DROP DATABASE IF EXISTS "{small}"')
        cursor.execute(f'CREATE DATABASE "{small}" TEMPLATE "{name}"')
    try:
        with timed(f"grown to {orders:,} orders", orders):
            market.grow(SMALL, orders)
        if waiting > WAITING:
            market.wait(WAITING + 1, waiting)
        yield small
    finally:
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'DROP DATABASE IF EXISTS "{small}" WITH (FORCE)')


def measure(small: str, rounds: int, only: str = "") -> None:
    """Each page in turn at both sizes, so that whatever else the machine does falls on both alike."""
    markets = [over(small), over(str(connection.settings_dict["NAME"]))]
    clients = [_signed_in(each) for each in markets]
    heading = f"{SMALL:>9,} {'large':>9} {'ratio':>7}"
    print(f"  {'queries; p95 in ms; processor time in ms':<47} {heading} {heading}", flush=True)
    late = []
    for title, path in PAGES.items():
        if only not in title:
            continue
        quick, slow = (Page(*each, path) for each in zip(markets, clients, strict=True))
        for _ in range(rounds):
            quick.measure()
            slow.measure()
        ratio = slow.p95 / quick.p95
        verdict = "" if ratio <= MOST else f"    (at most {MOST}: NO)"
        asked = " ".join(str(each) for each in sorted({quick.statements, slow.statements}))
        numbers = f"{quick.p95:9.1f} {slow.p95:9.1f} {ratio:7.2f}"
        work = f"{quick.work:9.1f} {slow.work:9.1f} {slow.work / quick.work:7.2f}"
        print(f"    {title:<38} {asked:>6} {numbers} {work}{verdict}", flush=True)
        late += [title] if verdict else []
    print(f"  slower than {MOST} times: {', '.join(late) or 'none'}")
    for each in markets:
        each.close()


def _signed_in(large_or_small: BaseDatabaseWrapper) -> Client:
    with on(large_or_small):
        count_waiting()
        return operator()


class Page:
    """A page of one market, and how long it took each time."""

    def __init__(self, market_of: BaseDatabaseWrapper, client: Client, path: str) -> None:
        self.market, self.client = market_of, client
        self.took: list[float] = []
        self.costs: list[float] = []
        with on(market_of):
            self.path = address(client, path)
            ask(client, self.path)  # what is found out once does not count
            self.statements = statements(client, self.path)

    def measure(self) -> None:
        """Ask for it once more."""
        with on(self.market):
            began, spent = perf_counter(), cost()
            ask(self.client, self.path)
            self.took.append(perf_counter() - began)
            self.costs.append(cost() - spent)

    @property
    def work(self) -> float:
        """Milliseconds of a processor, here and in PostgreSQL, whoever else uses them."""
        return median(self.costs) * 1000

    @property
    def p95(self) -> float:
        """In milliseconds."""
        return sorted(self.took)[math.ceil(len(self.took) * 0.95) - 1] * 1000
