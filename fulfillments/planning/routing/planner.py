"""The complete plan: units in stock by the search, then short units to suppliers that accept them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fulfillments.planning.routing.filling import fill
from fulfillments.planning.routing.plan import Allocation, Candidate, Plan, Want, WarehouseKey
from fulfillments.planning.routing.problem import Problem
from fulfillments.planning.routing.search import Search
from inventory.reservations import StockKey


def plan(
    wants: Sequence[Want],
    available: Mapping[StockKey, int],
    *,
    allow_short: bool,
    joining: Collection[WarehouseKey] = (),
) -> Plan:
    """Plan as many units as possible, from the fewest warehouses, at the lowest cost (contract 13).

    `available` has the units that may be reserved. A warehouse in `joining` has a fulfillment that units can
    join, so it needs no new fulfillment. With `allow_short`, units without stock go to the best supplier that
    accepts them; otherwise they are `unfilled`.
    """
    problem = Problem(wants, available)
    result = Plan(unfilled={want.line: want.quantity for want in wants})
    chosen = Search(problem, problem.bits(joining)).run()
    for group in problem.groups:
        _, _, units = fill(group, chosen)
        for (want, offer), quantity in sorted(units.items()):
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


def _allocate_short(wants: Sequence[Want], result: Plan, joining: Collection[WarehouseKey]) -> None:
    """Allocate units without stock to a warehouse that already ships, or else to the best supplier."""
    used: dict[int, set[WarehouseKey]] = {}
    for warehouse in [*result.warehouses, *joining]:
        used.setdefault(warehouse[0], set()).add(warehouse)
    for want in wants:
        short = result.unfilled.get(want.line, 0)
        takers = (
            [taker for taker in want.candidates if taker.takes_short and not taker.refused] if short else []
        )
        choices = [
            (
                (
                    not known,
                    not used.get(taker.supplier_id),
                    taker.rank,
                    warehouse != taker.default_warehouse,
                    warehouse,
                ),
                taker,
            )
            for taker in takers
            for warehouse, known in _warehouses_for_short(want, taker, used.get(taker.supplier_id, set()))
        ]
        if choices:
            (*_, warehouse), taker = min(choices, key=lambda choice: choice[0])
            used.setdefault(taker.supplier_id, set()).add(warehouse)
            result.allocations.append(Allocation(want.line, taker, warehouse[1], short, 0))
            del result.unfilled[want.line]


def _warehouses_for_short(
    want: Want, taker: Candidate, used: set[WarehouseKey]
) -> list[tuple[WarehouseKey, bool]]:
    """Return the warehouses of `taker` that may get units without stock.

    The second item of each pair says whether the warehouse already ships units of the order.
    """
    warehouses = dict.fromkeys(used, True)
    if taker.default_warehouse is not None:
        warehouses.setdefault(taker.default_warehouse, False)
    return [
        (warehouse, known)
        for warehouse, known in warehouses.items()
        if want.may_come_from(taker, warehouse[1])
    ]


def _merged(allocations: list[Allocation]) -> list[Allocation]:
    """Merge allocations of the same line and stock row. Sort them by line."""
    merged: dict[tuple[int, StockKey], Allocation] = {}
    for new in sorted(allocations, key=lambda allocation: allocation.line):
        known = merged.get((new.line, new.stock_key))
        quantity, reserved = new.quantity, new.reserved
        if known is not None:
            quantity, reserved = quantity + known.quantity, reserved + known.reserved
        merged[new.line, new.stock_key] = Allocation(
            new.line, new.candidate, new.warehouse_id, quantity, reserved
        )
    return list(merged.values())
