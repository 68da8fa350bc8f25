"""The assignment of warehouses' stock to lines: as many units as possible, at the lowest cost."""

from __future__ import annotations

from collections.abc import Iterator

from fulfillments.planning.routing.problem import LineGroup

Units = dict[tuple[int, int], int]
"""Units by the index of the want and the index of the offer in a group."""
Steps = list[tuple[int, int]]
"""A path: pairs of a want and the offer that it takes.

Each want except the first gives up the offer of the previous pair.
"""
Filled = tuple[int, int, Units]
"""The number of units, their cost, and the units by want and offer."""


def fill(group: LineGroup, warehouses: int) -> Filled:
    """Fill the lines of a group with as many units of these warehouses as possible, at the lowest cost."""
    offers = group.offers_at(warehouses)
    group.effort += len(offers)
    if group.uniform:
        return _in_turn(group, offers)
    return _provably_best(group, offers) or _by_flow(group, offers)


def cheapest(group: LineGroup, warehouses: int, need: int) -> int:
    """Return a lower bound of the cost of `need` units.

    The bound is the exact cost if every line accepts every offer.
    """
    cost = 0
    for offer in group.offers:
        if warehouses >> offer.position & 1:
            if offer.available >= need:
                return cost + offer.cost * need
            need -= offer.available
            cost += offer.cost * offer.available
    return cost


def _in_turn(group: LineGroup, offers: list[int]) -> Filled:
    """Fill lines that accept the same offers: the first line gets the cheapest units."""
    units: Units = {}
    filled = cost = want = 0
    missing = [want.quantity for want in group.wants]
    for position in offers:
        offer = group.offers[position]
        left = offer.available
        while left and want < len(missing):
            taken = min(left, missing[want])
            units[want, position] = taken
            filled, cost = filled + taken, cost + taken * offer.cost
            left, missing[want] = left - taken, missing[want] - taken
            want += not missing[want]
        if want == len(missing):
            break
    return filled, cost, units


def _provably_best(group: LineGroup, offers: list[int]) -> Filled | None:
    """Fill first the lines that accept the fewest offers. Return None if a better result may exist."""
    units: Units = {}
    filled = cost = 0
    left = {position: group.offers[position].available for position in offers}
    most = min(group.wanted, sum(left.values()))
    for want in group.choosing:
        missing = group.wants[want].quantity
        for position in offers:
            if position in group.takers[want] and (taken := min(missing, left[position])):
                units[want, position] = taken
                filled, cost = filled + taken, cost + taken * group.offers[position].cost
                left[position], missing = left[position] - taken, missing - taken
    best = filled == most and cost == _least(group, offers, most)
    return (filled, cost, units) if best else None


def _least(group: LineGroup, offers: list[int], need: int) -> int:
    """Return a lower bound of the cost of `need` units: every line is assumed to accept every offer."""
    cost = 0
    for position in offers:
        taken = min(need, group.offers[position].available)
        cost, need = cost + taken * group.offers[position].cost, need - taken
    return cost


def _by_flow(group: LineGroup, offers: list[int]) -> Filled:
    """Fill competing lines by a minimum-cost maximum flow: add the cheapest remaining path each time."""
    units: Units = {}
    missing = [want.quantity for want in group.wants]
    left = {position: group.offers[position].available for position in offers}
    choices = [[position for position in offers if position in takes] for takes in group.takers]
    filled = cost = 0
    while path := _cheapest_path(group, units, choices, missing, left):
        steps, price = path
        most = min(missing[steps[0][0]], left[steps[-1][1]])
        for (_, offer), (want, _) in zip(steps, steps[1:], strict=False):
            most = min(most, units[want, offer])
        for number, (want, offer) in enumerate(steps):
            units[want, offer] = units.get((want, offer), 0) + most
            if number + 1 < len(steps):
                units[steps[number + 1][0], offer] -= most
        missing[steps[0][0]] -= most
        left[steps[-1][1]] -= most
        filled, cost = filled + most, cost + most * price
    return filled, cost, {key: count for key, count in units.items() if count}


def _cheapest_path(
    group: LineGroup, units: Units, choices: list[list[int]], missing: list[int], left: dict[int, int]
) -> tuple[Steps, int] | None:
    """Return the cheapest path that adds units, and its cost per unit. Return None if no path is left."""
    price: dict[int, int] = {want: 0 for want, count in enumerate(missing) if count}
    # For each want that gives up units of an offer: this offer, and the want that takes these units.
    came: dict[int, tuple[int, int]] = {}
    # For each offer: the price of the cheapest path that ends at the offer, and the want before the offer.
    reached: dict[int, tuple[int, int]] = {}
    changed = True
    while changed:
        changed = False
        for want, sofar in list(price.items()):
            group.effort += len(choices[want])
            for offer in choices[want]:
                total = sofar + group.offers[offer].cost
                if offer not in reached or total < reached[offer][0]:
                    reached[offer] = total, want
                    changed = True
        for other, offer in [key for key, count in units.items() if count]:
            if offer in reached and reached[offer][1] != other:
                total = reached[offer][0] - group.offers[offer].cost
                if other not in price or total < price[other]:
                    price[other], came[other] = total, (offer, reached[offer][1])
                    changed = True
    ends = [(reached[offer][0], offer) for offer, count in left.items() if count and offer in reached]
    if not ends:
        return None
    total, offer = min(ends)
    return list(_steps(reached[offer][1], offer, came))[::-1], total


def _steps(want: int, offer: int, came: dict[int, tuple[int, int]]) -> Iterator[tuple[int, int]]:
    yield want, offer
    while want in came:
        offer, want = came[want]
        yield want, offer
