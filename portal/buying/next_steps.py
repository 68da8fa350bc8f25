"""The problems of an order that its retailer can read, each with the action that solves it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from accounts.operating.operator_actions import AdminAction
from api.phrases import in_units
from fulfillments.models import Fulfillment
from fulfillments.states import State
from orders.models import Order
from orders.services import refused_for_address
from portal.buying.actions import CANCEL_UNITS, CORRECT_ADDRESS
from portal.late import is_late


@dataclass(frozen=True)
class OrderProblem:
    """A problem in words. `action` is the action that solves it, if there is one."""

    meaning: str
    title: str
    text: str
    action: AdminAction[Order] | None = None


def problems_of(order: Order) -> Iterator[OrderProblem]:
    """Yield the problems of an order, the most urgent first. Makes a fixed number of queries."""
    parts = list(order.fulfillments.all())
    for part in parts:
        if part.state == State.WRONG_ADDRESS:
            text = "Correct the address. The order then returns to the supplier."
            yield OrderProblem("bad", f"{part.supplier} refused the address", text, CORRECT_ADDRESS)
    for_address = refused_for_address(order).total()
    if for_address and not any(part.state == State.WRONG_ADDRESS for part in parts):
        text = "Correct the address. The units then return to a supplier."
        yield OrderProblem(
            "bad", f"The address was refused for {in_units(for_address)}", text, CORRECT_ADDRESS
        )
    if refused := sum(line.rejected for line in order.lines.all()) - for_address:
        text = "Cancel these units, or wait: the operators can route them to a supplier again."
        yield OrderProblem("bad", f"No supplier ships {in_units(refused)}", text, CANCEL_UNITS)
    for part in parts:
        if part.state == State.CANCELING:
            yield OrderProblem("warn", f"{part.supplier} has not answered the cancellation", _answer_by(part))
        elif is_late(part):
            due = f"It was due on {part.next_due_at:%-d %b %Y at %H:%M}."
            text = f"{due} Cancel the order if you cannot wait."
            yield OrderProblem("warn", f"{part.supplier} is late", text)
    if order.held:
        yield OrderProblem("warn", "Operators hold this order", "Its suppliers continue after the release.")
    if waiting := sum(line.waiting for line in order.lines.all()):
        text = "Arriving stock goes to the oldest order first."
        yield OrderProblem("info", f"{in_units(waiting, 'waits', 'wait')} for stock", text)


def _answer_by(part: Fulfillment) -> str:
    return (
        f"It has to answer by {part.due_at:%-d %b %Y, %H:%M}." if part.due_at else "There is no time limit."
    )
