"""What an order waits for now, whose turn it is, and until when: what an operator wants to read first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from django.utils import timezone

from fulfillments.deadlines import next_due_at
from fulfillments.models import Fulfillment
from fulfillments.states import State
from orders.models import Order, OrderLine
from orders.processing_state import FINISHED


class Step(NamedTuple):
    """One thing that has to happen next."""

    text: str
    due_at: datetime | None = None
    overdue: bool = False


class Totals(NamedTuple):
    """An order's lines, added up; None where no line says it."""

    quantity: int
    billed: Decimal | None
    tax: Decimal | None
    wholesale: Decimal | None


def due_of(fulfillment: Fulfillment) -> datetime | None:
    """By when its supplier should have acted."""
    captured = getattr(fulfillment, "capture", None) is not None
    return next_due_at(fulfillment.state, fulfillment.due_at, fulfillment.capture_due_at, captured=captured)


def next_steps(order: Order, lines: Iterable[OrderLine], fulfillments: Iterable[Fulfillment]) -> list[Step]:
    """The operators' own steps first, then the suppliers', the most urgent first."""
    if order.processing_state in FINISHED:
        return [Step(f"Nothing: the order is {order.processing_state}.")]
    theirs = sorted(_of_suppliers(fulfillments), key=lambda step: (step.due_at is None, step.due_at))
    return [*_of_operators(order, list(lines), list(fulfillments)), *theirs]


def _of_operators(order: Order, lines: list[OrderLine], fulfillments: list[Fulfillment]) -> Iterator[Step]:
    if order.held:
        yield Step("It is held: release it, or cancel it. Until then its suppliers can do nothing.")
    if any(each.state == State.WRONG_ADDRESS for each in fulfillments):
        yield Step(f"Ask {order.retailer} for the right address, and correct it.")
    elif order.has_unknown_country:
        yield Step(f"Ask {order.retailer} which country it goes to, and correct the address.")
    refused = sum(line.rejected for line in lines)
    if refused:
        yield Step(f"{_pieces(refused)} refused by all: route again, or cancel what nobody fills.")
    waiting = sum(line.waiting for line in lines)
    if waiting:
        yield Step(f"{_pieces(waiting)} waiting for stock, which goes to the oldest order by itself.")


def _of_suppliers(fulfillments: Iterable[Fulfillment]) -> Iterator[Step]:
    now = timezone.now()
    for each in fulfillments:
        captured = getattr(each, "capture", None) is not None
        what = {
            State.NEW: "accept" if captured else "capture",
            State.CANCELATION_NOT_ALLOWED: "capture again, and accept",
            State.ACCEPTED: "ship",
            State.CANCELING: "answer the cancellation of",
        }.get(State(each.state))
        if what:
            due = due_of(each)
            text = f"{each.supplier} has to {what} fulfillment {each.pk}."
            yield Step(text, due, due is not None and due < now)


def totals(lines: Iterable[OrderLine], fulfillments: Iterable[Fulfillment]) -> Totals:
    """Of the lines as they were pushed, and at the wholesale prices that were agreed."""
    lines = list(lines)
    agreed = [
        line.wholesale_price * line.quantity
        for fulfillment in fulfillments
        for line in fulfillment.lines.all()
        if line.wholesale_price is not None
    ]
    return Totals(
        quantity=sum(line.quantity for line in lines),
        billed=_sum([line.billed_amount for line in lines]),
        tax=_sum([line.tax_billed_amount for line in lines]),
        wholesale=sum(agreed, Decimal()) if agreed else None,
    )


def _sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    known = [each for each in amounts if each is not None]
    return sum(known, Decimal()) if known else None


def _pieces(count: int) -> str:
    return "1 piece is" if count == 1 else f"{count} pieces are"
