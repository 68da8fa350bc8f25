"""The protocol of an order's change. Every move is part of a change.

`orders.change` implements the protocol. The app `orders` imports the app `fulfillments`, so moves know an
order's change only through this protocol.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import Protocol

from accounts.actors import Actor
from fulfillments.effects import Effects
from fulfillments.planning.candidates import WaitingLine, WantedLine


class Recorded(Protocol):
    """The parts of a fulfillment that an event needs."""

    @property
    def pk(self) -> int: ...
    @property
    def supplier_id(self) -> int: ...
    @property
    def order_lines(self) -> Mapping[int, int]: ...


class Change(Protocol):
    """One change of one order, by one actor. The order is locked."""

    @property
    def by(self) -> Actor: ...
    @property
    def order_id(self) -> int: ...
    @property
    def retailer_id(self) -> int: ...
    @property
    def ship_until(self) -> date | None: ...
    @property
    def held(self) -> bool: ...
    @property
    def country_known(self) -> bool: ...

    def lines_in(self, line_ids: Iterable[int]) -> Sequence[WantedLine]:
        """Return the order's lines with these ids."""
        ...

    def has_waiting_lines(self, variant_ids: Collection[int]) -> bool:
        """Return whether another order may have a backorder for one of these variants."""
        ...

    def waiting_lines(self, variant_ids: Collection[int]) -> list[WaitingLine]:
        """Return unrouted lines of older orders that may be filled from one of these variants."""
        ...

    def own_waiting_lines(self) -> list[WaitingLine]:
        """Return the order's own unrouted lines."""
        ...

    def note_routed(self, units: Mapping[int, int]) -> None:
        """Note that unrouted units of the order were routed. `units` has the number by order line id."""
        ...

    def check_order(self, order_id: int) -> None:
        """Raise RuntimeError if this change belongs to another order, or is not in progress."""
        ...

    def record(
        self,
        type: str,  # noqa: A002 - the field's name in the API
        *,
        fulfillment: Recorded | None = None,
        effects: Effects | None = None,
        **fields: object,
    ) -> None:
        """Remember an event, and its effects on stock, listings and routing, until the change ends."""
        ...
