"""The past orders of the market with their plans, and the rule for the state of an order."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from fulfillments.models import Fulfillment, FulfillmentLine
from fulfillments.states import State
from orders.models import Order
from orders.processing_state import ProcessingState
from tools.demo.market.plans import PlannedOrder, PlannedWork


class PastActor(NamedTuple):
    """The actor of a past change, with the id of its request and its time."""

    name: str
    request_id: str
    moment: datetime


@dataclass
class PastWork:
    """A past fulfillment with its plan and its lines. The rows may not be saved yet."""

    plan: PlannedWork
    row: Fulfillment
    lines: list[FulfillmentLine] = field(default_factory=list)

    @property
    def tracking_number(self) -> str:
        return f"1Z{self.row.pk:016}"

    @property
    def items(self) -> list[dict[str, int]]:
        return [{"line": line.pk, "quantity": line.quantity} for line in self.lines]

    @property
    def items_of_order(self) -> list[dict[str, int]]:
        return [
            {"line": line.pk, "quantity": line.quantity, "order_line_id": line.order_line_id}
            for line in self.lines
        ]


@dataclass
class PastOrder:
    """A past order with its plan and fulfillments."""

    plan: PlannedOrder
    row: Order
    works: list[PastWork] = field(default_factory=list)


def state_of(states: list[str]) -> ProcessingState:
    """Return the state of an order whose fulfillments have these states (contract 4)."""
    if all(state in (State.SHIPPED, State.CANCELED) for state in states):
        return ProcessingState.COMPLETED if State.SHIPPED in states else ProcessingState.CANCELED
    if State.CANCELING in states:
        return ProcessingState.CANCELING
    if State.SHIPPED in states:
        return ProcessingState.PARTIALLY_SHIPPED
    return ProcessingState.PROCESSING if State.ACCEPTED in states else ProcessingState.RECEIVED
