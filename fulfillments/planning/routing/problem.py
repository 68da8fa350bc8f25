"""Routing in whole numbers: the warehouses, and groups of lines that compete for the same stock."""

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
    """One stock row for a group, with its cost per unit; `position` is that of its warehouse."""

    candidate: Candidate
    warehouse_id: int
    position: int
    cost: int
    available: int


@dataclass
class LineGroup:
    """Lines that compete for the same stock, and the offers for them, better offers first."""

    wants: list[Want]
    offers: list[Offer]
    takers: list[set[int]]  # for each want, the offers that it can take
    supply: dict[int, int] = field(default_factory=dict)  # by position of the warehouse
    need: int = 0  # the most that can be filled
    effort: int = 0  # a measure of the work to fill competing lines

    def __post_init__(self) -> None:
        for offer in self.offers:
            self.supply[offer.position] = self.supply.get(offer.position, 0) + offer.available
        self._offers_at: dict[int, list[int]] = {}
        for index, offer in enumerate(self.offers):
            self._offers_at.setdefault(offer.position, []).append(index)
        self.wanted = sum(want.quantity for want in self.wants)
        # If every line accepts every offer, any assignment of units to lines is equally good.
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
    """The warehouses and line groups of some wants; wants without stock are left out."""

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
        """Return, as bits, the warehouses among these that have stock."""
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
    """Group the indexes of wants with stock: two wants share a group if one stock row could fill both."""
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
    """Return the sort key: cost, the supplier's priority, the older supplier, its default warehouse."""
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
