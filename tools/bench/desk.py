"""Compares the admin's pages in a market with many old orders and in one with few: times and queries.

Both markets have the same waiting orders; `--orders` sets the number of orders in the large market, most of
them completed. With a larger `--waiting`, more of its first orders wait.
"""

from __future__ import annotations

from django.test import Client

from backoffice.navigation.counting import count_waiting
from tools.bench.database import own_database
from tools.bench.operating.pages import PAGES, operator
from tools.bench.operating.two_markets import WAITING, measure, two_markets
from tools.bench.options import read_options
from tools.bench.sizes import size


def main(arguments: list[str]) -> None:
    orders, rounds = size(1_000_000, smoke=5_500), size(20, smoke=1)
    options = read_options("desk", arguments, only=True, orders=orders, waiting=WAITING, rounds=rounds)
    chosen = [*PAGES.items()][:: size(1, smoke=6)]
    pages = {title: path for title, path in chosen if options.only in title}
    with own_database(), two_markets(options.orders, options.waiting) as small:
        for database in measure(small, options.rounds, pages, _signed_in):
            database.close()


def _signed_in() -> Client:
    count_waiting()
    return operator()
