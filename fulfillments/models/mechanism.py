"""A move under way: its pieces, its end, and what it does to stock, listings and routing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from api.errors import InvalidTransition
from events.models import Event
from fulfillments.effects import Effects, StockEffect
from fulfillments.models.line import FulfillmentLine
from fulfillments.models.quantities import Quantities, as_items, check_within
from fulfillments.states import WITHDRAWN, Move, State
from inventory.models import MovementKind
from inventory.reservations import StockKey


class Outcome(Enum):
    """Whether a call did something, or had been made before."""

    DONE = "done"
    UNCHANGED = "unchanged"


@dataclass
class Moving:
    """One move under way, on the lines of a locked and freshly read fulfillment."""

    move: Move
    before: State
    warehouse_id: int
    lines: list[FulfillmentLine]
    target: State | None = None
    data: dict[str, Any] = field(default_factory=dict)
    effects: Effects = field(default_factory=Effects)

    @property
    def repeated(self) -> bool:
        """Whether this was done before, so that it changes nothing now."""
        return self.before == self.move.repeated_in

    @property
    def open(self) -> int:
        return sum(line.open for line in self.lines)

    def within_open(self, quantities: Quantities | None, field: str) -> Quantities:
        """What is asked for, or all that is open. Raises Invalid, at that field, for more than is open."""
        return self._within(quantities, lambda line: line.open, "open", field)

    def within_askable(self, quantities: Quantities | None, field: str) -> Quantities:
        """What is to be asked back beyond what is already, or all of it. Raises Invalid, at that field."""
        return self._within(quantities, lambda line: line.askable, "open and not asked back yet", field)

    def _within(
        self, quantities: Quantities | None, room: Callable[[FulfillmentLine], int], word: str, field: str
    ) -> Quantities:
        if quantities is None:
            return {line.pk: room(line) for line in self.lines if room(line)}
        check_within(self.lines, quantities, room, word, field)
        return {pk: quantity for pk, quantity in quantities.items() if quantity}

    def pieces(self, quantities: Quantities) -> Iterator[tuple[FulfillmentLine, StockKey, int]]:
        """The lines that quantities are asked of, with the stock row of each."""
        for line in self.lines:
            if quantities.get(line.pk):
                yield line, (line.variant_id, self.warehouse_id), quantities[line.pk]

    def ship(self, sent: Quantities, tracking_number: str) -> None:
        """Take what is sent out of stock."""
        for line, stock_key, quantity in self.pieces(sent):
            line.shipped += quantity
            self._stock(
                MovementKind.SHIP, line, stock_key, quantity, min(line.reserved, quantity), tracking_number
            )

    def reject(self, reason: str, refused: Quantities) -> None:
        """Give back what was set aside for it; what is refused for the goods' sake is routed again."""
        kind = MovementKind.REFUSE if reason == State.OUT_OF_STOCK else MovementKind.RELEASE
        for line, stock_key, quantity in self.pieces(refused):
            line.rejected += quantity
            self._stock(kind, line, stock_key, 0, max(line.reserved - line.open, 0), str(reason))
            if reason == State.MISSING_SKU:
                self.effects.delisted.add(line.variant_id)
            if reason != State.WRONG_ADDRESS:
                self.effects.refused[line.order_line_id] += quantity

    def withdraw(self, taken: Quantities, to_supplier: int | None) -> None:
        """Give back what was set aside for it, and find it another supplier, or this one."""
        self.reject(WITHDRAWN, taken)
        for line, _, _ in self.pieces(taken):
            self.effects.sent_to[line.order_line_id] = to_supplier

    def cancel(self, quantities: Quantities) -> None:
        """Give back what was set aside for it."""
        for line, stock_key, quantity in self.pieces(quantities):
            line.canceled += quantity
            line.cancel_requested = 0
            reserved = max(line.reserved - line.open, 0)
            self._stock(MovementKind.RELEASE, line, stock_key, 0, reserved, State.CANCELED.value)
        self.data["items"] = as_items(quantities)

    def ends(self, when_open: State) -> None:
        """In that state while something is open, else shipped if anything was, else in the move's target."""
        if self.open:
            self.target = when_open
        elif any(line.shipped for line in self.lines):
            self.target = State.SHIPPED
        else:
            self.target = self.move.target

    def _stock(
        self,
        kind: MovementKind,
        line: FulfillmentLine,
        stock_key: StockKey,
        quantity: int,
        reserved: int,
        reason: str,
    ) -> None:
        line.reserved -= reserved
        self.effects.stock.append(
            StockEffect(kind, stock_key, quantity, reserved, line.fulfillment_id, reason)
        )


def last_event(**record: int) -> tuple[str, str]:
    """The type of the last event of a record, and the state that it began in; empty where there is none."""
    last = Event.objects.filter(**record).order_by("id").last()
    return (last.type, last.from_state) if last is not None else ("", "")


def check_same(name: str, known: str, given: str) -> None:
    """A repetition must say what was said before. Raises InvalidTransition where it does not."""
    if given and given != known:
        before = f"with {name} '{known}'" if known else f"without a {name}"
        raise InvalidTransition(f"This was done before {before}; it cannot be repeated with '{given}'.")
