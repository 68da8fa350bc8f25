"""The times and queries of pages in a market with many old orders, beside a market with few."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from statistics import median
from time import perf_counter

from django.contrib.auth.models import User
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import Client
from django.test.utils import CaptureQueriesContext

from backoffice.navigation.counting import count_waiting
from tools.bench.database import execute, own_database, second_copy
from tools.bench.measuring import cpu_with_database, p95, timed
from tools.bench.operating import market
from tools.bench.operating.pages import TICK
from tools.bench.serving.market import open_market
from tools.bench.sizes import SMOKE, size

ORDERS, SMALL, WAITING = size(1_000_000, smoke=5_500), size(10_000, smoke=5_000), 2_000
ROUNDS = size(20, smoke=1)
MOST = 1.3
"""The most time that a page may take in the large market, as a multiple of its time in the small market."""
Markets = tuple[BaseDatabaseWrapper, BaseDatabaseWrapper]


@contextmanager
def two_markets(orders: int, waiting: int) -> Iterator[Markets]:
    """Make a small market, copy it, and grow the original. Yield the small copy and the large original."""
    with own_database():
        with timed(f"a market of {SMALL:,} orders, of which {WAITING:,} wait"):
            open_market()
            execute(market.ONCE)
            market.grow(0, SMALL)
            market.wait(1, WAITING)
        with second_copy() as small:
            with timed(f"grown to {orders:,} orders", orders):
                market.grow(SMALL, orders)
            if waiting > WAITING:
                market.wait(WAITING + 1, waiting)
            large, copy = connection.copy(), connection.copy()
            copy.settings_dict["NAME"] = small
            yield copy, large
            copy.close()
            large.close()


def compare(markets: Markets, rounds: int, pages: Mapping[str, str], user: Callable[[], User]) -> None:
    """Measure each page in both markets in turn, so that other load of the machine affects both markets."""
    logging.getLogger("exchange.request").setLevel(logging.WARNING)
    clients = []
    for database in markets:
        with on(database):
            client = Client(HTTP_HOST="localhost")
            client.force_login(user())
            clients.append(client)
    heading = f"{SMALL:>9,} {'large':>9} {'ratio':>7}"
    print(f"  {'queries; p95 in ms; processor time in ms':<47} {heading} {heading}", flush=True)
    for title, path in pages.items():
        small, large = (MeasuredPage(*pair, path) for pair in zip(markets, clients, strict=True))
        for _ in range(rounds):
            small.measure()
            large.measure()
        statements = " ".join(map(str, sorted({small.statements, large.statements})))
        quick, slow = p95(small.seconds), p95(large.seconds)
        cheap, dear = median(small.costs) * 1000, median(large.costs) * 1000
        numbers = f"{quick:9.1f} {slow:9.1f} {slow / quick:7.2f} {cheap:9.1f} {dear:9.1f} {dear / cheap:7.2f}"
        limit = "" if SMOKE or slow / quick <= MOST else f"    (at most {MOST}: NO)"
        print(f"    {title:<38} {statements:>6} {numbers}{limit}", flush=True)


class MeasuredPage:
    """A page of one market, and the times of its requests."""

    def __init__(self, database: BaseDatabaseWrapper, client: Client, path: str) -> None:
        self.database, self.client, self.path = database, client, path
        self.seconds: list[float] = []
        self.costs: list[float] = []
        with on(database):
            if path.endswith(" next"):
                self.path = path.removesuffix(" next")
                link = re.search(r'href="\?([^"]*start=[\w-]+)"', client.get(self.path).content.decode())
                self.path += f"?{link[1]}" if link else ""
            self.ask()  # the first request fills caches and is not measured
            with CaptureQueriesContext(connection) as captured:
                self.ask()
            self.statements = sum("SAVEPOINT" not in query["sql"] for query in captured)

    def ask(self) -> None:
        """Request the page, or run the task of TICK. Fail unless the page answers 200 or a redirect."""
        if self.path == TICK:
            count_waiting()
            return
        response = self.client.get(self.path)
        for _ in getattr(response, "streaming_content", ()):
            pass
        assert response.status_code in (200, 302), f"{self.path} answers {response.status_code}"

    def measure(self) -> None:
        """Request the page, and store its time and its processor time."""
        with on(self.database):
            began, spent = perf_counter(), cpu_with_database()
            self.ask()
            self.seconds.append(perf_counter() - began)
            self.costs.append(cpu_with_database() - spent)


@contextmanager
def on(other: BaseDatabaseWrapper) -> Iterator[None]:
    """Make Django's models use this connection."""
    before = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = other
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = before
