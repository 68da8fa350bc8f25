"""The cost of authentication, rate limits and fair threads, compared with a server without these guards.

A third server makes only the two round trips that the guards need. All requests go to `order-filters`, the
cheapest endpoint, which reads one row. At this endpoint, the guards take the largest share of the time.
"""

from __future__ import annotations

from tools.bench.database import own_database
from tools.bench.measuring import at_most, show, timed
from tools.bench.options import read_options
from tools.bench.serving import market
from tools.bench.serving.byte_requests import get
from tools.bench.serving.market import PARTIES
from tools.bench.serving.rounds import CONNECTIONS, in_turn, rate, share
from tools.bench.serving.service import running_service
from tools.bench.sizes import size

UNREACHED = "100000000/min"
"""A rate limit that no client reaches. Every request still counts against it."""
ORDERS = size(10_000, smoke=2_500)
MOST = 0.15


def main(arguments: list[str]) -> None:
    options = read_options("guards", arguments, connections=CONNECTIONS)
    with own_database():
        with timed(f"a market of {ORDERS:,} orders"):
            secrets = market.open_market()
            market.grow(0, ORDERS)
        requests = [
            get(f"retailers/{retailer}/order-filters", secrets.retailers[retailer])
            for retailer in range(1, PARTIES + 1)
        ]
        with (
            running_service(RATE_LIMIT=UNREACHED) as guarded,
            running_service(BENCH_AUTHENTICATION="TwoRoundTrips") as barely,
            running_service(BENCH_AUTHENTICATION="Remembered") as free,
        ):
            ports = {"guarded": guarded, "barely": barely, "free": free}
            targets = {name: (port, requests) for name, port in ports.items()}
            rounds = in_turn(targets, options.connections)
    show("requests/s with authentication, limits and fair threads", rate(rounds["guarded"]))
    show("requests/s with two bare round trips instead of them", rate(rounds["barely"]))
    show("requests/s without them", rate(rounds["free"]))
    show("share of the two bare round trips", 1 - share(rounds["barely"], rounds["free"]))
    whole = 1 - share(rounds["guarded"], rounds["free"])
    at_most("share of authentication, limits and fair threads", whole, MOST)
