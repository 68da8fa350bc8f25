"""Random markets, and the best plan for each, found by trying everything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from itertools import combinations
from random import Random
from typing import NamedTuple

from fulfillments.planning.partners import PartnerRow
from fulfillments.planning.routing import Agreed, Candidate, Plan, Want, WarehouseKey
from inventory.reservations import StockKey

NOTHING_AGREED = Agreed("", "", "", None)
ANY_TERMS = PartnerRow(1, 1, 1, False, "ship_partial", False, None, None, None, None, 10, None)
"""Plans do not look at it."""


class Market(NamedTuple):
    """What is wanted, and what may be reserved of each stock row."""

    wants: list[Want]
    available: dict[StockKey, int]


class Worth(NamedTuple):
    """What makes one plan better than another, in this order: pieces (negative), fulfillments, cost."""

    unfilled: int
    fulfillments: int
    cost: Decimal


def random_market(
    chance: Random,
    *,
    lines: int,
    suppliers: int,
    warehouses: int,
    pieces: int,
    ample: bool = False,
    competing: float = 0.25,
) -> Market:
    """Each supplier has each line's goods with one chance for all; some lines compete for the same goods."""
    share = chance.choice((0.4, 0.7, 1.0))
    priorities = {supplier: chance.choice((10, 20)) for supplier in range(1, suppliers + 1)}
    available: dict[StockKey, int] = {}
    wants: list[Want] = []
    for line in range(lines):
        if wants and chance.random() < competing:
            known = wants[-1].candidates
            candidates = tuple(each for each in known if chance.random() < 0.7) or known[:1]
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
                        available[key] = chance.randint(1, pieces * (4 if ample else 1))
        wants.append(Want(line, chance.randint(1, pieces), candidates))
    return Market(wants, available)


def worth(market: Market, plan: Plan) -> Worth:
    """How good a plan is. Fails where it promises what is not there, or more than is wanted."""
    taken: dict[StockKey, int] = {}
    for each in plan.allocations:
        taken[each.stock_key] = taken.get(each.stock_key, 0) + each.reserved
    assert all(pieces <= market.available[key] for key, pieces in taken.items() if pieces)
    for want in market.wants:
        found = sum(each.quantity for each in plan.allocations if each.line == want.line)
        assert found + plan.unfilled.get(want.line, 0) == want.quantity
    cost = sum((each.candidate.cost * each.quantity for each in plan.allocations), Decimal(0))
    return Worth(sum(plan.unfilled.values()), len(plan.warehouses), cost)


def best_worth(market: Market) -> Worth:
    """The best that there is, by every set of places and every way to share out their stock."""
    places = sorted(
        {
            (candidate.supplier_id, warehouse)
            for want in market.wants
            for candidate in want.candidates
            for variant, warehouse in market.available
            if variant == candidate.variant_id
        }
    )
    most = _fill(market, places)[0]
    for size in range(len(places) + 1):
        fills = [_fill(market, chosen) for chosen in combinations(places, size)]
        costs = [-dearness for filled, dearness in fills if filled == most]
        if costs:
            return Worth(sum(want.quantity for want in market.wants) - most, size, min(costs))
    raise AssertionError("all places together fill as much as all places together")


def _fill(market: Market, places: Iterable[WarehouseKey]) -> tuple[int, Decimal]:
    """The most pieces that these places fill, and (negative) the least that so many can cost."""
    allowed = set(places)
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
        for pieces in range(most + 1):
            after = (*left[:key], left[key] - pieces, *left[key + 1 :])
            filled, dearness = rest(number, missing - pieces, key + 1, after)
            options.append((filled + pieces, dearness - cost * pieces))
        return max(options)

    return rest(0, market.wants[0].quantity, 0, tuple(market.available[key] for key in keys))


def stock_of(*rows: tuple[int, int, int]) -> Mapping[StockKey, int]:
    """Stock as `(variant, warehouse, pieces)`."""
    return {(variant, warehouse): pieces for variant, warehouse, pieces in rows}


def a_candidate(variant_id: int, supplier_id: int, cost: str = "1", **fields: object) -> Candidate:
    """A supplier's variant; its default warehouse has ten times the supplier's number."""
    values: dict[str, object] = {"priority": 100, "default_warehouse_id": 10 * supplier_id, **fields}
    values |= {"agreed": NOTHING_AGREED}
    return Candidate(variant_id, supplier_id, ANY_TERMS, Decimal(cost), **values)  # type: ignore[arg-type]


def placed(plan: Plan) -> Sequence[tuple[int, int, int, int]]:
    """A plan's allocations as `(line, variant, warehouse, quantity)`."""
    return sorted((each.line, *each.stock_key, each.quantity) for each in plan.allocations)
