"""Routing in whole numbers: the places, and groups of lines that compete for the same stock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain, groupby

from fulfillments.planning.routing.plan import Candidate, Place, Want
from inventory.reservations import StockKey

Stocked = list[tuple[Candidate, int, int]]
"""A want's candidates, each with a warehouse that has it, and how many pieces are there."""


@dataclass(frozen=True)
class Offer:
    """What one stock row has for a group, at so much a piece; `place` is its position."""

    candidate: Candidate
    warehouse_id: int
    place: int
    cost: int
    available: int


@dataclass
class Group:
    """Lines that can be filled from the same stock. Positions of offers, better ones first."""

    wants: list[Want]
    offers: list[Offer]
    takers: list[set[int]]  # for each want, the offers that it can take
    supply: dict[int, int] = field(default_factory=dict)  # by place
    need: int = 0  # the most that can be filled
    effort: int = 0  # numbers looked at to share out what lines compete for

    def __post_init__(self) -> None:
        for offer in self.offers:
            self.supply[offer.place] = self.supply.get(offer.place, 0) + offer.available
        self._at: dict[int, list[int]] = {}
        for position, offer in enumerate(self.offers):
            self._at.setdefault(offer.place, []).append(position)
        self.wanted = sum(want.quantity for want in self.wants)
        # Whether each line takes whatever another can take: so it does not matter which gets what.
        self.uniform = all(len(each) == len(self.offers) for each in self.takers)
        self.choosing = sorted(range(len(self.wants)), key=lambda want: len(self.takers[want]))

    def offers_at(self, places: int) -> list[int]:
        """The offers of these places, better ones first."""
        if places.bit_count() >= len(self._at):
            return [position for position, offer in enumerate(self.offers) if places >> offer.place & 1]
        return sorted(chain.from_iterable(self._at.get(place, ()) for place in positions(places)))


class Problem:
    """The places and groups of some wants; what nobody has in stock is left out."""

    def __init__(self, wants: Sequence[Want], available: Mapping[StockKey, int]) -> None:
        warehouses: dict[int, list[tuple[int, int]]] = {}
        for (variant_id, warehouse_id), pieces in available.items():
            if pieces > 0:
                warehouses.setdefault(variant_id, []).append((warehouse_id, pieces))
        found = [list(_stocked(want, warehouses)) for want in wants]
        self.places = sorted({(c.supplier_id, warehouse) for each in found for c, warehouse, _ in each})
        self._positions = {place: position for position, place in enumerate(self.places)}
        self._scale = _scale(candidate.cost for each in found for candidate, _, _ in each)
        self.groups = [
            self._group([wants[index] for index in together], [found[index] for index in together])
            for together in _competing(found)
        ]
        self.priorities = {c.supplier_id: c.priority for each in found for c, _, _ in each}

    def bits(self, places: Iterable[Place]) -> int:
        """Those of these places that have anything, as bits."""
        return sum(1 << self._positions[place] for place in set(places) if place in self._positions)

    def _group(self, wants: list[Want], found: list[Stocked]) -> Group:
        offers = {
            (candidate.variant_id, warehouse_id): self._offer(candidate, warehouse_id, pieces)
            for stocked in found
            for candidate, warehouse_id, pieces in stocked
        }
        ranked = sorted(offers, key=lambda key: _rank(offers[key]))
        position = {key: number for number, key in enumerate(ranked)}
        takers = [{position[each.variant_id, w] for each, w, _ in stocked} for stocked in found]
        return Group(wants, [offers[key] for key in ranked], takers)

    def _offer(self, candidate: Candidate, warehouse_id: int, pieces: int) -> Offer:
        place = self._positions[candidate.supplier_id, warehouse_id]
        return Offer(candidate, warehouse_id, place, int(candidate.cost * self._scale), pieces)


def _stocked(
    want: Want, warehouses: Mapping[int, list[tuple[int, int]]]
) -> Iterator[tuple[Candidate, int, int]]:
    for candidate in want.candidates:
        for warehouse_id, pieces in warehouses.get(candidate.variant_id, ()):
            if want.may_come_from(candidate, warehouse_id):
                yield candidate, warehouse_id, pieces


def _scale(costs: Iterable[Decimal]) -> int:
    """What makes every cost a whole number."""
    exponents = (int(cost.as_tuple().exponent) for cost in costs)
    return int(10 ** max((-exponent for exponent in exponents if exponent < 0), default=0))


def _competing(found: Sequence[Stocked]) -> list[list[int]]:
    """The wants (by position) that have anything: two are in one group if a stock row could fill both."""
    leader = list(range(len(found)))

    def lead(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    first: dict[StockKey, int] = {}
    for index, stocked in enumerate(found):
        for candidate, warehouse_id, _ in stocked:
            other = first.setdefault((candidate.variant_id, warehouse_id), index)
            leader[lead(index)] = lead(other)
    in_groups = sorted((lead(index), index) for index, stocked in enumerate(found) if stocked)
    return [[index for _, index in each] for _, each in groupby(in_groups, key=lambda pair: pair[0])]


def _rank(offer: Offer) -> tuple[int, int, int, bool, int]:
    """The cheaper first, then the supplier's priority, the older supplier, its default warehouse."""
    candidate = offer.candidate
    elsewhere = offer.warehouse_id != candidate.default_warehouse_id
    return offer.cost, candidate.priority, candidate.supplier_id, elsewhere, offer.warehouse_id


def positions(bits: int) -> list[int]:
    """The positions of the bits that are set, ascending."""
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found
