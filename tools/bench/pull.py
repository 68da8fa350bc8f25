"""A retailer's full pull from the real server, beside `COPY (the same SELECT) TO STDOUT`."""

from __future__ import annotations

import time
from statistics import median
from urllib.request import Request, urlopen

from django.db import connection

from accounts.models import ApiKey
from assortment.selectors import GROUPS_BEHIND
from tools.bench.database import own_database
from tools.bench.measuring import at_least, show, timed
from tools.bench.options import read_options
from tools.bench.serving.service import running_service
from tools.bench.serving.shop import Shop, a_shop
from tools.bench.sizes import size

LEAST = 0.6


def main(arguments: list[str]) -> None:
    rows, rounds = size(1_000_000, smoke=1_000), size(3, smoke=1)
    options = read_options("pull", arguments, rows=rows, rounds=rounds)
    with own_database():
        shop = a_shop("Pulled", options.rows)
        secret = ApiKey.issue(shop.retailer, "bench")[1]
        with running_service() as port:
            pull(port, shop, secret)
            pulls, copies = [], []
            for _ in range(options.rounds):
                pulls.append(pull(port, shop, secret))
                copies.append(copied(shop))
    shares = [copy / seconds for copy, (seconds, _) in zip(copies, pulls, strict=True)]
    show("first byte of the pull", median(first for _, first in pulls), unit="s", digits=3)
    at_least("rate of the pull / rate of COPY", median(shares), LEAST)


def pull(port: int, shop: Shop, secret: str) -> tuple[float, float]:
    """Make one full pull over HTTP. Return the seconds until its last and its first byte."""
    path = f"http://127.0.0.1:{port}/v3/retailers/{shop.retailer.pk}/variants?service_type=ecommerce"
    request = Request(path, headers={"Authorization": f"Bearer {secret}"})
    with timed("pull") as clock:
        began = time.perf_counter()
        with urlopen(request) as response:
            response.read(1)
            first = time.perf_counter() - began
            while response.read(1024**2):
                pass
    return clock.seconds, first


def copied(shop: Shop) -> float:
    """Return the seconds that PostgreSQL needs to send the same rows for one statement."""
    params = {"supplier": shop.supplier.pk, "safety": 0, "after": "", "most": 10**9}
    with (
        timed("COPY (the same SELECT) TO STDOUT") as clock,
        connection.cursor() as cursor,
        cursor.copy(f"COPY ({GROUPS_BEHIND}) TO STDOUT", params) as out,
    ):
        for _ in out:
            pass
    return clock.seconds
