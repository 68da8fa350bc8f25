"""The unit of work: whatever changes an order happens in one OrderChange, and is done whole or not at all.

    with order.change(by=actor) as change:
        fulfillment.accept(change)
        change.record("order.note", data={"text": "called the customer"})

The order is locked and read afresh on entering. On leaving, what was recorded is carried out: stock by one
ordered statement, then the order's lines and state, the events, and last the stamp (docs/architecture.md).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from datetime import date
from typing import Any, Generic, Self, TypeVar

from django.db import models, transaction

from accounts.actors import Actor
from accounts.models import Retailer
from events.models import Event
from events.recording import PIECES, draft
from fastdb.inserts import insert
from fulfillments.change import Recorded
from fulfillments.effects import Effects
from fulfillments.planning.candidates import WaitingLine, WantedLine
from fulfillments.services import apply_effects
from orders import unrouted_lines
from orders.processing_state import FINISHED, ProcessingState, derive_state, stamp


class ChangeableOrder(models.Model):
    """What a change reads and writes of its order itself; all else is in `orders.models.Order`."""

    retailer = models.ForeignKey(Retailer, on_delete=models.PROTECT, related_name="orders")
    ship_until = models.DateField(null=True)
    held = models.BooleanField(
        default=False, help_text="Not to be captured yet: its fulfillments are pending."
    )
    has_unknown_country = models.BooleanField(
        db_default=False, default=False, help_text="Nobody can say to which country it goes."
    )
    processing_state = models.CharField(
        max_length=20, choices=ProcessingState.choices, default=ProcessingState.RECEIVED, editable=False
    )
    updated_at = models.DateTimeField(
        null=True, editable=False, help_text="Stamped as the last act of each change (the polling promise)."
    )

    class Meta:
        abstract = True

    def change(self, *, by: Actor) -> AbstractContextManager[OrderChange[Self]]:
        """Begin a change: `with order.change(by=actor) as change:`.

        Raises RuntimeError while another one is under way.
        """
        return _change_of(self, by=by)

    # What only `orders.models.Order` can do, which imports this module. They cannot be abstract methods:
    # Django's models have a metaclass of their own, which is not that of `abc.ABC`.

    def lock(self) -> None:
        """Lock the row, and read afresh what changes decide by."""
        raise NotImplementedError  # the order's own, as said above

    def lines_in(self, line_ids: Iterable[int]) -> list[WantedLine]:
        """Those of its lines that have these ids."""
        raise NotImplementedError  # the order's own, as said above


OrderT = TypeVar("OrderT", bound=ChangeableOrder)


class OrderChange(Generic[OrderT]):
    """One change of one order, by one actor. Moves are given it, and nothing else can make them.

    There is one at a time: a second one of the same order would write its state, its stamp and its counts
    twice, and one of another order would take locks out of their order.
    """

    def __init__(self, order: OrderT, by: Actor) -> None:
        self.order, self.by = order, by
        self._effects = Effects()
        self._events: list[Event] = []

    @property
    def order_id(self) -> int:
        return int(self.order.pk)

    @property
    def retailer_id(self) -> int:
        return self.order.retailer_id

    @property
    def ship_until(self) -> date | None:
        return self.order.ship_until

    @property
    def held(self) -> bool:
        return self.order.held

    @property
    def country_known(self) -> bool:
        return not self.order.has_unknown_country

    def lines_in(self, line_ids: Iterable[int]) -> list[WantedLine]:
        return self.order.lines_in(line_ids)

    def anybody_waits(self, variant_ids: Collection[int]) -> bool:
        return unrouted_lines.anybody_waits(variant_ids, but=self.order_id)

    def lines_waiting(self, variant_ids: Collection[int]) -> list[WaitingLine]:
        return unrouted_lines.lines_waiting(variant_ids, before=self.order_id)

    def own_lines_waiting(self) -> list[WaitingLine]:
        return unrouted_lines.own_lines_waiting(self.order_id)

    def placed(self, pieces: Mapping[int, int]) -> None:
        unrouted_lines.placed(pieces)

    def check_order(self, order_id: int) -> None:
        """Raise RuntimeError unless this is the change of that order, and under way."""
        self._check_under_way()
        if order_id != self.order_id:
            raise RuntimeError(
                f"This is a change of order {self.order_id}; a fulfillment of order {order_id} is moved in a "
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
        """Remember an event of this change, and with it what it does to stock, listings and routing.

        There is no other way to have an effect, so that history says why stock moved.
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
        """From here on it is under way; on leaving, what was recorded is carried out.

        Raises RuntimeError where another one is under way, and outside of a transaction.
        """
        if not transaction.get_connection().in_atomic_block:
            raise RuntimeError(f"Order {self.order_id} is changed in one transaction, or not at all.")
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
        """Stock and listings; lines and state; events; and last the stamp, under the retailer's clock row."""
        order = self.order
        apply_effects(self._effects, self)
        before = order.processing_state if order.updated_at else None
        order.processing_state = after = state_of(self.order_id)
        if order.held and after in FINISHED:  # nothing of it is left to be held
            order.held = False
            order.save(update_fields=["held"])
        insert(self._events)
        order.updated_at = stamp(self.order_id, self.retailer_id, before, after)

    def _check_under_way(self) -> None:
        if _under_way.get() is not self:
            raise RuntimeError(
                f"This change of order {self.order_id} has ended; what comes later needs another one: "
                "`with order.change(by=…) as change:`."
            )


def _with_order_lines(data: dict[str, Any], fulfillment: Recorded) -> dict[str, Any]:
    """An event's data, whose pieces name the order's lines, too: retailers read of those."""
    named = {
        name: [{**item, "order_line_id": fulfillment.order_lines[item["line"]]} for item in data[name]]
        for name in PIECES
        if data.get(name)
    }
    return data | named


_under_way: ContextVar[OrderChange[Any] | None] = ContextVar("order_change", default=None)


def _second(order_id: int, other_id: int) -> str:
    if order_id == other_id:
        return (
            f"Order {order_id} is being changed already: give its moves the change that is under way, "
            "instead of opening a second one."
        )
    return f"Order {order_id} is being changed: order {other_id} can be changed when that has ended."


@contextmanager
def _change_of(order: OrderT, *, by: Actor) -> Iterator[OrderChange[OrderT]]:
    with transaction.atomic(), OrderChange(order, by)._entered(derive_state) as change:
        order.lock()
        yield change


def first_change_of(order: OrderT, *, by: Actor) -> AbstractContextManager[OrderChange[OrderT]]:
    """The change that brings a new order in, in the transaction that has just inserted it.

    Nobody else can see the order, so it is not locked; it is as it was received, so nothing is derived.
    """
    return OrderChange(order, by)._entered(lambda _: ProcessingState.RECEIVED)
