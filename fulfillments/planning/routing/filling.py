"""Which piece comes from where, once it is known which places ship: as much as can be, as cheap as can be."""

from __future__ import annotations

from collections.abc import Iterator

from fulfillments.planning.routing.problem import Group

Pieces = dict[tuple[int, int], int]
"""How many pieces of a group's want come from an offer, each named by its position."""
Steps = list[tuple[int, int]]
"""A want and the offer that it takes from; each further want gives up the offer before, and takes another."""
Filled = tuple[int, int, Pieces]
"""How many pieces there are, what they cost, and which they are."""


def fill(group: Group, places: int) -> Filled:
    """The most that these places fill, at the lowest cost."""
    offers = group.offers_at(places)
    group.effort += len(offers)
    if group.uniform:
        return _in_turn(group, offers)
    return _as_good_as_can_be(group, offers) or _by_flow(group, offers)


def cheapest(group: Group, places: int, need: int) -> int:
    """At least so much do these pieces cost from these places: exactly, unless lines compete."""
    cost = 0
    for offer in group.offers:
        if places >> offer.place & 1:
            if offer.available >= need:
                return cost + offer.cost * need
            need -= offer.available
            cost += offer.cost * offer.available
    return cost


def _in_turn(group: Group, offers: list[int]) -> Filled:
    """All lines take the same: the cheapest pieces go to the first of them."""
    pieces: Pieces = {}
    filled = cost = want = 0
    missing = [want.quantity for want in group.wants]
    for position in offers:
        offer = group.offers[position]
        left = offer.available
        while left and want < len(missing):
            taken = min(left, missing[want])
            pieces[want, position] = taken
            filled, cost = filled + taken, cost + taken * offer.cost
            left, missing[want] = left - taken, missing[want] - taken
            want += not missing[want]
        if want == len(missing):
            break
    return filled, cost, pieces


def _as_good_as_can_be(group: Group, offers: list[int]) -> Filled | None:
    """Who can take from the fewest chooses first; None where that is not the best for sure."""
    pieces: Pieces = {}
    filled = cost = 0
    left = {position: group.offers[position].available for position in offers}
    most = min(group.wanted, sum(left.values()))
    for want in group.choosing:
        missing = group.wants[want].quantity
        for position in offers:
            if position in group.takers[want] and (taken := min(missing, left[position])):
                pieces[want, position] = taken
                filled, cost = filled + taken, cost + taken * group.offers[position].cost
                left[position], missing = left[position] - taken, missing - taken
    best = filled == most and cost == _least(group, offers, most)
    return (filled, cost, pieces) if best else None


def _least(group: Group, offers: list[int], need: int) -> int:
    """What so many pieces cost if anybody could take any of them."""
    cost = 0
    for position in offers:
        taken = min(need, group.offers[position].available)
        cost, need = cost + taken * group.offers[position].cost, need - taken
    return cost


def _by_flow(group: Group, offers: list[int]) -> Filled:
    """Lines compete: the cheapest of the largest flows, which grows along the cheapest path that is left."""
    pieces: Pieces = {}
    missing = [want.quantity for want in group.wants]
    left = {position: group.offers[position].available for position in offers}
    choices = [[position for position in offers if position in takes] for takes in group.takers]
    filled = cost = 0
    while path := _cheapest_path(group, pieces, choices, missing, left):
        steps, price = path
        most = min(missing[steps[0][0]], left[steps[-1][1]])
        for (_, offer), (want, _) in zip(steps, steps[1:], strict=False):
            most = min(most, pieces[want, offer])
        for number, (want, offer) in enumerate(steps):
            pieces[want, offer] = pieces.get((want, offer), 0) + most
            if number + 1 < len(steps):
                pieces[steps[number + 1][0], offer] -= most
        missing[steps[0][0]] -= most
        left[steps[-1][1]] -= most
        filled, cost = filled + most, cost + most * price
    return filled, cost, {key: count for key, count in pieces.items() if count}


def _cheapest_path(
    group: Group, pieces: Pieces, choices: list[list[int]], missing: list[int], left: dict[int, int]
) -> tuple[Steps, int] | None:
    """How one more piece gets into the flow, and what that adds to the cost; None where none can."""
    price: dict[int, int] = {want: 0 for want, count in enumerate(missing) if count}
    came: dict[int, tuple[int, int]] = {}  # a want that gives a piece of this offer up to that want
    reached: dict[int, tuple[int, int]] = {}  # an offer's price, and the want that takes from it
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
        for other, offer in [key for key, count in pieces.items() if count]:
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
