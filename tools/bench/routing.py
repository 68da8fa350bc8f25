"""Routing: plans beside the best possible plans, and the CPU time of a large order's plan."""

from __future__ import annotations

import time
from random import Random

from fulfillments.planning.explaining import explain
from fulfillments.planning.routing import plan
from tools.bench.measuring import at_least, at_most, show
from tools.bench.options import read_options
from tools.bench.random_markets import best_worth, random_market, worth
from tools.bench.sizes import size

MOST_SECONDS = 1.5


def main(arguments: list[str]) -> None:
    options = read_options("routing", arguments, small=size(2_000, smoke=50))
    small(options.small)
    large()


def small(markets: int) -> None:
    """Compare plans with the best plan, found by trying every set of warehouses and every allocation."""
    same = 0
    for seed in range(markets):
        chance = Random(seed)
        market = random_market(
            chance,
            lines=chance.randint(1, 4),
            suppliers=chance.randint(2, 4),
            warehouses=chance.randint(1, 2),
            units=chance.randint(1, 3),
            ample=chance.random() < 0.5,
        )
        planned = worth(market, plan(market.wants, market.available, allow_short=False))
        same += planned == best_worth(market)
    at_least(f"share of {markets:,} small markets with the best plan", same / markets, 1.0)


def large() -> None:
    """Plan and explain 100 lines that 50 suppliers offer from 5 warehouses each."""
    for ample in (False, True):
        market = random_market(Random(7), lines=100, suppliers=50, warehouses=5, units=5, ample=ample)
        began = time.process_time()
        planned = plan(*market, allow_short=True)
        planning = time.process_time() - began
        explain(market.wants, planned, market.available)
        both = time.process_time() - began
        label = f"100 lines × 50 suppliers × 5 warehouses, {'ample' if ample else 'scarce'} stock"
        show(f"{label}: CPU of plan, reasons", planning, both - planning)
        at_most(f"CPU seconds for {len(planned.warehouses)} fulfillments", both, MOST_SECONDS)
