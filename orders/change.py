"""The unit of work: every change of an order happens in one OrderChange, completely or not at all.

    with order.change(by=actor) as change:
        fulfillment.accept(change)
        change.record("order.note", data={"text": "called the customer"})

On entry, the change locks the order and reads it again. On exit, the change locks all needed stock rows in a
fixed sequence. Then it writes the stock, the order's lines and state, the events, and last the stamp
(docs/architecture.md).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from datetime import date, datetime
from typing import Any, Generic, Protocol, Self, TypeVar, cast

from django.db import transaction

from accounts.actors import Actor
from events.models import Event
from events.recording import UNIT_LISTS, draft
from fastdb.inserts import insert
from fulfillments.change import Recorded
from fulfillments.effects import Effects
from fulfillments.planning.candidates import WaitingLine, WantedLine
from fulfillments.services import apply_effects
from orders import unrouted_lines
from orders.processing_state import FINISHED, STATE_EVENTS, ProcessingState, derive_state, stamp


class ChangeableOrder(Protocol):
    """The attributes and methods of `orders.models.Order` that a change uses.

    This module cannot import the class, because `orders.models` imports this module.
    """

    pk: Any
    retailer_id: int
    ship_until: date | None
    held: bool
    has_unknown_country: bool
    processing_state: str
    updated_at: datetime | None

    def lock(self) -> None: ...
    def lines_in(self, line_ids: Iterable[int]) -> list[WantedLine]: ...
    def save(self, *, update_fields: Iterable[str] | None = None) -> None: ...


AnyOrder = TypeVar("AnyOrder")
"""This type variable has no bound: mypy checks bounds before it knows the types of a model's fields."""
OrderT = TypeVar("OrderT", bound=ChangeableOrder)


class OrderChange(Generic[AnyOrder]):
    """One change of one order, by one actor. Every move has the change as an argument.

    A request or task has only one change under way at a time. A second change of the same order would write
    the order's state, stamp and counts twice. A change of another order would take locks in another sequence,
    and could cause a deadlock.
    """

    def __init__(self, order: AnyOrder, by: Actor) -> None:
        self.order, self.by = order, by
        self._changed = cast("ChangeableOrder", order)
        self._effects = Effects()
        self._events: list[Event] = []

    @property
    def order_id(self) -> int:
        return int(self._changed.pk)

    @property
    def retailer_id(self) -> int:
        return self._changed.retailer_id

    @property
    def ship_until(self) -> date | None:
        return self._changed.ship_until

    @property
    def held(self) -> bool:
        return self._changed.held

    @property
    def country_known(self) -> bool:
        return not self._changed.has_unknown_country

    def lines_in(self, line_ids: Iterable[int]) -> list[WantedLine]:
        return self._changed.lines_in(line_ids)

    def has_waiting_lines(self, variant_ids: Collection[int]) -> bool:
        return unrouted_lines.has_waiting_lines(variant_ids, but=self.order_id)

    def waiting_lines(self, variant_ids: Collection[int]) -> list[WaitingLine]:
        return unrouted_lines.waiting_lines(variant_ids, before=self.order_id)

    def own_waiting_lines(self) -> list[WaitingLine]:
        return unrouted_lines.own_waiting_lines(self.order_id)

    def note_routed(self, units: Mapping[int, int]) -> None:
        unrouted_lines.subtract_routed(units)

    def check_order(self, order_id: int) -> None:
        """Raise RuntimeError if this change belongs to another order, or is not in progress."""
        self._check_under_way()
        if order_id != self.order_id:
            raise RuntimeError(
                f"This is a change of order {self.order_id}. Move a fulfillment of order {order_id} in a "
                "change of its own order."
            )

    def record(
        self,
        type: str,  # noqa: A002 - the field's name in the API
        *,
        fulfillment: Recorded | None = None,
        effects: Effects | None = None,
        **fields: Any,
    ) -> None:
        """Remember an event, and its effects on stock, listings and routing, until the change ends.

        An effect is always recorded with an event, so the history always has the reason why stock moved.
        """
        self._check_under_way()
        if fulfillment is not None:
            fields |= {"fulfillment_id": fulfillment.pk, "supplier_id": fulfillment.supplier_id}
            fields["data"] = _with_order_lines(fields.get("data", {}), fulfillment)
        fields |= {"order_id": self.order_id, "retailer_id": self.retailer_id}
        self._events.append(draft(type, by=self.by, **fields))
        if effects is not None:
            self._effects.add(effects)

    @contextmanager
    def _entered(self, state_of: Callable[[int], ProcessingState]) -> Iterator[Self]:
        """Mark the change as under way. On exit, carry out the recorded events and effects.

        Raises RuntimeError while another change is under way, and outside a transaction.
        """
        if not transaction.get_connection().in_atomic_block:
            raise RuntimeError(f"Order {self.order_id} can only be changed in a transaction.")
        other = _under_way.get()
        if other is not None:
            raise RuntimeError(_second(other.order_id, self.order_id))
        token = _under_way.set(self)
        try:
            yield self
            if self._events:
                self._carry_out(state_of)
        finally:
            _under_way.reset(token)

    def _carry_out(self, state_of: Callable[[int], ProcessingState]) -> None:
        """Write stock and listings, then lines and state, then events, and last the stamp."""
        order = self._changed
        apply_effects(self._effects, self)
        before = order.processing_state if order.updated_at else None
        order.processing_state = after = state_of(self.order_id)
        if order.held and after in FINISHED:  # a finished order has no work to hold
            order.held = False
            order.save(update_fields=["held"])
        self._record_state(before, after)
        insert(self._events)
        order.updated_at = stamp(self.order_id, self.retailer_id, before, after)

    def _record_state(self, before: str | None, after: ProcessingState) -> None:
        """Record an event for the retailer if the change has given the order a new state."""
        if event := state_event(before, after):
            self.record(**event)

    def _check_under_way(self) -> None:
        if _under_way.get() is not self:
            raise RuntimeError(
                f"This change of order {self.order_id} has ended. Begin another one: "
                "`with order.change(by=…) as change:`."
            )


def state_event(before: str | None, after: str) -> dict[str, Any] | None:
    """Return the fields of the event for a new state, or None if the state is not new or has no event."""
    event = STATE_EVENTS.get(ProcessingState(after))
    if after == before or event is None:
        return None
    data = {"processing_state": after, "previous_state": before}
    return {"type": event, "data": data, "from_state": before or "", "to_state": after}


def _with_order_lines(data: dict[str, Any], fulfillment: Recorded) -> dict[str, object]:
    """Return an event's data with order line ids in its items, because retailers know only order lines."""
    named = {
        name: [{**item, "order_line_id": fulfillment.order_lines[item["line"]]} for item in data[name]]
        for name in UNIT_LISTS
        if data.get(name)
    }
    return data | named


_under_way: ContextVar[OrderChange[Any] | None] = ContextVar("order_change", default=None)


def _second(order_id: int, other_id: int) -> str:
    if order_id == other_id:
        return (
            f"Order {order_id} is already being changed. Pass the change that is under way to its moves "
            "instead of opening a second one."
        )
    return f"Order {order_id} is being changed. Change order {other_id} after that change has ended."


@contextmanager
def change_of(order: OrderT, *, by: Actor) -> Iterator[OrderChange[OrderT]]:
    """Begin a change, in the present transaction or in a new one, and lock the order."""
    with transaction.atomic(), OrderChange(order, by)._entered(derive_state) as change:
        order.lock()
        yield change


def first_change_of(order: OrderT, *, by: Actor) -> AbstractContextManager[OrderChange[OrderT]]:
    """Begin the first change of an order, in the transaction that has just inserted it.

    The order needs no lock, because no other transaction can see it. The state is `received` and need not be
    derived.
    """
    return OrderChange(order, by)._entered(lambda _: ProcessingState.RECEIVED)
