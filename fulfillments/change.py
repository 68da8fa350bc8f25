"""What fulfillments need of the change that their moves are part of; `orders.change` implements it.

Imports point from orders to fulfillments. So this is a protocol: a move is given the change of its order,
and knows no more of orders than stands here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import Any, Protocol

from accounts.actors import Actor
from fulfillments.effects import Effects
from fulfillments.planning.candidates import WaitingLine, WantedLine


class Recorded(Protocol):
    """The fulfillment that an event is about."""

    @property
    def pk(self) -> int: ...
    @property
    def supplier_id(self) -> int: ...
    @property
    def order_lines(self) -> Mapping[int, int]: ...


class Change(Protocol):
    """One change of one order, by one actor. The order is locked, and read afresh."""

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
        """Those of the order's lines that have these ids."""
        ...

    def anybody_waits(self, variant_ids: Collection[int]) -> bool:
        """Whether a line of any other order may wait for one of these variants."""
        ...

    def lines_waiting(self, variant_ids: Collection[int]) -> list[WaitingLine]:
        """Lines of older orders that no supplier has, and that may want one of these variants."""
        ...

    def own_lines_waiting(self) -> list[WaitingLine]:
        """The order's own lines that have pieces which no supplier has."""
        ...

    def placed(self, pieces: Mapping[int, int]) -> None:
        """So many pieces of these of its lines, which nobody had, are with a supplier now."""
        ...

    def check_order(self, order_id: int) -> None:
        """Raise RuntimeError unless this is the change of that order, and under way."""
        ...

    def record(
        self,
        type: str,  # noqa: A002 - the field's name in the API
        *,
        fulfillment: Recorded | None = None,
        effects: Effects | None = None,
        **fields: Any,
    ) -> None:
        """Remember an event, and with it what it does to stock, listings and routing."""
        ...
