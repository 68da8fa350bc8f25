"""A supplier's moves as actions. The API's table of states decides which moves are possible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from django.template.loader import render_to_string

from accounts.actors import ActorKind
from accounts.operating.operator_actions import AdminAction
from api.errors import InvalidTransition
from fulfillments import states
from fulfillments.admin.actions import (
    ACTIONS as OF_OPERATORS,
)
from fulfillments.admin.actions import (
    MakeMove,
    action_of,
    all_shipped,
    make_accept,
    make_approve,
    make_refuse,
    make_reject,
    make_ship,
    open_units,
    returnable,
)
from fulfillments.admin.unit_forms import units_in
from fulfillments.change import Change
from fulfillments.models import Fulfillment
from fulfillments.states import Move, State
from portal.supplying.forms import ConfirmedShipForm, OutOfStockForm, OwnReturnForm, RejectionForm


def own_move(
    move: Move, label: str, make: MakeMove, effect: Callable[[Fulfillment], str], **more: Any
) -> AdminAction[Any]:
    action = action_of(move, label, make, effect, by=ActorKind.SUPPLIER, **more)
    return replace(action, why_not=partial(_why_not, action.why_not))


def _why_not(check: Callable[[Fulfillment], str], fulfillment: Fulfillment) -> str:
    reason = check(fulfillment)
    if reason and fulfillment.state == State.CANCELING:
        return "The retailer asked to cancel this order. Approve or refuse the cancellation first."
    return reason


def _accept(fulfillment: Fulfillment, change: Change, answers: dict[str, object]) -> str:
    make_accept(fulfillment, change, {"tracking_number": ""})
    return f"You accepted order {fulfillment.order.retailer_order_id}."


def _ship_to(fulfillment: Fulfillment) -> str:
    return render_to_string("portal/supplying/ship_to.html", {"address": fulfillment.order.shipping_address})


def accept_and_ship(fulfillment: Fulfillment, change: Change, answers: dict[str, object]) -> str:
    """Ship a parcel. If the order is not accepted yet, accept it in the same change."""
    fulfillment.refresh_from_db(fields=["state"])
    open_now = {f"line_{line.pk}": line.open for line in fulfillment.lines.order_by("pk") if line.open}
    if not open_now:
        raise InvalidTransition("All units are shipped.")
    if fulfillment.state in UNACCEPTED:
        fulfillment.accept(change)
    return make_ship(fulfillment, change, answers if units_in(answers) else {**answers, **open_now})


def _refuse(fulfillment: Fulfillment, change: Change, answers: dict[str, object]) -> str:
    make_refuse(fulfillment, change, answers)
    return "You refused the cancellation. Accept the order again, and ship it."


def requested_units(fulfillment: Fulfillment) -> str:
    """Return the units of a cancellation request as text such as `2 × LAN-1`."""
    asked = [f"{line.cancel_requested} × {line.sku}" for line in fulfillment.lines.all()]
    return ", ".join(text for text in asked if not text.startswith("0 "))


def _reject(move: Move, label: str, effect: str, help_text: str, **more: object) -> AdminAction[Any]:
    return own_move(
        move,
        label,
        make_reject(move.target),
        lambda fulfillment: effect.format(units=open_units(fulfillment), warehouse=fulfillment.warehouse),
        help_text=help_text,
        danger=True,
        **{"form": RejectionForm.of, **more},
    )


def _cannot_ship(fulfillment: Fulfillment) -> str:
    """Return the reason why no parcel can be shipped, or an empty text.

    For an order that is not accepted yet, return the reason against the acceptance: the order is accepted
    together with its parcel.
    """
    return (_ACCEPT if fulfillment.state in UNACCEPTED else _SHIP).why_not(fulfillment)


_RETURN = next(action for action in OF_OPERATORS if action.name == "return")
UNACCEPTED = (State.NEW, State.CANCELATION_NOT_ALLOWED)
_ACCEPT = own_move(
    states.ACCEPT,
    "Accept order",
    _accept,
    lambda fulfillment: f"You will ship {open_units(fulfillment)} from {fulfillment.warehouse}.",
    undo="You can still reject the order.",
    bulk=True,
    list_label="Accept orders",
)
_SHIP = own_move(
    states.SHIP,
    "Ship parcel",
    accept_and_ship,
    lambda fulfillment: f"{open_units(fulfillment)} can be shipped.",
    unless=all_shipped,
    form=ConfirmedShipForm.of,
    details=_ship_to,
    help_text="Enter fewer units to ship a part: the rest stays open for another parcel.",
    undo="A shipped parcel cannot be taken back. Ask an operator.",
)
SHIP = replace(_SHIP, why_not=_cannot_ship)
ACTIONS = (
    _ACCEPT,
    SHIP,
    own_move(
        states.APPROVE_CANCELATION,
        "Approve cancellation",
        make_approve,
        lambda fulfillment: f"You will not ship {requested_units(fulfillment)}. The stock is released.",
        undo="The retailer has to order again.",
        danger=True,
    ),
    own_move(
        states.REFUSE_CANCELATION,
        "Refuse cancellation",
        _refuse,
        lambda fulfillment: f"You will ship {open_units(fulfillment)} after all.",
        help_text="Use this if the parcel is already on its way.",
        undo="The retailer can request the cancellation again.",
    ),
    _reject(
        states.REJECT_OUT_OF_STOCK,
        "Reject: out of stock",
        "If another supplier has stock, it ships {units}.",
        "Your stock of these products becomes 0 in this warehouse, also for units of other orders.",
        form=OutOfStockForm.of,
        undo="Count the stock again. The units of this order do not come back.",
    ),
    _reject(
        states.REJECT_MISSING_SKU,
        "Reject: product not sold",
        "If another supplier has stock, it ships {units}.",
        "These products are delisted: no retailer can order them from you.",
        undo="List the products again. The units of this order do not come back.",
    ),
    _reject(
        states.REJECT_WRONG_ADDRESS,
        "Reject: wrong address",
        "You ship {units} after the address is corrected.",
        "The retailer or an operator corrects the address. Then the order returns to you.",
        undo="The order returns when the address is correct.",
    ),
    replace(
        _RETURN,
        form=OwnReturnForm.of,
        effect=lambda fulfillment: (
            f"The units came back to {fulfillment.warehouse}. {returnable(fulfillment)}"
        ),
        help_text="Enter the units that came back. The retailer sees the return and its reason.",
        undo="A recorded return stays. Ask an operator if it is wrong.",
    ),
)
