"""Which supplier and warehouse ships what: the plan with the fewest fulfillments that has the stock.

Then the lowest wholesale cost decides, then the supplier's priority (contract 4). Planning is pure: it
reads candidates and locked stock levels, and says what goes where, and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import combinations
from math import comb

from accounts.models import Partnership
from inventory.reservations import Ledger, Place

# Up to so many combinations of sources are tried one by one; beyond that, sources are dropped greedily.
EXHAUSTIVE = 500

Source = tuple[int, int]
"""A supplier's id and a warehouse's id: the two that one fulfillment has."""


@dataclass(frozen=True)
class Candidate:
    """A supplier's variant that could fill a line."""

    variant_id: int
    supplier_id: int
    partnership: Partnership
    cost: Decimal
    priority: int
    default_warehouse_id: int | None
    takes_short: bool = True
    refused: bool = False  # this line, before: not asked again

    @property
    def rank(self) -> tuple[Decimal, int, int]:
        """The cheaper first, then the supplier's priority, then the older supplier."""
        return self.cost, self.priority, self.supplier_id


@dataclass(frozen=True)
class Want:
    """So many pieces for a line, from any of its candidates."""

    line: int
    quantity: int
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Part:
    """What one source ships for one line; `reserved` of it is set aside, the rest is short."""

    line: int
    candidate: Candidate
    warehouse_id: int
    quantity: int
    reserved: int

    @property
    def place(self) -> Place:
        return self.candidate.variant_id, self.warehouse_id

    @property
    def source(self) -> Source:
        return self.candidate.supplier_id, self.warehouse_id


@dataclass
class Plan:
    """Where each line goes, and what nobody could take."""

    parts: list[Part] = field(default_factory=list)
    unfilled: dict[int, int] = field(default_factory=dict)

    @property
    def sources(self) -> set[Source]:
        return {part.source for part in self.parts}

    @property
    def filled(self) -> int:
        return sum(part.reserved for part in self.parts)

    @property
    def merit(self) -> tuple[int, Decimal, int, int, list[Source]]:
        """What makes a plan better than another that fills as much: smaller is better."""
        sources = self.sources
        cost = sum((part.candidate.cost * part.quantity for part in self.parts), Decimal(0))
        priority = sum({part.candidate.supplier_id: part.candidate.priority for part in self.parts}.values())
        elsewhere = sum(part.warehouse_id != part.candidate.default_warehouse_id for part in self.parts)
        return len(sources), cost, priority, elsewhere, sorted(sources)


def plan(wants: Sequence[Want], ledger: Ledger, *, allow_short: bool) -> Plan:
    """Reserve stock for the wants in the ledger and say where they go.

    What stock cannot cover goes to the best supplier's default warehouse, marked short, when `allow_short`;
    else (or where no supplier takes it) it is `unfilled`.
    """
    best = _Market(wants, ledger).best()
    for part in best.parts:
        ledger.reserve(part.place, part.reserved)
    if allow_short:
        _place_short(wants, best)
    best.parts = _merged(best.parts)
    return best


@dataclass(frozen=True)
class _Offer:
    """What one source has for one want."""

    candidate: Candidate
    warehouse_id: int
    available: int

    @property
    def source(self) -> Source:
        return self.candidate.supplier_id, self.warehouse_id

    @property
    def place(self) -> Place:
        return self.candidate.variant_id, self.warehouse_id


class _Market:
    """Who wants what, and who has it; tries sets of sources."""

    def __init__(self, wants: Sequence[Want], ledger: Ledger) -> None:
        # Those with the fewest candidates choose first: the others can still go elsewhere.
        in_turn = sorted(wants, key=lambda want: (len(want.candidates), want.line))
        warehouses: dict[int, list[int]] = {}
        for variant_id, warehouse_id in ledger.levels:
            warehouses.setdefault(variant_id, []).append(warehouse_id)
        self._offers = [(want, _offers(want, ledger, warehouses)) for want in in_turn]

    def best(self) -> Plan:
        """The plan that fills the most from the fewest sources."""
        sources = sorted({offer.source for _, offers in self._offers for offer in offers})
        everything = self._fill(sources)
        missing = sum(everything.unfilled.values())
        for size in range(1, len(everything.sources) + 1):
            if comb(len(sources), size) > EXHAUSTIVE:
                return self._thinned(everything)
            plans = (self._fill(chosen, may_miss=missing) for chosen in combinations(sources, size))
            complete = [each for each in plans if each.filled == everything.filled]
            if complete:
                return min(complete, key=lambda each: each.merit)
        return everything

    def _fill(self, sources: Iterable[Source], *, may_miss: int | None = None) -> Plan:
        """What these sources fill; given up as soon as more than so many pieces are missing."""
        allowed, result = frozenset(sources), Plan()
        left: dict[Place, int] = {}
        for want, offers in self._offers:
            missing = want.quantity
            for offer in offers:
                if offer.source in allowed and missing:
                    taken = min(missing, left.setdefault(offer.place, offer.available))
                    left[offer.place] -= taken
                    missing -= taken
                    if taken:
                        result.parts.append(
                            Part(want.line, offer.candidate, offer.warehouse_id, taken, taken)
                        )
            if missing:
                result.unfilled[want.line] = missing
                if may_miss is not None:
                    may_miss -= missing
                    if may_miss < 0:
                        break
        return result

    def _thinned(self, start: Plan) -> Plan:
        """Drop one source after the other, the dearest first, as long as nothing is lost by it."""
        cost: dict[Source, Decimal] = {}
        for part in start.parts:
            cost[part.source] = cost.get(part.source, Decimal(0)) + part.candidate.cost * part.quantity
        best = start
        for source in sorted(cost, key=lambda each: (-cost[each], each)):
            attempt = self._fill(best.sources - {source})
            if attempt.filled == best.filled:
                best = attempt
        return best


def _offers(want: Want, ledger: Ledger, warehouses: dict[int, list[int]]) -> list[_Offer]:
    """The sources that have what is wanted, in the order in which they are asked."""
    found = [
        _Offer(candidate, warehouse_id, available)
        for candidate in want.candidates
        for warehouse_id in warehouses.get(candidate.variant_id, ())
        if (available := ledger.available((candidate.variant_id, warehouse_id)))
    ]
    return sorted(
        found,
        key=lambda offer: (
            offer.available < want.quantity,  # who has all of it ships all of it
            offer.candidate.rank,
            offer.warehouse_id != offer.candidate.default_warehouse_id,
            offer.warehouse_id,
        ),
    )


def _place_short(wants: Sequence[Want], best: Plan) -> None:
    """Send what stock could not cover to the best supplier, preferably one that ships already."""
    chosen = {part.candidate.supplier_id for part in best.parts}
    for want in wants:
        short = best.unfilled.get(want.line, 0)
        takers = [
            each for each in want.candidates if each.takes_short and each.default_warehouse_id is not None
        ]
        if short and takers:
            taker = min(takers, key=lambda each: (each.supplier_id not in chosen, each.rank))
            chosen.add(taker.supplier_id)
            assert taker.default_warehouse_id is not None
            best.parts.append(Part(want.line, taker, taker.default_warehouse_id, short, 0))
            del best.unfilled[want.line]


def _merged(parts: list[Part]) -> list[Part]:
    """One part for each line and place."""
    merged: dict[tuple[int, Place], Part] = {}
    for part in parts:
        key = (part.line, part.place)
        known = merged.get(key)
        merged[key] = part if known is None else _sum(known, part)
    return list(merged.values())


def _sum(one: Part, other: Part) -> Part:
    quantity, reserved = one.quantity + other.quantity, one.reserved + other.reserved
    return Part(one.line, one.candidate, one.warehouse_id, quantity, reserved)
