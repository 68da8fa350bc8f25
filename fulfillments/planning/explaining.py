"""Why a line went where it went, in words that an operator and a retailer can read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NotRequired, TypedDict

from fulfillments.planning.routing import Allocation, Candidate, Plan, Want
from inventory.reservations import StockKey

MOST_SHOWN = 20
"""How many of a line's sources are kept at most: those that were chosen, then the best of the others."""
MOST_KEPT = 2_000
"""How many are kept of all lines together; a very long order keeps at least the chosen ones."""


class ConsideredJson(TypedDict):
    """One source that was looked at for a line, and why it was or was not chosen."""

    supplier_id: int
    variant_id: int
    warehouse_id: int | None
    available: int
    cost: str
    priority: int
    quantity: int
    reserved: int
    reason: str


class DecisionJson(TypedDict):
    """What was decided for one line; `not_shown` counts the sources that are left out of its candidates."""

    line_id: int
    quantity: int
    unfilled: int
    candidates: list[ConsideredJson]
    not_shown: NotRequired[int]


def explain(wants: Sequence[Want], plan: Plan, available: Mapping[StockKey, int]) -> list[DecisionJson]:
    """What was decided for each line, in time proportional to the candidates.

    `available` is what could be reserved of each stock row before anything was, in pieces.
    """
    return list(_Explanation(wants, plan, available).decisions())


class _Explanation:
    """A plan, looked up by line: so that no line is searched for again for each of its candidates."""

    def __init__(self, wants: Sequence[Want], plan: Plan, available: Mapping[StockKey, int]) -> None:
        self.wants, self.plan, self.available, self.places = wants, plan, available, plan.places
        self.stocked: dict[int, list[int]] = {}
        for variant_id, warehouse_id in available:
            self.stocked.setdefault(variant_id, []).append(warehouse_id)
        self.chosen: dict[int, dict[StockKey, Allocation]] = {}
        for each in plan.allocations:
            self.chosen.setdefault(each.line, {})[each.stock_key] = each
        self.most = max(1, min(MOST_SHOWN, MOST_KEPT // max(len(wants), 1)))

    def decisions(self) -> Iterator[DecisionJson]:
        for want in self.wants:
            chosen = self.chosen.get(want.line, {})
            sources = [
                (candidate, warehouse_id)
                for candidate in want.candidates
                for warehouse_id in self._warehouses(candidate, chosen)
            ]
            shown = sorted(sources, key=lambda source: self._turn(chosen, *source))
            shown = shown[: max(self.most, len(chosen))]
            decision: DecisionJson = {
                "line_id": want.line,
                "quantity": want.quantity,
                "unfilled": self.plan.unfilled.get(want.line, 0),
                "candidates": [self._considered(want, chosen, *source) for source in shown],
            }
            if len(sources) > len(shown):
                decision["not_shown"] = len(sources) - len(shown)
            yield decision

    def _warehouses(self, candidate: Candidate, chosen: Mapping[StockKey, Allocation]) -> list[int | None]:
        """Where a candidate's goods are or go; its default warehouse where that is nowhere."""
        used = [warehouse for variant, warehouse in chosen if variant == candidate.variant_id]
        found = sorted({*self.stocked.get(candidate.variant_id, ()), *used})
        return [*found] or [candidate.default_warehouse_id]

    def _turn(
        self, chosen: Mapping[StockKey, Allocation], candidate: Candidate, warehouse_id: int | None
    ) -> tuple[object, ...]:
        """The chosen first, then who has anything, then the better candidate."""
        stock_key = (candidate.variant_id, warehouse_id or 0)
        has_any = self.available.get(stock_key, 0) > 0
        return stock_key not in chosen, not has_any, candidate.rank, candidate.variant_id, warehouse_id or 0

    def _considered(
        self,
        want: Want,
        chosen: Mapping[StockKey, Allocation],
        candidate: Candidate,
        warehouse_id: int | None,
    ) -> ConsideredJson:
        stock_key = (candidate.variant_id, warehouse_id or 0)
        allocation, has = chosen.get(stock_key), self.available.get(stock_key, 0)
        passed_over = "" if allocation else self._passed_over(want, chosen, candidate, warehouse_id, has)
        return {
            "supplier_id": candidate.supplier_id,
            "variant_id": candidate.variant_id,
            "warehouse_id": warehouse_id,
            "available": has,
            "cost": _money(candidate.cost),
            "priority": candidate.priority,
            "quantity": allocation.quantity if allocation else 0,
            "reserved": allocation.reserved if allocation else 0,
            "reason": _chosen(want, allocation) if allocation else passed_over,
        }

    def _passed_over(
        self,
        want: Want,
        chosen: Mapping[StockKey, Allocation],
        candidate: Candidate,
        warehouse_id: int | None,
        has: int,
    ) -> str:
        if candidate.refused:
            return "Not asked: this supplier refused the line before."
        if warehouse_id is not None and not want.may_come_from(candidate, warehouse_id):
            return "Not asked: this warehouse was out of stock for the line before."
        if not has:
            return "Not chosen: none in stock above the safety stock."
        if (candidate.supplier_id, warehouse_id) in self.places:
            return "Not chosen: another source of the same plan fills the line."
        if has < want.quantity:
            return f"Not chosen: has only {has} of {want.quantity}; another plan needs fewer fulfillments."
        return _outdone(candidate, [each.candidate for each in chosen.values()])


def _chosen(want: Want, allocation: Allocation) -> str:
    if allocation.reserved == allocation.quantity:
        return f"Chosen for {allocation.quantity} of {want.quantity}, all in stock."
    short = allocation.quantity - allocation.reserved
    return f"Chosen for {allocation.quantity} of {want.quantity}; {short} of them short of stock."


def _outdone(candidate: Candidate, chosen: Sequence[Candidate]) -> str:
    """Why a source that has everything was not taken."""
    cost = min((each.cost for each in chosen), default=candidate.cost)
    if candidate.cost > cost:
        return f"Not chosen: costs {_money(candidate.cost)}, the chosen one {_money(cost)}."
    if candidate.cost < cost:
        return "Not chosen: cheaper, but it would have taken one more fulfillment."
    if any(candidate.priority > each.priority for each in chosen):
        return "Not chosen: costs the same, and the chosen supplier has the higher priority."
    return "Not chosen: an equal plan was found first."


def _money(amount: Decimal) -> str:
    return format(amount.normalize(), "f")
