"""Explanations of a plan for operators and retailers: the reason why each source was chosen or not.

A source is a candidate with one of its supplier's warehouses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NotRequired, TypedDict

from api.amounts import amount_text
from fulfillments.planning.routing import Allocation, Candidate, Plan, Want
from inventory.reservations import StockKey

MOST_SHOWN = 20
"""The largest number of sources for one line: the chosen sources, then the best other sources."""
MOST_KEPT = 2_000
"""The largest number of sources of all lines together. The chosen sources are always kept."""


class ConsideredJson(TypedDict):
    """One source that routing considered for a line, with the reason why it was chosen or not."""

    supplier_id: int
    variant_id: int
    warehouse_id: int | None
    available: int
    cost: str
    currency: NotRequired[str]
    priority: int
    quantity: int
    reserved: int
    reason: str


class DecisionJson(TypedDict):
    """The decision for one line. `not_shown` is the number of sources that `candidates` leaves out."""

    line_id: int
    quantity: int
    unfilled: int
    candidates: list[ConsideredJson]
    not_shown: NotRequired[int]


def explain(wants: Sequence[Want], plan: Plan, available: Mapping[StockKey, int]) -> list[DecisionJson]:
    """Return the decision for each line, in time proportional to the number of candidates.

    `available` has the units of each stock row that the plan could reserve.
    """
    return list(_Explanation(wants, plan, available).decisions())


class _Explanation:
    """A plan, with its allocations by line, and with the warehouses that have stock by variant."""

    def __init__(self, wants: Sequence[Want], plan: Plan, available: Mapping[StockKey, int]) -> None:
        self.wants, self.plan, self.available = wants, plan, available
        self.warehouses = plan.warehouses
        self.stocked: dict[int, list[int]] = {}
        for variant_id, warehouse_id in available:
            self.stocked.setdefault(variant_id, []).append(warehouse_id)
        self.chosen: dict[int, dict[StockKey, Allocation]] = {}
        for allocation in plan.allocations:
            self.chosen.setdefault(allocation.line, {})[allocation.stock_key] = allocation
        self.most = max(1, min(MOST_SHOWN, MOST_KEPT // max(len(wants), 1)))

    def decisions(self) -> Iterator[DecisionJson]:
        for want in self.wants:
            chosen = self.chosen.get(want.line, {})
            sources = [
                (candidate, warehouse_id)
                for candidate in want.candidates
                for warehouse_id in self._warehouses(candidate, chosen)
            ]
            shown = sorted(sources, key=lambda source: self._rank(chosen, *source))
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
        """Return the warehouses that have the variant in stock or were chosen, else the default warehouse."""
        used = [warehouse for variant, warehouse in chosen if variant == candidate.variant_id]
        warehouses = sorted({*self.stocked.get(candidate.variant_id, ()), *used})
        return [*warehouses] or [candidate.default_warehouse_id]

    def _rank(
        self, chosen: Mapping[StockKey, Allocation], candidate: Candidate, warehouse_id: int | None
    ) -> tuple[object, ...]:
        """Return the sort key: chosen sources first, then sources with stock, then the better candidate."""
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
        allocation, units = chosen.get(stock_key), self.available.get(stock_key, 0)
        why_not = "" if allocation else self._why_not(want, chosen, candidate, warehouse_id, units)
        return {
            "supplier_id": candidate.supplier_id,
            "variant_id": candidate.variant_id,
            "warehouse_id": warehouse_id,
            "available": units,
            "cost": _money(candidate.cost),
            "currency": candidate.partnership.currency,
            "priority": candidate.priority,
            "quantity": allocation.quantity if allocation else 0,
            "reserved": allocation.reserved if allocation else 0,
            "reason": _chosen(want, allocation) if allocation else why_not,
        }

    def _why_not(
        self,
        want: Want,
        chosen: Mapping[StockKey, Allocation],
        candidate: Candidate,
        warehouse_id: int | None,
        units: int,
    ) -> str:
        if candidate.refused:
            return "Not asked: this supplier refused the line before."
        if warehouse_id is not None and not want.may_come_from(candidate, warehouse_id):
            return "Not asked: this warehouse was out of stock for the line before."
        if not units:
            return "Not chosen: no stock above the safety stock."
        if (candidate.supplier_id, warehouse_id) in self.warehouses:
            return "Not chosen: another source of the same plan fills the line."
        if units < want.quantity:
            return f"Not chosen: has only {units} of {want.quantity}; another plan needs fewer fulfillments."
        return _why_worse(candidate, [allocation.candidate for allocation in chosen.values()])


def _chosen(want: Want, allocation: Allocation) -> str:
    if allocation.reserved == allocation.quantity:
        return f"Chosen for {allocation.quantity} of {want.quantity}, all in stock."
    short = allocation.quantity - allocation.reserved
    return f"Chosen for {allocation.quantity} of {want.quantity}; {short} of them short of stock."


def _why_worse(candidate: Candidate, chosen: Sequence[Candidate]) -> str:
    """Return the reason why a source with enough stock was not chosen."""
    own = candidate.compared_cost
    cost = min((each.compared_cost for each in chosen), default=own)
    if own > cost:
        return f"Not chosen: costs {_money(own)}, the chosen one {_money(cost)}."
    if own < cost:
        return "Not chosen: cheaper, but needs one more fulfillment."
    if not candidate.comparable:
        return "Not chosen: prices in several currencies are not compared, so the priority decided."
    if any(candidate.priority > each.priority for each in chosen):
        return "Not chosen: costs the same, and the chosen supplier has the higher priority."
    return "Not chosen: an equal plan was found first."


def price_of(source: ConsideredJson) -> str:
    """Return the cost of a unit from a source, for pages. Old decisions have no currency."""
    return amount_text(Decimal(source["cost"]), source.get("currency", ""))


def _money(amount: Decimal) -> str:
    return format(amount.normalize(), "f")
