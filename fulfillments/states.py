"""The table of a fulfillment's states and moves (contract 3), as pure data.

Models, admin, API docs, events and tests read this table; no other module decides which move is legal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from django.db import models

from accounts.actors import ActorKind
from api.errors import ApiError, InvalidTransition


class State(models.TextChoices):
    """The states of a fulfillment, spelt as the interface spells them."""

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


def sql(*states: models.TextChoices) -> str:
    """Return states as SQL literals, separated by commas. All SQL statements use this function for states."""
    return ", ".join(f"'{state.value}'" for state in states)


# The supplier still has work to do in these states.
WORKABLE: Final = (NEW, ACCEPTED, NOT_ALLOWED)
# A capture returns fulfillments in these states. NOT_ALLOWED is included, because a supplier that refused a
# cancellation captures the fulfillment again.
CAPTURABLE: Final = (NEW, NOT_ALLOWED)

# Units are open in these states, so the supplier is notified of changes of the order.
UNFINISHED: Final = (*WORKABLE, CANCELING, WRONG_ADDRESS)

SUPPLIER = (ActorKind.SUPPLIER, ActorKind.OPERATOR)
DECIDING = (*SUPPLIER, ActorKind.SYSTEM)
RETAILER = (ActorKind.RETAILER, ActorKind.OPERATOR)
OPERATOR = (ActorKind.OPERATOR,)


class OrderHeld(ApiError):
    """The error for a supplier's move that must wait, because an operator holds the order (contract 13)."""

    code, status = "order_held", 409


@dataclass(frozen=True)
class Move:
    """One move of a fulfillment from one state to another.

    The move ends in `target`, or in a state of `otherwise` if the move covers only some of the units. A call
    in the state `repeated_in` is a repetition and changes nothing. A move with `work=True` must wait while
    the order is held.
    """

    name: str
    done: str  # completes the message "cannot be …"
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
        """Raise InvalidTransition unless this actor may make this move from this state.

        Raise OrderHeld first if the move must wait until the order is released.
        """
        self.check_held(held=held and self.waits(state))
        if state not in self.sources or actor not in self.by:
            raise forbidden(state, self.done, actor)

    def check_held(self, *, held: bool) -> None:
        """Raise OrderHeld if the move must wait until the order is released."""
        if held:
            raise OrderHeld(
                f"An operator holds the order, so its fulfillments cannot be {self.done} now. Try again when "
                "the order is released; you can answer a cancellation meanwhile."
            )

    def waits(self, state: str) -> bool:
        """Return whether the move must wait while the order is held.

        A shipped fulfillment does not wait, because its units have left the warehouse.
        """
        return self.work and state in WORKABLE


def forbidden(state: str, done: str, actor: ActorKind) -> InvalidTransition:
    """Return the error that names the state and the moves that are allowed from it."""
    return InvalidTransition(
        f"A fulfillment that is '{state}' cannot be {done}; {allowed_from(state, actor)}."
    )


def allowed_from(state: str, actor: ActorKind) -> str:
    """Return the end of a message: the moves that this actor may make from this state."""
    moves = [move.done for move in moves_from(state, actor)]
    return f"from there it can be {', '.join(moves)}" if moves else "nothing more can be done with it"


ACCEPT = Move(
    "accept",
    "accepted",
    "fulfillment.accepted",
    (NEW, NOT_ALLOWED),
    ACCEPTED,
    DECIDING,
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
    DECIDING,
    "shipped",
    otherwise=(ACCEPTED,),  # the parcel has only some of the units: the other units stay open
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
    otherwise=(*WORKABLE, SHIPPED),  # open units remain, or all other units are shipped
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
    otherwise=WORKABLE,  # the move covers only some units
    repeated_in=WRONG_ADDRESS,
    work=True,
)
REQUEST_CANCELATION = Move(
    "request_cancelation",
    "requested back",
    "fulfillment.cancelation_requested",
    (*WORKABLE, CANCELING),  # until the supplier answers, the retailer can request more units
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
    otherwise=(*WORKABLE, SHIPPED),  # open units remain, or all other units are shipped
    repeated_in=CANCELED,
)
REFUSE_CANCELATION = Move(
    "refuse_cancelation",
    "kept by refusing the cancellation",
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
    RETAILER,
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
    otherwise=(WRONG_ADDRESS, SHIPPED),  # open units remain, or all other units are shipped
)
CANCEL_UNCAPTURED = Move(
    "cancel_uncaptured",
    "canceled before its capture",
    "fulfillment.canceled",
    (NEW,),
    CANCELED,
    RETAILER,
    "canceled",
    otherwise=(NEW,),  # the move cancels only some units
)
WITHDRAW = Move(
    "withdraw",
    "reassigned to another supplier",
    "fulfillment.withdrawn",
    WORKABLE,
    CANCELED,
    OPERATOR,
    "withdrawn",
    otherwise=(*WORKABLE, SHIPPED),  # open units remain, or all other units are shipped
)

WITHDRAWN: Final = "withdrawn"
"""The reason of a rejection that no supplier made: an operator reassigned the units."""


class Excluded(Enum):
    """The kind of source that routing does not ask again for an order line until the refusal ends."""

    NOTHING = "nothing"
    WAREHOUSE = "warehouse"
    SUPPLIER = "supplier"


@dataclass(frozen=True)
class Refusal:
    """The consequences of a refusal for stock, listings and routing, by its reason.

    Every refusal ends when an operator asks the supplier again. A refusal that empties stock also ends with
    the next count above zero, and a refusal that delists also ends when the variant is listed again.
    """

    reason: str
    excludes: Excluded
    message: str = ""
    empties_stock: bool = False
    delists: bool = False
    waits_for_address: bool = False


REFUSALS: Final = {
    refusal.reason: refusal
    for refusal in (
        Refusal(
            OUT_OF_STOCK.value,
            Excluded.WAREHOUSE,
            "Rejected as out of stock; the stock of its variants is 0 now.",
            empties_stock=True,
        ),
        Refusal(
            MISSING_SKU.value,
            Excluded.SUPPLIER,
            "Rejected as missing sku; its variants are no longer listed.",
            delists=True,
        ),
        Refusal(
            WRONG_ADDRESS.value,
            Excluded.NOTHING,
            "Rejected for its address; an operator will correct the address.",
            waits_for_address=True,
        ),
        Refusal(WITHDRAWN, Excluded.SUPPLIER),
    )
}

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
    CANCEL_UNCAPTURED,
    WITHDRAW,
)

REJECTIONS: Final = {
    OUT_OF_STOCK: REJECT_OUT_OF_STOCK,
    MISSING_SKU: REJECT_MISSING_SKU,
    WRONG_ADDRESS: REJECT_WRONG_ADDRESS,
}


def moves_from(state: str, actor: ActorKind) -> Iterable[Move]:
    """Return the moves that this actor may make from this state."""
    return (move for move in MOVES if state in move.sources and actor in move.by)


CORRECTED: Final = "fulfillment.shipment_corrected"
"""The event of a corrected parcel."""

NOTICES: Final = (
    *("fulfillment.address_corrected", "fulfillment.held", "fulfillment.released"),
    "fulfillment.ship_until_changed",
)
"""The events that tell suppliers of a change of their order."""

EVENTS: Final = (
    *("fulfillment.created", "fulfillment.extended", "fulfillment.stock_arrived", "fulfillment.returned"),
    *("fulfillment.restocked", "fulfillment.invoiced", CORRECTED),
    "fulfillment.parcel_kept",
    *("fulfillment.address_corrected", "fulfillment.held", "fulfillment.ship_until_changed"),
    *dict.fromkeys(move.event for move in MOVES),
)
"""The event types of fulfillments: first the types without a move, then the types of the moves."""
