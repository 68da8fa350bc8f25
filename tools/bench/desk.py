"""The times and queries of the admin's pages: a market with many old orders beside a market with few.

Both markets have the same waiting orders. `--orders` is the number of orders in the large market, most of
them completed. With a larger `--waiting`, more orders of the large market wait.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User

from backoffice.navigation.counting import count_waiting
from tools.bench.operating.pages import PAGES
from tools.bench.operating.two_markets import ORDERS, ROUNDS, WAITING, compare, two_markets
from tools.bench.options import read_options
from tools.bench.sizes import size


def main(arguments: list[str]) -> None:
    options = read_options("desk", arguments, only=True, orders=ORDERS, waiting=WAITING, rounds=ROUNDS)
    chosen = [*PAGES.items()][:: size(1, smoke=6)]
    pages = {title: path for title, path in chosen if options.only in title}
    settings.SECOND_FACTOR = "groups"  # the bench's operator has no second factor
    with two_markets(options.orders, options.waiting) as markets:
        compare(markets, options.rounds, pages, operator)


def operator() -> User:
    count_waiting()
    return User.objects.create(username="bench", is_staff=True, is_superuser=True)
