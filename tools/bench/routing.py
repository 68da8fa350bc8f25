"""Routing: plans beside the best that there are, and what a large order's plan costs."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from random import Random
from typing import TypeVar

from fulfillments.planning.explaining import explain
from fulfillments.planning.routing import plan
from fulfillments.planning.routing.problem import Problem
from fulfillments.planning.routing.search import MOST_WORK, Search
from tools.bench.measuring import at_least, ratio
from tools.bench.options import read_options
from tools.bench.random_markets import Market, best_worth, random_market, worth

T = TypeVar("T")

MOST_SECONDS = 1.5
PATIENT = 30
"""The best known of a middling market comes from a search that may look at so many times as much."""


def main(arguments: list[str]) -> None:
    options = read_options("routing", arguments, small=2_000, middling=200)
    small(options.small)
    middling(options.middling)
    large()


def small(markets: int) -> None:
    """Every set of places is tried, and every way to share out their stock."""
    same = 0
    for seed in range(markets):
        chance = Random(seed)
        market = random_market(
            chance,
            lines=chance.randint(1, 4),
            suppliers=chance.randint(2, 4),
            warehouses=chance.randint(1, 2),
            pieces=chance.randint(1, 3),
            ample=chance.random() < 0.5,
        )
        found = worth(market, plan(market.wants, market.available, allow_short=False))
        same += found == best_worth(market)
    at_least(f"of {markets:,} small markets planned as well as can be", same / markets, 1.0)


def middling(markets: int) -> None:
    """30 to 60 places, scarce and ample; nobody can try everything, so patience is the measure."""
    above: dict[int, int] = {}
    for seed in range(markets):
        market = a_middling_market(Random(seed))
        fewer, _ = _searched(market, PATIENT)
        count, _ = _searched(market, 1)
        above[count - fewer] = above.get(count - fewer, 0) + 1
    print(f"  fulfillments above the best known, and how often: {dict(sorted(above.items()))}")
    ratio("most fulfillments above the best known", max(above), 1, 1)


def a_middling_market(chance: Random) -> Market:
    while True:
        market = random_market(
            chance,
            lines=chance.randint(5, 25),
            suppliers=20,
            warehouses=chance.randint(2, 4),
            pieces=chance.randint(1, 10),
            ample=chance.random() < 0.5,
        )
        if 30 <= len(Problem(*market).warehouses) <= 60:
            return market


def _searched(market: Market, budget: int) -> tuple[int, int]:
    search = Search(Problem(*market), most_work=budget * MOST_WORK)
    search.run()
    return search.merit[:2]


def large() -> None:
    """100 lines that 50 suppliers of 5 warehouses have: the plan, and the reasons that are kept of it."""
    for ample in (False, True):
        market = random_market(Random(7), lines=100, suppliers=50, warehouses=5, pieces=5, ample=ample)
        planned, plan_seconds = _cpu(partial(plan, *market, allow_short=True))
        _, explain_seconds = _cpu(partial(explain, market.wants, planned, market.available))
        stock = "ample" if ample else "scarce"
        print(f"  100 lines × 50 suppliers × 5 warehouses, {stock} stock:")
        cost = f"plan {plan_seconds:.2f} s of CPU, reasons {explain_seconds:.2f} s"
        print(f"  {cost}; {len(planned.warehouses)} fulfillments")
        ratio(f"CPU seconds, {stock}", plan_seconds + explain_seconds, 1, MOST_SECONDS)


def _cpu(work: Callable[[], T]) -> tuple[T, float]:
    began = time.process_time()
    result = work()
    return result, time.process_time() - began
