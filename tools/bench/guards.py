"""What it costs to know who asks, to count it, and to share out threads: beside a server that does not,
and beside one that makes the two round trips of it and nothing else.

Asked of the cheapest endpoint, where it weighs the most: `order-filters` reads one row of three numbers.
"""

from __future__ import annotations

from tools.bench.database import own_database
from tools.bench.measuring import ratio, timed
from tools.bench.options import read_options
from tools.bench.serving import market
from tools.bench.serving.asking import get
from tools.bench.serving.load import clients
from tools.bench.serving.market import PARTIES
from tools.bench.serving.rounds import CONNECTIONS, Target, in_turn, rate, share
from tools.bench.serving.service import running_service

UNREACHED = "100000000/min"
"""A rate limit that is counted against, and that nobody comes to."""
MOST = 0.15
LABELS = {
    "guarded": "as it is",
    "barely": "with two bare round trips instead of the three",
    "free": "without any of the three",
}


def main(arguments: list[str]) -> None:
    options = read_options("guards", arguments, connections=CONNECTIONS)
    with own_database():
        with timed("a market of 10,000 orders"):
            secrets = market.open_market()
            market.grow(0, 10_000)
        asked = [
            get(f"retailers/{each}/order-filters", secrets.retailers[each]).real_bytes()
            for each in range(1, PARTIES + 1)
        ]
        with (
            clients() as pool,
            running_service(rate_limit=UNREACHED) as guarded,
            running_service(settings="tools.bench.serving.barely_guarded") as barely,
            running_service(settings="tools.bench.serving.unguarded") as unguarded,
        ):
            servers = {"guarded": guarded, "barely": barely, "free": unguarded}
            targets = {name: Target(server.port, asked) for name, server in servers.items()}
            found = in_turn(pool, targets, connections=options.connections)
        print("  count orders, requests a second:")
        for name, label in LABELS.items():
            print(f"    {label:<64} {rate(found[name]):8.1f}")
        bare = 1 - share(found["barely"], found["free"])
        print(f"  {'share of the two bare round trips':<66} {bare:8.2f}")
        whole = 1 - share(found["guarded"], found["free"])
        ratio("  share of authentication, limits and shares of the threads", whole, 1, MOST)
