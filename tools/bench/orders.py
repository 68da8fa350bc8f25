"""Orders under load: beside bare views that run only the unavoidable SQL, and a long past beside a short.

Both markets are served at once, and rounds of load go to each in turn. `SCALE` (or --scale) is the number
of orders of the large one; the small one has ten thousand.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection

from tools.bench.database import own_database
from tools.bench.measuring import at_least, ratio, timed
from tools.bench.options import read_options
from tools.bench.serving import market
from tools.bench.serving.asking import Asked, get, push
from tools.bench.serving.counting import queries_of
from tools.bench.serving.load import ask, clients
from tools.bench.serving.market import PARTIES, Secrets
from tools.bench.serving.rounds import Target, in_turn, p95, rate, share
from tools.bench.serving.service import running_service

SMALL = 10_000
LEAST, LEAST_OF_A_PUSH = 0.5, 0.55


@dataclass(frozen=True)
class Ports:
    """Where the two markets are served."""

    large: int
    small: int


def main(arguments: list[str]) -> None:
    options = read_options("orders", arguments, only=True, scale=int(os.environ.get("SCALE") or 1_000_000))
    with own_database(), market_of(options.scale) as (secrets, small):
        measure(secrets, small, options.scale, options.only)


@contextmanager
def market_of(scale: int) -> Iterator[tuple[Secrets, str]]:
    """The large market in Django's database, and the name of a copy from when it was small."""
    name = str(connection.settings_dict["NAME"])
    small = f"{name}_small"
    with timed(f"a market of {SMALL:,} orders"):
        secrets = market.open_market()
        market.grow(0, SMALL)
    with connection._nodb_cursor() as cursor:
        connection.close()
        cursor.execute(f'DROP DATABASE IF EXISTS "{small}"')
        cursor.execute(f'CREATE DATABASE "{small}" TEMPLATE "{name}"')
    try:
        with timed(f"grown to {scale:,} orders", scale):
            market.grow(SMALL, scale)
        yield secrets, small
    finally:
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'DROP DATABASE IF EXISTS "{small}" WITH (FORCE)')


def measure(secrets: Secrets, small: str, scale: int, only: str) -> None:
    with clients() as pool, running_service() as large, running_service(small) as little:
        ports = Ports(large.port, little.port)
        for name, requests in operations(secrets).items():
            if only not in name:
                continue
            print(f"  {name}")
            check(ports, requests[0])
            statements = queries_of(requests[0])
            print(f"    {len(statements)} queries:")
            print("\n".join(f"      {each}" for each in statements), flush=True)
            latency(pool, ports, requests, scale)  # first, while both markets have seen the same
            throughput(pool, ports, requests, LEAST_OF_A_PUSH if name.startswith("push") else LEAST)
        print(f"  load of the machine: {', '.join(f'{each:.1f}' for each in os.getloadavg())}")


def operations(secrets: Secrets) -> dict[str, list[Asked]]:
    """Requests of each kind, of different parties."""
    parties = range(1, PARTIES + 1)
    retailers, suppliers = secrets.retailers, secrets.suppliers
    since = json.dumps({"updated_at": {"gt": "2024-01-01T01:00:00Z"}})
    work = json.dumps({"retailer_state": "ordered", "fulfillment_state": "new"})
    return {
        "push an order of 3 lines": [
            push(each, retailers[each], _skus(each, variant))
            for variant in range(1, 200, 3)
            for each in parties
        ],
        "capture 100 fulfillments": [
            get(f"suppliers/{each}/fulfillments", suppliers[each], filter=work, limit="100")
            for each in parties
        ],
        "list 100 orders": [
            get(f"retailers/{each}/orders", retailers[each], filter=since, limit="100") for each in parties
        ],
        "read an order": [
            get(f"retailers/{n % PARTIES + 1}/orders/{n}", retailers[n % PARTIES + 1])
            for n in range(1, SMALL, 97)
        ],
        "count orders (order-filters)": [
            get(f"retailers/{each}/order-filters", retailers[each]) for each in parties
        ],
    }


def _skus(supplier: int, first: int) -> list[str]:
    return [f"S{supplier}-{variant:06d}" for variant in range(first, first + 3)]


def check(ports: Ports, asked: Asked) -> None:
    """A bare view that answered less would be no measure."""
    if asked.method == "GET":
        real, bare = (json.loads(ask(ports.large, each)) for each in (asked.real_bytes(), asked.bare_bytes()))
        for body in (real, bare):
            if "next" in body:
                body["next"] = None
        assert real == bare, f"{asked.path} and its bare view answer differently"


def throughput(pool: ProcessPoolExecutor, ports: Ports, requests: list[Asked], least: float) -> None:
    found = in_turn(
        pool,
        {
            "real": Target(ports.large, [each.real_bytes() for each in requests]),
            "bare": Target(ports.large, [each.bare_bytes() for each in requests]),
        },
    )
    rates = f"{rate(found['real']):8.1f} {rate(found['bare']):8.1f}"
    print(f"    {'requests/s: the Exchange, a bare view':<64} {rates}")
    at_least("  the Exchange / a bare view", share(found["real"], found["bare"]), least)


def latency(pool: ProcessPoolExecutor, ports: Ports, requests: list[Asked], scale: int) -> None:
    asked = [each.real_bytes() for each in requests]
    targets = {"large": Target(ports.large, asked), "small": Target(ports.small, asked)}
    found = in_turn(pool, targets, connections=1)
    large, small = p95(found["large"]), p95(found["small"])
    print(f"    {f'p95 in ms: {scale:,} orders, {SMALL:,}':<64} {large:8.1f} {small:8.1f}")
    ratio("  p95 with the long past / the short", large, small, 1.2)
