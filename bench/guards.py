"""What it costs to know who asks, to count it, and to share out threads: beside a server that does not.

Asked of the cheapest endpoint, where it weighs the most: `order-filters` reads one row of three numbers.
"""

from __future__ import annotations

from bench.database import own_database
from bench.measuring import ratio, timed
from bench.options import read_options
from bench.serving import market
from bench.serving.asking import get
from bench.serving.load import clients
from bench.serving.market import PARTIES
from bench.serving.rounds import CONNECTIONS, Target, in_turn, rate, share
from bench.serving.service import running_service

UNREACHED = "100000000/min"
"""A rate limit that is counted against, and that nobody comes to."""
MOST = 0.15


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
            running_service(settings="bench.serving.unguarded") as unguarded,
        ):
            targets = {"guarded": Target(guarded.port, asked), "free": Target(unguarded.port, asked)}
            found = in_turn(pool, targets, connections=options.connections)
        rates = f"{rate(found['guarded']):8.1f} {rate(found['free']):8.1f}"
        print(f"  {'count orders, requests/s: as it is, without any of the three':<66} {rates}")
        ratio(
            "  share of authentication, limits and shares of the threads",
            1 - share(found["guarded"], found["free"]),
            1,
            MOST,
        )
