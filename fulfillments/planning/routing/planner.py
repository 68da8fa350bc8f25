"""The whole plan: what is in stock by the search, and what is short with whoever takes it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fulfillments.planning.routing.filling import fill
from fulfillments.planning.routing.plan import Allocation, Candidate, Place, Plan, Want
from fulfillments.planning.routing.problem import Problem
from fulfillments.planning.routing.search import Search
from inventory.reservations import StockKey


def plan(
    wants: Sequence[Want],
    available: Mapping[StockKey, int],
    *,
    allow_short: bool,
    joining: Collection[Place] = (),
) -> Plan:
    """What goes where: as many pieces as can be, from the fewest places, at the lowest cost (contract 13).

    `available` is what may be reserved, in pieces. A place that has a fulfillment which this one can join
    counts for nothing. What stock cannot cover goes, marked short, to the best supplier that takes it when
    `allow_short`; else it is `unfilled`.
    """
    problem = Problem(wants, available)
    result = Plan(unfilled={want.line: want.quantity for want in wants})
    chosen = Search(problem, problem.bits(joining)).run()
    for group in problem.groups:
        _, _, pieces = fill(group, chosen)
        for (want, offer), quantity in sorted(pieces.items()):
            source, line = group.offers[offer], group.wants[want].line
            result.allocations.append(
                Allocation(line, source.candidate, source.warehouse_id, quantity, quantity)
            )
            result.unfilled[line] -= quantity
    result.unfilled = {line: missing for line, missing in result.unfilled.items() if missing}
    if allow_short:
        _allocate_short(wants, result, {*joining})
    result.allocations = _merged(result.allocations)
    return result


def _allocate_short(wants: Sequence[Want], result: Plan, joining: Collection[Place]) -> None:
    """Give what stock could not cover to a place that ships anyway, or else to the best supplier."""
    used: dict[int, set[Place]] = {}
    for place in [*result.places, *joining]:
        used.setdefault(place[0], set()).add(place)
    for want in wants:
        short = result.unfilled.get(want.line, 0)
        takers = [each for each in want.candidates if each.takes_short and not each.refused] if short else []
        choices = [
            (
                (not known, not used.get(taker.supplier_id), taker.rank, place != taker.default_place, place),
                taker,
            )
            for taker in takers
            for place, known in _places_for_short(want, taker, used.get(taker.supplier_id, set()))
        ]
        if choices:
            (*_, place), taker = min(choices, key=lambda choice: choice[0])
            used.setdefault(taker.supplier_id, set()).add(place)
            result.allocations.append(Allocation(want.line, taker, place[1], short, 0))
            del result.unfilled[want.line]


def _places_for_short(want: Want, taker: Candidate, used: set[Place]) -> list[tuple[Place, bool]]:
    """Where a supplier could ship what it does not have yet: where it ships anyway, or its default place."""
    places = dict.fromkeys(used, True)
    if taker.default_place is not None:
        places.setdefault(taker.default_place, False)
    return [(place, known) for place, known in places.items() if want.may_come_from(taker, place[1])]


def _merged(allocations: list[Allocation]) -> list[Allocation]:
    """One allocation for each line and stock row, in the order of the lines."""
    merged: dict[tuple[int, StockKey], Allocation] = {}
    for each in sorted(allocations, key=lambda allocation: allocation.line):
        known = merged.get((each.line, each.stock_key))
        quantity, reserved = each.quantity, each.reserved
        if known is not None:
            quantity, reserved = quantity + known.quantity, reserved + known.reserved
        merged[each.line, each.stock_key] = Allocation(
            each.line, each.candidate, each.warehouse_id, quantity, reserved
        )
    return list(merged.values())
