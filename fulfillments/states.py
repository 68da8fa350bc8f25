"""The table of states and moves (contract 3): pure data, and the questions asked of it.

Models, admin, API docs and tests read this; nothing else knows which move is legal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.db import models

from accounts.actors import ActorKind
from api.errors import ApiError, InvalidTransition


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


NEW, ACCEPTED, SHIPPED = State.NEW, State.ACCEPTED, State.SHIPPED
OUT_OF_STOCK, MISSING_SKU, WRONG_ADDRESS = State.OUT_OF_STOCK, State.MISSING_SKU, State.WRONG_ADDRESS
CANCELING, CANCELED, NOT_ALLOWED = State.CANCELING, State.CANCELED, State.CANCELATION_NOT_ALLOWED

# The supplier still has work to do.
WORKABLE: Final = (NEW, ACCEPTED, NOT_ALLOWED)
# What a capture of new work returns: after a refused cancellation the work is to be captured again.
CAPTURABLE: Final = (NEW, NOT_ALLOWED)

SUPPLIER = (ActorKind.SUPPLIER, ActorKind.OPERATOR)
DECIDING = (*SUPPLIER, ActorKind.SYSTEM)
RETAILER = (ActorKind.RETAILER, ActorKind.OPERATOR)
OPERATOR = (ActorKind.OPERATOR,)


class OrderHeld(ApiError):
    """What a supplier may not do while operators hold the order (contract 13)."""

    code, status = "order_held", 409


@dataclass(frozen=True)
class Move:
    """One thing that can be done to a fulfillment.

    It ends in `target`, or in one of `otherwise` where a part of the quantities decides differently.
    In the state `repeated_in` the same call again changes nothing. What is `work` waits while its order
    is held.
    """

    name: str
    done: str  # as messages say it: "cannot be …"
    event: str
    sources: tuple[State, ...]
    target: State
    by: tuple[ActorKind, ...]
    code: str = ""
    otherwise: tuple[State, ...] = ()
    repeated_in: State | None = None
    work: bool = False

    @property
    def targets(self) -> tuple[State, ...]:
        return (self.target, *self.otherwise)

    def check(self, state: str, actor: ActorKind, *, held: bool = False) -> None:
        """Raise InvalidTransition unless this actor may make this move from that state.

        Raise OrderHeld where it has to wait until the order is released.
        """
        if state not in self.sources or actor not in self.by:
            raise forbidden(state, self.done, actor)
        if held and self.waits(state):
            raise OrderHeld(
                f"The order is held by an operator, so that nothing of it can be {self.done} now; try again "
                "when it is released. A cancellation can be answered meanwhile."
            )

    def waits(self, state: str) -> bool:
        """Whether it waits while the order is held; what has left is not held back."""
        return self.work and state in WORKABLE


def forbidden(state: str, done: str, actor: ActorKind) -> InvalidTransition:
    """The refusal that names the state, and what is allowed from it."""
    ways = [move.done for move in moves_from(state, actor)]
    allowed = f"from there it can be {', '.join(ways)}" if ways else "nothing more can be done with it"
    return InvalidTransition(f"A fulfillment that is '{state}' cannot be {done}; {allowed}.")


ACCEPT = Move(
    "accept",
    "accepted",
    "fulfillment.accepted",
    (NEW, NOT_ALLOWED),
    ACCEPTED,
    SUPPLIER,
    "accepted",
    repeated_in=ACCEPTED,
    work=True,
)
SHIP = Move(
    "ship",
    "shipped",
    "fulfillment.shipped",
    (ACCEPTED, NOT_ALLOWED, SHIPPED),
    SHIPPED,
    SUPPLIER,
    "shipped",
    otherwise=(ACCEPTED,),  # some lines went, a rest stays open
    work=True,
)
REJECT_OUT_OF_STOCK = Move(
    "reject_out_of_stock",
    "rejected as out of stock",
    "fulfillment.rejected",
    WORKABLE,
    OUT_OF_STOCK,
    SUPPLIER,
    "out_of_stock",
    otherwise=(*WORKABLE, SHIPPED),  # only some lines, or the rest of what was shipped in part
    repeated_in=OUT_OF_STOCK,
    work=True,
)
REJECT_MISSING_SKU = Move(
    "reject_missing_sku",
    "rejected as missing sku",
    "fulfillment.rejected",
    WORKABLE,
    MISSING_SKU,
    SUPPLIER,
    "missing_sku",
    otherwise=(*WORKABLE, SHIPPED),
    repeated_in=MISSING_SKU,
    work=True,
)
REJECT_WRONG_ADDRESS = Move(
    "reject_wrong_address",
    "rejected for its address",
    "fulfillment.rejected",
    WORKABLE,
    WRONG_ADDRESS,
    SUPPLIER,
    "wrong_address",
    otherwise=WORKABLE,  # only some lines
    repeated_in=WRONG_ADDRESS,
    work=True,
)
REQUEST_CANCELATION = Move(
    "request_cancelation",
    "asked back",
    "fulfillment.cancelation_requested",
    (*WORKABLE, CANCELING),  # while its supplier has not answered, more can be asked for
    CANCELING,
    RETAILER,
    "cancel_requested",
)
APPROVE_CANCELATION = Move(
    "approve_cancelation",
    "canceled",
    "fulfillment.canceled",
    (CANCELING,),
    CANCELED,
    DECIDING,
    "canceled",
    otherwise=(*WORKABLE, SHIPPED),  # a part was canceled: back to before; or the rest of what was shipped
    repeated_in=CANCELED,
)
REFUSE_CANCELATION = Move(
    "refuse_cancelation",
    "refused its cancelation",
    "fulfillment.cancelation_refused",
    (CANCELING,),
    NOT_ALLOWED,
    DECIDING,
    "cancelation_not_allowed",
    repeated_in=NOT_ALLOWED,
)
CORRECT_ADDRESS = Move(
    "correct_address",
    "released with another address",
    "fulfillment.released",
    (WRONG_ADDRESS,),
    NEW,
    OPERATOR,
    "address_corrected",
)
GIVE_UP = Move(
    "give_up",
    "canceled for its address",
    "fulfillment.canceled",
    (WRONG_ADDRESS,),
    CANCELED,
    RETAILER,
    "canceled",
    otherwise=(WRONG_ADDRESS, SHIPPED),  # only some lines; or the rest of what was shipped in part
)
WITHDRAW = Move(
    "withdraw",
    "sent to another supplier",
    "fulfillment.withdrawn",
    WORKABLE,
    CANCELED,
    OPERATOR,
    "withdrawn",
    otherwise=(SHIPPED,),  # the rest of what was shipped in part
)

WITHDRAWN: Final = "withdrawn"
"""Why its pieces are refused, where no supplier refused them: an operator sent them elsewhere."""

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
    WITHDRAW,
)

REJECTIONS: Final = {
    OUT_OF_STOCK: REJECT_OUT_OF_STOCK,
    MISSING_SKU: REJECT_MISSING_SKU,
    WRONG_ADDRESS: REJECT_WRONG_ADDRESS,
}


def moves_from(state: str, actor: ActorKind) -> Iterable[Move]:
    """What this actor may do with a fulfillment in that state."""
    return (move for move in MOVES if state in move.sources and actor in move.by)
