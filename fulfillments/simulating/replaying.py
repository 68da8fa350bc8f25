"""The replay of one order's routing, from its stored decision, with and without a simulated rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from accounts.models import default_currency
from fulfillments.planning.explaining import ConsideredJson, DecisionJson
from fulfillments.planning.partners import PartnerRow
from fulfillments.planning.routing import Agreed, Candidate, Plan, Want, plan
from inventory.reservations import StockKey


@dataclass(frozen=True)
class SimulatedRule:
    """The simulated values of one supplier. None means the present value.

    `held_back` is added to the supplier's present safety stock. A negative number reduces the safety stock.
    """

    supplier_id: int
    priority: int | None = None
    held_back: int = 0
    left_out: bool = False


@dataclass(frozen=True)
class SupplierPart:
    """The units of an order that one supplier gets, with their cost, and the number of units in stock."""

    fulfillments: int
    units: int
    money: Decimal
    currency: str
    in_stock: int


@dataclass(frozen=True)
class Replayed:
    """The routing of an order: a `SupplierPart` for each supplier id, and the number of unfilled units."""

    parts: dict[int, SupplierPart]
    unfilled: int
    sources: frozenset[tuple[int, int, int, int, int]]
    """The line, variant, warehouse and units of each allocation, and how many of its units are in stock."""

    @property
    def fulfillments(self) -> int:
        return sum(part.fulfillments for part in self.parts.values())

    @property
    def amounts(self) -> dict[str, Decimal]:
        """The cost in each currency."""
        amounts: dict[str, Decimal] = {}
        for part in self.parts.values():
            amounts[part.currency] = amounts.get(part.currency, Decimal()) + part.money
        return amounts

    @property
    def short(self) -> int:
        return sum(part.units - part.in_stock for part in self.parts.values())


def concerns(lines: Sequence[DecisionJson], rule: SimulatedRule) -> bool:
    """Return whether the rule's supplier was a candidate."""
    return any(each["supplier_id"] == rule.supplier_id for line in lines for each in line["candidates"])


def replay(lines: Sequence[DecisionJson], rule: SimulatedRule | None = None) -> Replayed:
    """Route the lines again, with the prices, priorities and stock at the time of the decision."""
    wants, available = [], dict[StockKey, int]()
    currencies = {_currency(each) for line in lines for each in line["candidates"]}
    for line in lines:
        wants.append(_want(line, rule, comparable=len(currencies) < 2))
        for each in line["candidates"]:
            key = (each["variant_id"], each["warehouse_id"] or 0)
            available[key] = _left(each["available"], each["supplier_id"], rule)
    return _replayed(plan(wants, available, allow_short=True))


def as_recorded(lines: Sequence[DecisionJson]) -> frozenset[tuple[int, int, int, int, int]]:
    """Return the stored decision in the form of `Replayed.sources`."""
    return frozenset(
        (line["line_id"], each["variant_id"], each["warehouse_id"] or 0, each["quantity"], each["reserved"])
        for line in lines
        for each in line["candidates"]
        if each["quantity"]
    )


def _left(available: int, supplier_id: int, rule: SimulatedRule | None) -> int:
    """Return the stock that is available under the rule's safety stock.

    0 stays 0, because the stored decision does not contain the units below the safety stock.
    """
    if rule is None or supplier_id != rule.supplier_id or not available:
        return available
    return max(0, available - rule.held_back)


def _currency(considered: ConsideredJson) -> str:
    """Return the currency of a cost. Old decisions have no stored currency, so they get the default."""
    return considered.get("currency") or default_currency()


def _want(line: DecisionJson, rule: SimulatedRule | None, *, comparable: bool) -> Want:
    """Return the want of a line.

    The candidates accept short units, unless the stored decision left units of the line unfilled.
    """
    takes_short = not line["unfilled"]
    warehouses: dict[int, int] = {}
    for each in sorted(line["candidates"], key=lambda each: each["quantity"] == each["reserved"]):
        warehouses.setdefault(each["variant_id"], each["warehouse_id"] or 0)
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
            partnership=_partner(supplier_id, _currency(each)),
            cost=Decimal(each["cost"]),
            priority=priority,
            default_warehouse_id=warehouses[each["variant_id"]] or None,
            agreed=Agreed("", "", "", None),
            takes_short=takes_short,
            comparable=comparable,
        )
    return Want(line["line_id"], line["quantity"], tuple(candidates.values()))


def _partner(supplier_id: int, currency: str) -> PartnerRow:
    """Return a partner with a supplier, a currency, and empty other fields, which planning does not read."""
    return PartnerRow(0, 0, supplier_id, False, "", False, None, 0, None, None, None, None, currency, 0, None)


def _replayed(chosen: Plan) -> Replayed:
    parts: dict[int, SupplierPart] = {}
    for supplier in {supplier for supplier, _ in chosen.warehouses}:
        part = [each for each in chosen.allocations if each.candidate.supplier_id == supplier]
        parts[supplier] = SupplierPart(
            len({each.warehouse for each in part}),
            sum(each.quantity for each in part),
            sum((each.quantity * each.candidate.cost for each in part), Decimal()),
            part[0].candidate.partnership.currency,
            sum(each.reserved for each in part),
        )
    sources = frozenset(
        (each.line, each.candidate.variant_id, each.warehouse_id, each.quantity, each.reserved)
        for each in chosen.allocations
    )
    return Replayed(parts, sum(chosen.unfilled.values()), sources)
