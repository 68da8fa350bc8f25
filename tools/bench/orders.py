"""Orders under load: the Exchange beside bare views, and a market with a long past beside a short past.

Two servers run at the same time, one per market, and rounds of load alternate between them. `SCALE` (or
`--scale`) is the number of orders in the large market; the small market has ten thousand.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection

from tools.bench.database import copy_database, drop_database, own_database
from tools.bench.measuring import at_least, ratio, timed
from tools.bench.options import read_options
from tools.bench.serving import market
from tools.bench.serving.asking import BenchRequest, get, push
from tools.bench.serving.load import ask, clients
from tools.bench.serving.market import PARTIES, Secrets
from tools.bench.serving.rounds import LoadTarget, in_turn, p95, rate, share
from tools.bench.serving.service import running_service
from tools.bench.sizes import size

SMALL = size(10_000, smoke=5_000)
LEAST, LEAST_OF_A_PUSH = 0.5, 0.55


@dataclass(frozen=True)
class Ports:
    """The ports of the two markets' servers."""

    large: int
    small: int


def main(arguments: list[str]) -> None:
    scale = int(os.environ.get("SCALE") or size(1_000_000, smoke=6_000))
    options = read_options("orders", arguments, only=True, scale=scale)
    with own_database(), market_of(options.scale) as (secrets, small):
        measure(secrets, small, options.scale, options.only)


@contextmanager
def market_of(scale: int) -> Iterator[tuple[Secrets, str]]:
    """Make the large market in Django's database, and a copy of it from when it was small; yield its name."""
    name = str(connection.settings_dict["NAME"])
    small = f"{name}_small"
    with timed(f"a market of {SMALL:,} orders"):
        secrets = market.open_market()
        market.grow(0, SMALL)
    copy_database(name, small)
    try:
        with timed(f"grown to {scale:,} orders", scale):
            market.grow(SMALL, scale)
        yield secrets, small
    finally:
        drop_database(small)


def measure(secrets: Secrets, small: str, scale: int, only: str) -> None:
    with clients() as pool, running_service() as large, running_service(small) as little:
        ports = Ports(large.port, little.port)
        for name, requests in operations(secrets).items():
            if only not in name:
                continue
            print(f"  {name}")
            check(ports, requests[0])
            # Measure latency first: `throughput` gives the markets different numbers of orders.
            latency(pool, ports, requests, scale)
            throughput(pool, ports, requests, LEAST_OF_A_PUSH if name.startswith("push") else LEAST)
        print(f"  load of the machine: {', '.join(f'{load:.1f}' for load in os.getloadavg())}")


def operations(secrets: Secrets) -> dict[str, list[BenchRequest]]:
    """Return the requests of each kind, from different parties."""
    parties = range(1, PARTIES + 1)
    retailers, suppliers = secrets.retailers, secrets.suppliers
    since = json.dumps({"updated_at": {"gt": "2024-01-01T01:00:00Z"}})
    work = json.dumps({"retailer_state": "ordered", "fulfillment_state": "new"})
    return {
        "push an order of 3 lines": [
            push(party, retailers[party], _skus(party, variant))
            for variant in range(1, 200, 3)
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
            for n in range(1, SMALL, 97)
        ],
        "count orders (order-filters)": [
            get(f"retailers/{party}/order-filters", retailers[party]) for party in parties
        ],
    }


def _skus(supplier: int, first: int) -> list[str]:
    return [f"S{supplier}-{variant:06d}" for variant in range(first, first + 3)]


def check(ports: Ports, request: BenchRequest) -> None:
    """Prove that a bare view answers the same as the Exchange. Otherwise their rates cannot be compared."""
    if request.method == "GET":
        both = request.real_bytes(), request.bare_bytes()
        real, bare = (json.loads(ask(ports.large, data)) for data in both)
        for body in (real, bare):
            if "next" in body:
                body["next"] = None
        assert real == bare, f"{request.path} and its bare view answer differently"


def throughput(pool: ProcessPoolExecutor, ports: Ports, requests: list[BenchRequest], least: float) -> None:
    rounds = in_turn(
        pool,
        {
            "real": LoadTarget(ports.large, [request.real_bytes() for request in requests]),
            "bare": LoadTarget(ports.large, [request.bare_bytes() for request in requests]),
        },
    )
    rates = f"{rate(rounds['real']):8.1f} {rate(rounds['bare']):8.1f}"
    print(f"    {'requests/s: the Exchange, a bare view':<64} {rates}")
    at_least("  the Exchange / a bare view", share(rounds["real"], rounds["bare"]), least)


def latency(pool: ProcessPoolExecutor, ports: Ports, requests: list[BenchRequest], scale: int) -> None:
    data = [request.real_bytes() for request in requests]
    targets = {"large": LoadTarget(ports.large, data), "small": LoadTarget(ports.small, data)}
    rounds = in_turn(pool, targets, connections=1)
    large, small = p95(rounds["large"]), p95(rounds["small"])
    print(f"    {f'p95 in ms: {scale:,} orders, {SMALL:,}':<64} {large:8.1f} {small:8.1f}")
    ratio("  p95 with the long past / the short", large, small, 1.2)
