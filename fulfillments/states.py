"""The table of states and moves (contract 3): pure data, and the questions asked of it.

Models, admin, API docs and tests read this; nothing else knows which move is legal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db import models

from accounts.actors import ActorKind
from api.errors import InvalidTransition


class State(models.TextChoices):
    """Stored and answered exactly as the interface writes them."""

    NEW = "new"
    ACCEPTED = "accepted"
    SHIPPED = "shipped"
    OUT_OF_STOCK = "out_of_stock"
    MISSING_SKU = "missing_sku"
    WRONG_ADDRESS = "wrong_address"
    CANCELING = "canceling"
    CANCELED = "canceled"
    CANCELATION_NOT_ALLOWED = "cancelation not allowed"


@dataclass(frozen=True)
class Move:
    """One thing that can be done to a fulfillment.

    `target` is where it ends when nothing is left open; `staying` tells that it may end in its source
    instead (a part was shipped or refused), `shipped_ends` that what was shipped decides.
    """

    name: str
    code: str
    sources: frozenset[State]
    targets: frozenset[State]
    by: frozenset[ActorKind]
    event: str

    def check(self, state: str, actor: ActorKind) -> None:
        """Raise InvalidTransition unless this actor may make this move from that state."""
        if state in self.sources and actor in self.by:
            return
        ways = allowed_from(state, actor)
        raise InvalidTransition(
            f"A fulfillment that is {state} cannot be {self.event}; "
            + (f"from there it can be {', '.join(ways)}." if ways else "that state is final.")
        )


def _move(
    name: str,
    event: str,
    *sources: State,
    to: State | tuple[State, ...],
    by: tuple[ActorKind, ...],
    code: str = "",
) -> Move:
    targets = frozenset(to) if isinstance(to, tuple) else frozenset({to})
    return Move(name, code or str(next(iter(targets))), frozenset(sources), targets, frozenset(by), event)


SUPPLIER = (ActorKind.SUPPLIER, ActorKind.OPERATOR)
DECIDING = (ActorKind.SUPPLIER, ActorKind.OPERATOR, ActorKind.SYSTEM)
RETAILER = (ActorKind.RETAILER, ActorKind.OPERATOR)
OPERATOR = (ActorKind.OPERATOR,)

NEW, ACCEPTED, SHIPPED = State.NEW, State.ACCEPTED, State.SHIPPED
OUT_OF_STOCK, MISSING_SKU, WRONG_ADDRESS = State.OUT_OF_STOCK, State.MISSING_SKU, State.WRONG_ADDRESS
CANCELING, CANCELED, NOT_ALLOWED = State.CANCELING, State.CANCELED, State.CANCELATION_NOT_ALLOWED

WORKABLE: Final = (NEW, ACCEPTED, NOT_ALLOWED)
"""The supplier still has work to do."""

CAPTURABLE: Final = (NEW, NOT_ALLOWED)
"""What a capture of new work returns: a refused cancellation is back in the capturing process."""

ACCEPT = _move("accept", "accepted", NEW, NOT_ALLOWED, to=ACCEPTED, by=SUPPLIER)
SHIP = _move(
    "ship", "shipped", ACCEPTED, NOT_ALLOWED, SHIPPED, to=(SHIPPED, ACCEPTED), by=SUPPLIER, code="shipped"
)
REJECT_OUT_OF_STOCK = _move(
    "out_of_stock",
    "rejected as out of stock",
    *WORKABLE,
    to=(OUT_OF_STOCK, SHIPPED, *WORKABLE),
    by=SUPPLIER,
    code="out_of_stock",
)
REJECT_MISSING_SKU = _move(
    "missing_sku",
    "rejected as a missing sku",
    *WORKABLE,
    to=(MISSING_SKU, SHIPPED, *WORKABLE),
    by=SUPPLIER,
    code="missing_sku",
)
REJECT_WRONG_ADDRESS = _move(
    "wrong_address", "rejected for its address", *WORKABLE, to=WRONG_ADDRESS, by=SUPPLIER
)
REQUEST_CANCELATION = _move(
    "request_cancelation", "asked back", *WORKABLE, to=CANCELING, by=RETAILER, code="cancel_requested"
)
APPROVE_CANCELATION = _move(
    "approve_cancelation",
    "canceled",
    CANCELING,
    to=(CANCELED, SHIPPED, *WORKABLE),
    by=DECIDING,
    code="canceled",
)
REFUSE_CANCELATION = _move(
    "refuse_cancelation", "kept", CANCELING, to=NOT_ALLOWED, by=DECIDING, code="cancelation_not_allowed"
)
CORRECT_ADDRESS = _move(
    "correct_address", "released with another address", WRONG_ADDRESS, to=NEW, by=OPERATOR
)
GIVE_UP = _move("give_up", "canceled for its address", WRONG_ADDRESS, to=CANCELED, by=RETAILER)

MOVES: Final = (
    ACCEPT,
    SHIP,
    REJECT_OUT_OF_STOCK,
    REJECT_MISSING_SKU,
    REJECT_WRONG_ADDRESS,
    REQUEST_CANCELATION,
    APPROVE_CANCELATION,
    REFUSE_CANCELATION,
    CORRECT_ADDRESS,
    GIVE_UP,
)


def allowed_from(state: str, actor: ActorKind) -> list[str]:
    """What this actor may do with a fulfillment in that state, in the words of the messages."""
    return [move.event for move in MOVES if state in move.sources and actor in move.by]
