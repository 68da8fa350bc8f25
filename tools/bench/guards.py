"""The cost of authentication, rate limits and fair threads, beside a server without them.

A third server makes only the two round trips that they need. The requests go to the cheapest endpoint, where
the share is largest: `order-filters` reads one row of three numbers.
"""

from __future__ import annotations

from tools.bench.database import own_database
from tools.bench.measuring import ratio, timed
from tools.bench.options import read_options
from tools.bench.serving import market
from tools.bench.serving.asking import get
from tools.bench.serving.load import clients
from tools.bench.serving.market import PARTIES
from tools.bench.serving.rounds import CONNECTIONS, LoadTarget, in_turn, rate, share
from tools.bench.serving.service import running_service
from tools.bench.sizes import size

UNREACHED = "100000000/min"
"""A rate limit that every request counts against and no client reaches."""
ORDERS = size(10_000, smoke=2_500)
MOST = 0.15
LABELS = {
    "guarded": "with authentication, limits and fair threads",
    "barely": "with two bare round trips instead of them",
    "free": "without them",
}


def main(arguments: list[str]) -> None:
    options = read_options("guards", arguments, connections=CONNECTIONS)
    with own_database():
        with timed(f"a market of {ORDERS:,} orders"):
            secrets = market.open_market()
            market.grow(0, ORDERS)
        requests = [
            get(f"retailers/{retailer}/order-filters", secrets.retailers[retailer]).real_bytes()
            for retailer in range(1, PARTIES + 1)
        ]
        with (
            clients() as pool,
            running_service(rate_limit=UNREACHED) as guarded,
            running_service(settings="tools.bench.serving.barely_guarded") as barely,
            running_service(settings="tools.bench.serving.unguarded") as unguarded,
        ):
            servers = {"guarded": guarded, "barely": barely, "free": unguarded}
            targets = {name: LoadTarget(server.port, requests) for name, server in servers.items()}
            rounds = in_turn(pool, targets, connections=options.connections)
        print("  count orders, requests per second:")
        for name, label in LABELS.items():
            print(f"    {label:<64} {rate(rounds[name]):8.1f}")
        bare = 1 - share(rounds["barely"], rounds["free"])
        print(f"  {'share of the two bare round trips':<66} {bare:8.2f}")
        whole = 1 - share(rounds["guarded"], rounds["free"])
        ratio("  share of authentication, limits and fair threads", whole, 1, MOST)
