"""Random markets, and the best plan for each market, found by trying every plan."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import cache
from itertools import combinations
from random import Random
from typing import NamedTuple

from fulfillments.planning.partners import PartnerRow
from fulfillments.planning.routing import Agreed, Candidate, Plan, Want, WarehouseKey
from inventory.reservations import StockKey

NOTHING_AGREED = Agreed("", "", "", None)
ANY_TERMS = PartnerRow(
    1, 1, 1, False, "ship_partial", False, None, 100_000, None, None, None, None, "USD", 10, None
)
"""The terms of every partnership. Their values do not matter, because plans ignore them."""


class RandomMarket(NamedTuple):
    """The wants of all lines, and for each stock key the number of units that can be reserved."""

    wants: list[Want]
    available: dict[StockKey, int]


class Worth(NamedTuple):
    """The rank of a plan: fewer unfilled units come first, then fewer fulfillments, then a lower cost."""

    unfilled: int
    fulfillments: int
    cost: Decimal


def random_market(
    chance: Random,
    *,
    lines: int,
    suppliers: int,
    warehouses: int,
    units: int,
    ample: bool = False,
    competing: float = 0.25,
) -> RandomMarket:
    """Make a market. Each supplier has each line's variant with the same probability.

    Some lines compete for the same variants.
    """
    share = chance.choice((0.4, 0.7, 1.0))
    priorities = {supplier: chance.choice((10, 20)) for supplier in range(1, suppliers + 1)}
    available: dict[StockKey, int] = {}
    wants: list[Want] = []
    for line in range(lines):
        if wants and chance.random() < competing:
            known = wants[-1].candidates
            candidates = tuple(candidate for candidate in known if chance.random() < 0.7) or known[:1]
        else:
            candidates = tuple(
                Candidate(
                    variant_id=1000 * (line + 1) + supplier,
                    supplier_id=supplier,
                    partnership=ANY_TERMS,
                    cost=Decimal(chance.randint(100, 130)) / 10,
                    priority=priority,
                    default_warehouse_id=10 * supplier,
                    agreed=NOTHING_AGREED,
                )
                for supplier, priority in priorities.items()
                if chance.random() < share
            )
            for candidate in candidates:
                for number in range(warehouses):
                    if chance.random() < 0.6:
                        key = (candidate.variant_id, 10 * candidate.supplier_id + number)
                        available[key] = chance.randint(1, units * (4 if ample else 1))
        wants.append(Want(line, chance.randint(1, units), candidates))
    return RandomMarket(wants, available)


def worth(market: RandomMarket, plan: Plan) -> Worth:
    """Return the rank of a plan. Fails if the plan exceeds the stock or the wanted quantity."""
    taken: dict[StockKey, int] = {}
    for each in plan.allocations:
        taken[each.stock_key] = taken.get(each.stock_key, 0) + each.reserved
    assert all(units <= market.available[key] for key, units in taken.items() if units)
    for want in market.wants:
        allocated = sum(each.quantity for each in plan.allocations if each.line == want.line)
        assert allocated + plan.unfilled.get(want.line, 0) == want.quantity
    cost = sum((each.candidate.cost * each.quantity for each in plan.allocations), Decimal(0))
    return Worth(sum(plan.unfilled.values()), len(plan.warehouses), cost)


def best_worth(market: RandomMarket) -> Worth:
    """Return the rank of the best plan, over every set of warehouses and every allocation of their stock."""
    warehouses = sorted(
        {
            (candidate.supplier_id, warehouse)
            for want in market.wants
            for candidate in want.candidates
            for variant, warehouse in market.available
            if variant == candidate.variant_id
        }
    )
    most = _fill(market, warehouses)[0]
    for number in range(len(warehouses) + 1):
        fills = [_fill(market, chosen) for chosen in combinations(warehouses, number)]
        costs = [-negative_cost for filled, negative_cost in fills if filled == most]
        if costs:
            return Worth(sum(want.quantity for want in market.wants) - most, number, min(costs))
    raise AssertionError("all warehouses fill the same number of units as all warehouses")


def _fill(market: RandomMarket, warehouses: Iterable[WarehouseKey]) -> tuple[int, Decimal]:
    """Return the largest number of units that these warehouses can fill, and the lowest cost for it.

    The cost is returned as a negative number, because `max` then prefers the lowest cost.
    """
    allowed = set(warehouses)
    keys = list(market.available)
    costs = {c.variant_id: (c.cost, c.supplier_id) for want in market.wants for c in want.candidates}

    @cache
    def rest(number: int, missing: int, key: int, left: tuple[int, ...]) -> tuple[int, Decimal]:
        if number == len(market.wants):
            return 0, Decimal(0)
        if key == len(keys) or not missing:
            following = number + 1
            quantity = market.wants[following].quantity if following < len(market.wants) else 0
            return rest(following, quantity, 0, left)
        variant, warehouse = keys[key]
        wanted = any(each.variant_id == variant for each in market.wants[number].candidates)
        cost, supplier = costs.get(variant, (Decimal(0), 0))
        most = min(missing, left[key]) if wanted and (supplier, warehouse) in allowed else 0
        options = []
        for units in range(most + 1):
            after = (*left[:key], left[key] - units, *left[key + 1 :])
            filled, negative_cost = rest(number, missing - units, key + 1, after)
            options.append((filled + units, negative_cost - cost * units))
        return max(options)

    return rest(0, market.wants[0].quantity, 0, tuple(market.available[key] for key in keys))
