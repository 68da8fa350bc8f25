"""The next steps of an order, for the top of its page: the party that has to act, and the deadline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from api.phrases import in_units
from fulfillments.models import Fulfillment
from fulfillments.states import State
from orders.models import Order, OrderLine
from orders.processing_state import FINISHED
from orders.services import refused_for_address


class Remedy(NamedTuple):
    """The admin action that solves a problem of the order, or of one of its fulfillments."""

    action: str
    label: str
    fulfillment_id: int | None = None


class Step(NamedTuple):
    """One step that a party or an operator has to take next."""

    text: str
    due_at: datetime | None = None
    overdue: bool = False
    remedy: Remedy | None = None

    @property
    def meaning(self) -> str:
        """The color of the step: `bad` if it is overdue, `warn` if it has a remedy, else `info`."""
        if self.overdue:
            return "bad"
        return "warn" if self.remedy else "info"


CORRECT_ADDRESS = Remedy("correct-address", "Correct address")


class Totals(NamedTuple):
    """Sums over an order's lines. A sum is None if no line has the value."""

    quantity: int
    billed: Decimal | None
    tax: Decimal | None
    wholesale: dict[str, Decimal]
    """The sum of the agreed prices, by currency."""


def next_steps(order: Order, lines: Iterable[OrderLine], fulfillments: Iterable[Fulfillment]) -> list[Step]:
    """Return the operators' steps, then the suppliers' steps by deadline. Finished orders have no steps."""
    if order.processing_state in FINISHED:
        return []
    theirs = sorted(_of_suppliers(fulfillments), key=lambda step: (step.due_at is None, step.due_at))
    return [*_of_operators(order, list(lines), list(fulfillments)), *theirs]


def _of_operators(order: Order, lines: list[OrderLine], fulfillments: list[Fulfillment]) -> Iterator[Step]:
    if order.held:
        text = "The order is held: release it, or cancel it. Until then its suppliers cannot work on it."
        yield Step(text, remedy=Remedy("release", "Release order"))
    for_address = refused_for_address(order).total()
    if for_address or any(each.state == State.WRONG_ADDRESS for each in fulfillments):
        text = f"Ask {order.retailer} for the right address, and correct the address."
        yield Step(text, remedy=CORRECT_ADDRESS)
    elif order.has_unknown_country:
        yield Step(f"Ask {order.retailer} for the country, and correct the address.", remedy=CORRECT_ADDRESS)
    refused = sum(line.rejected for line in lines) - for_address
    if refused:
        units = in_units(refused, "is", "are")
        text = f"{units} refused by all suppliers: route again, or cancel refused units."
        yield Step(text, remedy=Remedy("route-again", "Route again"))
    waiting = sum(line.waiting for line in lines)
    if waiting:
        units = in_units(waiting, "is", "are")
        yield Step(f"{units} waiting for stock. Arriving stock goes to the oldest order automatically.")


def _of_suppliers(fulfillments: Iterable[Fulfillment]) -> Iterator[Step]:
    for fulfillment in fulfillments:
        if fulfillment.is_held:
            continue
        captured = getattr(fulfillment, "capture", None) is not None
        task = {
            State.NEW: "accept" if captured else "capture",
            State.CANCELATION_NOT_ALLOWED: "capture again, and accept",
            State.ACCEPTED: "ship",
            State.CANCELING: "answer the cancellation request for",
        }.get(State(fulfillment.state))
        if task:
            text = f"{fulfillment.supplier} has to {task} fulfillment {fulfillment.pk}."
            overdue = fulfillment.is_overdue
            yield Step(text, fulfillment.next_due_at, overdue, _of_late(fulfillment) if overdue else None)


def _of_late(fulfillment: Fulfillment) -> Remedy:
    """Return the remedy for an overdue fulfillment."""
    if fulfillment.state == State.CANCELING:
        return Remedy("approve-cancelation", "Approve cancellation", fulfillment.pk)
    return Remedy("withdraw", "Reassign", fulfillment.pk)


def totals(lines: Iterable[OrderLine], fulfillments: Iterable[Fulfillment]) -> Totals:
    """Return the sums of the pushed lines, and of the agreed wholesale prices without refused units."""
    lines, agreed = list(lines), dict[str, Decimal]()
    for fulfillment in fulfillments:
        for line in fulfillment.lines.all():
            if line.wholesale_price is not None:
                known = agreed.get(fulfillment.currency, Decimal())
                agreed[fulfillment.currency] = known + line.wholesale_price * (line.quantity - line.rejected)
    return Totals(
        quantity=sum(line.quantity for line in lines),
        billed=_sum([line.billed_amount for line in lines]),
        tax=_sum([line.tax_billed_amount for line in lines]),
        wholesale=agreed,
    )


def _sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    known = [each for each in amounts if each is not None]
    return sum(known, Decimal()) if known else None
