"""A move in progress: its units, its target state, and its effects on stock, listings and routing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from enum import Enum

from accounts.actors import ActorKind
from api.errors import InvalidTransition
from events.models import Event
from fulfillments.effects import Effects, StockEffect
from fulfillments.models.line import FulfillmentLine
from fulfillments.models.quantities import Quantities, as_items, check_within
from fulfillments.states import REFUSALS, WITHDRAWN, Move, State, allowed_from
from inventory.models import MovementKind
from inventory.reservations import StockKey


class MoveOutcome(Enum):
    """The result of a call: changed something, kept a parcel of a held order, or changed nothing."""

    DONE = "done"
    KEPT = "kept"
    UNCHANGED = "unchanged"


@dataclass
class MoveInProgress:
    """One move in progress, with the lines of a locked fulfillment."""

    move: Move
    before: State
    warehouse_id: int
    lines: list[FulfillmentLine]
    target: State | None = None
    data: dict[str, object] = field(default_factory=dict)
    effects: Effects = field(default_factory=Effects)

    @property
    def repeated(self) -> bool:
        """Whether an earlier call made this move, so that this call changes nothing."""
        return self.before == self.move.repeated_in

    @property
    def open(self) -> int:
        return sum(line.open for line in self.lines)

    def within_open(self, quantities: Quantities | None, field: str) -> Quantities:
        """Return these quantities, or all open units. Raises Invalid at `field` if too few units are open."""
        return self.within(quantities, lambda line: line.open, "open", field)

    def within_cancelable(self, quantities: Quantities | None, field: str) -> Quantities:
        """Return these quantities, or all open units that have no cancellation request yet.

        Raises Invalid at `field` if fewer such units exist.
        """
        return self.within(quantities, lambda line: line.cancelable, "open and not requested back", field)

    def within(
        self, quantities: Quantities | None, room: Callable[[FulfillmentLine], int], word: str, field: str
    ) -> Quantities:
        if quantities is None:
            return {line.pk: room(line) for line in self.lines if room(line)}
        check_within(self.lines, quantities, room, word, field)
        return {pk: quantity for pk, quantity in quantities.items() if quantity}

    def units_by_line(self, quantities: Quantities) -> Iterator[tuple[FulfillmentLine, StockKey, int]]:
        """Yield each line that has a quantity, with its stock key and its quantity."""
        for line in self.lines:
            if quantities.get(line.pk):
                yield line, (line.variant_id, self.warehouse_id), quantities[line.pk]

    def ship(self, shipped: Quantities, tracking_number: str) -> None:
        """Take shipped units out of stock."""
        for line, stock_key, quantity in self.units_by_line(shipped):
            line.shipped += quantity
            self._stock(
                MovementKind.SHIP, line, stock_key, quantity, min(line.reserved, quantity), tracking_number
            )

    def reject(self, reason: str, rejected: Quantities) -> None:
        """Reject units, and add the effects on stock, listings and routing (`states.REFUSALS`)."""
        refusal = REFUSALS[reason]
        kind = MovementKind.REFUSE if refusal.empties_stock else MovementKind.RELEASE
        for line, stock_key, quantity in self.units_by_line(rejected):
            line.rejected += quantity
            self._stock(kind, line, stock_key, 0, max(line.reserved - line.open, 0), str(reason))
            if refusal.delists:
                self.effects.delisted.add(line.variant_id)
            if not refusal.waits_for_address:
                self.effects.rejected[line.order_line_id] += quantity

    def expect(self, rejected: Quantities, day: date) -> None:
        """Add a restock date to the effects: the day on which the supplier expects these units."""
        self.effects.expected |= {stock_key: day for _, stock_key, _ in self.units_by_line(rejected)}

    def withdraw(self, withdrawn: Quantities, to_supplier: int | None) -> None:
        """Release the stock of withdrawn units, and route them to `to_supplier`, or to any other supplier."""
        self.reject(WITHDRAWN, withdrawn)
        for line, _, _ in self.units_by_line(withdrawn):
            self.effects.reassigned_to[line.order_line_id] = to_supplier

    def cancel(self, quantities: Quantities) -> None:
        """Cancel units, and release their stock."""
        for line, stock_key, quantity in self.units_by_line(quantities):
            line.canceled += quantity
            line.cancel_requested = 0
            reserved = max(line.reserved - line.open, 0)
            self._stock(MovementKind.RELEASE, line, stock_key, 0, reserved, State.CANCELED.value)
        self.data["items"] = as_items(quantities)

    def ends(self, when_open: State) -> None:
        """Set the state in which the move ends.

        The state is `when_open` if units stay open, else shipped if the fulfillment has shipped units, else
        the move's own target.
        """
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


def last_move(**record: int) -> tuple[str, str]:
    """Return the type and the `from_state` of the event of a fulfillment's last move, or two empty strings.

    Events without a new state, such as the hold of the order, are ignored. So a call that repeats the last
    move counts as a repetition even after such an event. Of the moves of one change, the first counts: the
    others follow from it. The events of one change have one time, because one statement inserts them.
    """
    moves = Event.objects.filter(**record).exclude(to_state="").order_by("id")
    last = moves.last()
    first = moves.filter(occurred_at=last.occurred_at).first() if last is not None else None
    return (first.type, first.from_state) if first is not None else ("", "")


def check_same(state: str, name: str, known: str, given: str) -> None:
    """Raise InvalidTransition if a repeated call gives another value than the first call did.

    A repeated call may leave the value empty.
    """
    if given and given != known:
        before = f"with {name} '{known}'" if known else f"without a {name}"
        raise repeated_otherwise(state, f"This was done before {before}", f"'{given}'")


def repeated_otherwise(state: str, before: str, given: str) -> InvalidTransition:
    """Return the error for a repeated call with another value. The error names state and allowed moves."""
    allowed = allowed_from(state, ActorKind.SUPPLIER)
    return InvalidTransition(
        f"{before}; it cannot be repeated with {given}. The fulfillment is '{state}'; {allowed}."
    )
