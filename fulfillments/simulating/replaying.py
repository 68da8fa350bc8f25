"""An order's decision, planned once more from what was kept of it: as it was, and by another rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from fulfillments.planning.explaining import DecisionJson
from fulfillments.planning.partners import PartnerRow
from fulfillments.planning.routing import Agreed, Candidate, Plan, Want, plan
from inventory.reservations import StockKey


@dataclass(frozen=True)
class Rule:
    """What is different of one supplier; None is as it was. `held_back` are the pieces of its safety stock
    beyond those of now, and less than none where it would keep fewer.
    """

    supplier_id: int
    priority: int | None = None
    held_back: int = 0
    left_out: bool = False


@dataclass(frozen=True)
class SupplierPart:
    """What a supplier gets of an order: pieces, what they cost, and how many of them are in stock."""

    fulfillments: int
    pieces: int
    money: Decimal
    in_stock: int


@dataclass(frozen=True)
class Replayed:
    """Where an order goes: by supplier, and how many pieces nobody takes."""

    parts: dict[int, SupplierPart]
    unfilled: int
    sources: frozenset[tuple[int, int, int, int, int]]
    """Line, variant, warehouse, pieces, and how many of them are in stock."""

    @property
    def fulfillments(self) -> int:
        return sum(part.fulfillments for part in self.parts.values())

    @property
    def money(self) -> Decimal:
        return sum((part.money for part in self.parts.values()), Decimal())

    @property
    def short(self) -> int:
        return sum(part.pieces - part.in_stock for part in self.parts.values())


def concerns(lines: Sequence[DecisionJson], rule: Rule) -> bool:
    """Whether the rule's supplier was a candidate at all."""
    return any(each["supplier_id"] == rule.supplier_id for line in lines for each in line["candidates"])


def replay(lines: Sequence[DecisionJson], rule: Rule | None = None) -> Replayed:
    """Where routing sends it, with the prices, priorities and stock that it had before it."""
    wants, available = [], dict[StockKey, int]()
    for line in lines:
        wants.append(_want(line, rule))
        for each in line["candidates"]:
            key = (each["variant_id"], each["warehouse_id"] or 0)
            available[key] = _left(each["available"], each["supplier_id"], rule)
    return _replayed(plan(wants, available, allow_short=True))


def as_recorded(lines: Sequence[DecisionJson]) -> frozenset[tuple[int, int, int, int, int]]:
    """What was decided, in the form of `Replayed.sources`."""
    return frozenset(
        (line["line_id"], each["variant_id"], each["warehouse_id"] or 0, each["quantity"], each["reserved"])
        for line in lines
        for each in line["candidates"]
        if each["quantity"]
    )


def _left(available: int, supplier_id: int, rule: Rule | None) -> int:
    """What was below the safety stock was not kept, so none stays none."""
    if rule is None or supplier_id != rule.supplier_id or not available:
        return available
    return max(0, available - rule.held_back)


def _want(line: DecisionJson, rule: Rule | None) -> Want:
    """Who took pieces short then takes them again; where nobody did, nobody does."""
    takes_short = not line["unfilled"]
    places: dict[int, int] = {}
    for each in sorted(line["candidates"], key=lambda each: each["quantity"] == each["reserved"]):
        places.setdefault(each["variant_id"], each["warehouse_id"] or 0)
    candidates = {}
    for each in line["candidates"]:
        supplier_id, priority = each["supplier_id"], each["priority"]
        if rule is not None and supplier_id == rule.supplier_id:
            if rule.left_out:
                continue
            priority = priority if rule.priority is None else rule.priority
        candidates[each["variant_id"]] = Candidate(
            variant_id=each["variant_id"],
            supplier_id=supplier_id,
            partnership=_partner(supplier_id),
            cost=Decimal(each["cost"]),
            priority=priority,
            default_warehouse_id=places[each["variant_id"]] or None,
            agreed=Agreed("", "", "", None),
            takes_short=takes_short,
        )
    return Want(line["line_id"], line["quantity"], tuple(candidates.values()))


def _partner(supplier_id: int) -> PartnerRow:
    """Planning asks nothing of a partnership."""
    return PartnerRow(0, 0, supplier_id, False, "", False, None, None, None, None, 0, None)


def _replayed(chosen: Plan) -> Replayed:
    parts: dict[int, SupplierPart] = {}
    for supplier in {place[0] for place in chosen.places}:
        own = [each for each in chosen.allocations if each.candidate.supplier_id == supplier]
        parts[supplier] = SupplierPart(
            len({each.place for each in own}),
            sum(each.quantity for each in own),
            sum((each.quantity * each.candidate.cost for each in own), Decimal()),
            sum(each.reserved for each in own),
        )
    sources = frozenset(
        (each.line, each.candidate.variant_id, each.warehouse_id, each.quantity, each.reserved)
        for each in chosen.allocations
    )
    return Replayed(parts, sum(chosen.unfilled.values()), sources)
