"""Orders under load: the Exchange beside bare views, and a market with a long past beside a short past.

Two servers run at the same time, one per market, and rounds of load alternate between them. `--scale` is the
number of orders in the large market; the small market has ten thousand.
"""

from __future__ import annotations

import json
import os

from tools.bench.database import own_database, second_copy
from tools.bench.measuring import at_least, at_most, show, timed
from tools.bench.options import read_options
from tools.bench.serving import market
from tools.bench.serving.byte_requests import get, push
from tools.bench.serving.market import PARTIES, Secrets
from tools.bench.serving.rounds import beside_bare, in_turn, slowest
from tools.bench.serving.service import running_service
from tools.bench.sizes import size

SMALL = size(10_000, smoke=5_000)
LEAST_OF_A_READ, LEAST_OF_A_PUSH = 0.3, 0.55
"""The lowest rates, as shares of the bare views' rates. Bare reads are fast, because they build no answer."""


def main(arguments: list[str]) -> None:
    options = read_options("orders", arguments, only=True, scale=size(1_000_000, smoke=6_000))
    with own_database():
        with timed(f"a market of {SMALL:,} orders"):
            secrets = market.open_market()
            market.grow(0, SMALL)
        with second_copy() as small:
            with timed(f"grown to {options.scale:,} orders", options.scale):
                market.grow(SMALL, options.scale)
            with running_service() as large_port, running_service(small) as small_port:
                for name, requests in operations(secrets).items():
                    if options.only in name:
                        measure(name, requests, large_port, small_port)
    show("load of the machine", *os.getloadavg(), digits=1)


def measure(name: str, requests: list[bytes], large: int, small: int) -> None:
    # Measure latency first: the rounds beside bare views give the markets different numbers of orders.
    rounds = in_turn({"large": (large, requests), "small": (small, requests)}, connections=1)
    slow, quick = slowest(rounds["large"]), slowest(rounds["small"])
    show(f"{name}: p95 in ms, long past and short", slow, quick, digits=1)
    at_most(f"{name}: p95 with the long past / the short", slow / quick, 1.2)
    real, bare, share = beside_bare(large, requests)
    show(f"{name}: requests/s, the Exchange and bare", real, bare, digits=1)
    least = LEAST_OF_A_PUSH if name.startswith("push") else LEAST_OF_A_READ
    at_least(f"{name}: the Exchange / bare", share, least)


def operations(secrets: Secrets) -> dict[str, list[bytes]]:
    """Return the requests of each kind, from different parties."""
    parties = range(1, PARTIES + 1)
    retailers, suppliers = secrets.retailers, secrets.suppliers
    since = json.dumps({"updated_at": {"gt": "2024-01-01T01:00:00Z"}})
    work = json.dumps({"retailer_state": "ordered", "fulfillment_state": "new"})
    return {
        "push an order of 3 lines": [
            push(party, retailers[party], [f"S{party}-{first + number:06d}" for number in range(3)])
            for first in range(1, 200, 3)
            for party in parties
        ],
        "capture 100 fulfillments": [
            get(f"suppliers/{party}/fulfillments", suppliers[party], filter=work, limit="100")
            for party in parties
        ],
        "list 100 orders": [
            get(f"retailers/{party}/orders", retailers[party], filter=since, limit="100") for party in parties
        ],
        "read an order": [
            get(f"retailers/{n % PARTIES + 1}/orders/{n}", retailers[n % PARTIES + 1])
            for n in range(1, SMALL, SMALL // PARTIES)
        ],
        "count orders (order-filters)": [
            get(f"retailers/{party}/order-filters", retailers[party]) for party in parties
        ],
    }
