"""Routing in whole numbers: the warehouses, and the groups of lines that compete for the same stock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain, groupby

from fulfillments.planning.routing.plan import Candidate, Want, WarehouseKey
from inventory.reservations import StockKey

Stocked = list[tuple[Candidate, int, int]]
"""A want's sources: a candidate, a warehouse's id, and the units in stock there."""


@dataclass(frozen=True)
class Offer:
    """One stock row that can fill lines of a `LineGroup`, with its cost per unit.

    `position` is the index of the warehouse in `Problem.warehouses`.
    """

    candidate: Candidate
    warehouse_id: int
    position: int
    cost: int
    available: int


@dataclass
class LineGroup:
    """Lines that compete for the same stock. `offers` has the stock rows that can fill them, the best first.

    `takers` has one set for each want: the indexes of the offers that can fill the want. `supply` has the
    available units of each warehouse, by the warehouse's position. `need` is the largest number of wanted
    units that all warehouses together can fill. `effort` counts the offers that the search has read.
    """

    wants: list[Want]
    offers: list[Offer]
    takers: list[set[int]]
    supply: dict[int, int] = field(default_factory=dict)
    need: int = 0
    effort: int = 0

    def __post_init__(self) -> None:
        for offer in self.offers:
            self.supply[offer.position] = self.supply.get(offer.position, 0) + offer.available
        self._offers_at: dict[int, list[int]] = {}
        for index, offer in enumerate(self.offers):
            self._offers_at.setdefault(offer.position, []).append(index)
        self.wanted = sum(want.quantity for want in self.wants)
        # If every line accepts every offer, all assignments of units to lines are equally good. So `fill` can
        # fill the lines in turn.
        self.uniform = all(len(offers) == len(self.offers) for offers in self.takers)
        self.choosing = sorted(range(len(self.wants)), key=lambda want: len(self.takers[want]))

    def offers_at(self, warehouses: int) -> list[int]:
        """Return the indexes of the offers of these warehouses, better offers first."""
        if warehouses.bit_count() >= len(self._offers_at):
            return [index for index, offer in enumerate(self.offers) if warehouses >> offer.position & 1]
        return sorted(
            chain.from_iterable(self._offers_at.get(position, ()) for position in positions(warehouses))
        )


class Problem:
    """The warehouses and line groups of some wants. Wants without stock are left out.

    A set of warehouses is written as a whole number: the bit at a warehouse's position is 1.
    """

    def __init__(self, wants: Sequence[Want], available: Mapping[StockKey, int]) -> None:
        stock: dict[int, list[tuple[int, int]]] = {}
        for (variant_id, warehouse_id), units in available.items():
            if units > 0:
                stock.setdefault(variant_id, []).append((warehouse_id, units))
        sources = [list(_stocked(want, stock)) for want in wants]
        candidates = [(each, warehouse_id) for stocked in sources for each, warehouse_id, _ in stocked]
        self.warehouses = sorted({(each.supplier_id, warehouse_id) for each, warehouse_id in candidates})
        self._positions = {key: position for position, key in enumerate(self.warehouses)}
        self._scale = _scale(each.compared_cost for each, _ in candidates)
        self.groups = [
            self._group([wants[index] for index in indexes], [sources[index] for index in indexes])
            for indexes in _competing(sources)
        ]
        self.priorities = {each.supplier_id: each.priority for each, _ in candidates}

    def bits(self, warehouses: Iterable[WarehouseKey]) -> int:
        """Return the set of these warehouses as bits. Warehouses without stock are left out."""
        return sum(1 << self._positions[key] for key in set(warehouses) if key in self._positions)

    def _group(self, wants: list[Want], sources: list[Stocked]) -> LineGroup:
        offers = {
            (candidate.variant_id, warehouse_id): self._offer(candidate, warehouse_id, units)
            for stocked in sources
            for candidate, warehouse_id, units in stocked
        }
        ranked = sorted(offers, key=lambda key: _rank(offers[key]))
        index = {key: number for number, key in enumerate(ranked)}
        takers = [
            {index[each.variant_id, warehouse_id] for each, warehouse_id, _ in stocked} for stocked in sources
        ]
        return LineGroup(wants, [offers[key] for key in ranked], takers)

    def _offer(self, candidate: Candidate, warehouse_id: int, units: int) -> Offer:
        position = self._positions[candidate.supplier_id, warehouse_id]
        cost = int(candidate.compared_cost * self._scale)
        return Offer(candidate, warehouse_id, position, cost, units)


def _stocked(want: Want, stock: Mapping[int, list[tuple[int, int]]]) -> Iterator[tuple[Candidate, int, int]]:
    for candidate in want.candidates:
        for warehouse_id, units in stock.get(candidate.variant_id, ()):
            if want.may_come_from(candidate, warehouse_id):
                yield candidate, warehouse_id, units


def _scale(costs: Iterable[Decimal]) -> int:
    """Return the factor that makes every cost a whole number."""
    exponents = (int(cost.as_tuple().exponent) for cost in costs)
    return int(10 ** max((-exponent for exponent in exponents if exponent < 0), default=0))


def _competing(sources: Sequence[Stocked]) -> list[list[int]]:
    """Group the indexes of wants with stock. Wants that the same stock row could fill share a group."""
    leader = list(range(len(sources)))

    def lead(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    first: dict[StockKey, int] = {}
    for index, stocked in enumerate(sources):
        for candidate, warehouse_id, _ in stocked:
            other = first.setdefault((candidate.variant_id, warehouse_id), index)
            leader[lead(index)] = lead(other)
    in_groups = sorted((lead(index), index) for index, stocked in enumerate(sources) if stocked)
    return [[index for _, index in pairs] for _, pairs in groupby(in_groups, key=lambda pair: pair[0])]


def _rank(offer: Offer) -> tuple[int, int, int, bool, int]:
    """Return the sort key: lower cost, lower `priority`, older supplier, default warehouse first."""
    candidate = offer.candidate
    elsewhere = offer.warehouse_id != candidate.default_warehouse_id
    return offer.cost, candidate.priority, candidate.supplier_id, elsewhere, offer.warehouse_id


def positions(bits: int) -> list[int]:
    """Return the positions of the set bits, ascending."""
    result = []
    while bits:
        lowest = bits & -bits
        result.append(lowest.bit_length() - 1)
        bits ^= lowest
    return result
