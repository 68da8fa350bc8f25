"""Why a line went where it went, in words that an operator and a retailer can read."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TypedDict

from fulfillments.routing import Candidate, Plan, Want
from inventory.reservations import Ledger, Place


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
    """What was decided for one line."""

    line_id: int
    quantity: int
    unfilled: int
    candidates: list[ConsideredJson]


def availability(ledger: Ledger) -> dict[Place, int]:
    """What could be reserved before anything was."""
    return {place: level.available for place, level in ledger.levels.items()}


def explain(wants: Sequence[Want], plan: Plan, available: dict[Place, int]) -> list[DecisionJson]:
    return [
        {
            "line_id": want.line,
            "quantity": want.quantity,
            "unfilled": plan.unfilled.get(want.line, 0),
            "candidates": [
                _considered(want, candidate, warehouse_id, plan, available)
                for candidate in want.candidates
                for warehouse_id in _warehouses(candidate, plan, available)
            ],
        }
        for want in wants
    ]


def _warehouses(
    candidate: Candidate, plan: Plan, available: dict[Place, int]
) -> Sequence[int] | Sequence[int | None]:
    stocked = {warehouse for variant, warehouse in available if variant == candidate.variant_id}
    used = {part.warehouse_id for part in plan.parts if part.candidate.variant_id == candidate.variant_id}
    return sorted(stocked | used) or [candidate.default_warehouse_id]


def _considered(
    want: Want, candidate: Candidate, warehouse_id: int | None, plan: Plan, available: dict[Place, int]
) -> ConsideredJson:
    has = available.get((candidate.variant_id, warehouse_id), 0) if warehouse_id is not None else 0
    here = [
        part
        for part in plan.parts
        if part.line == want.line and part.place == (candidate.variant_id, warehouse_id)
    ]
    quantity, reserved = sum(part.quantity for part in here), sum(part.reserved for part in here)
    return {
        "supplier_id": candidate.supplier_id,
        "variant_id": candidate.variant_id,
        "warehouse_id": warehouse_id,
        "available": has,
        "cost": format(candidate.cost.normalize(), "f"),
        "priority": candidate.priority,
        "quantity": quantity,
        "reserved": reserved,
        "reason": _reason(want, candidate, warehouse_id, plan, has, quantity, reserved),
    }


def _reason(
    want: Want,
    candidate: Candidate,
    warehouse_id: int | None,
    plan: Plan,
    has: int,
    quantity: int,
    reserved: int,
) -> str:
    if quantity and reserved == quantity:
        return f"Chosen for {quantity} of {want.quantity}, all in stock."
    if quantity:
        return f"Chosen for {quantity} of {want.quantity}; {quantity - reserved} of them short of stock."
    if candidate.refused:
        return "Not asked: this supplier refused the line before."
    if not has:
        return "Not chosen: none in stock above the safety stock."
    if (candidate.supplier_id, warehouse_id) not in plan.sources:
        if has < want.quantity:
            return f"Not chosen: has only {has} of {want.quantity}; another plan needs fewer fulfillments."
        return _against(want, candidate, plan)
    return "Not chosen: another source of the same plan fills the line."


def _against(want: Want, candidate: Candidate, plan: Plan) -> str:
    chosen = [part.candidate for part in plan.parts if part.line == want.line]
    cost: Decimal = min((each.cost for each in chosen), default=candidate.cost)
    if candidate.cost > cost:
        return f"Not chosen: costs {candidate.cost.normalize():f}, the chosen one {cost.normalize():f}."
    if candidate.cost < cost:
        return "Not chosen: cheaper, but it would have taken one more fulfillment."
    if any(candidate.priority > each.priority for each in chosen):
        return "Not chosen: costs the same, and the chosen supplier has the higher priority."
    return "Not chosen: an equal plan was found first."
