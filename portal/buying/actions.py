"""A retailer's actions on its orders. They call the functions of the API."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

from accounts.actors import Actor
from accounts.operating.operator_actions import AdminAction, NothingChanged, Reason
from api.errors import Invalid, InvalidTransition
from api.phrases import in_units
from fulfillments.admin.unit_forms import units_in
from fulfillments.models import MoveOutcome
from orders.addresses.addresses import fingerprint
from orders.admin.actions import ACTIONS as OF_OPERATORS
from orders.admin.actions import cancel_units, not_cancelable
from orders.admin.address_form import AddressForm, changed_parts
from orders.cancelable_units import CancelableUnits
from orders.models import Order
from orders.retailer_changes import change_order, why_not_changeable
from portal.buying.forms import CancelUnitsForm, DeadlineForm

SEEN_BY_SUPPLIERS = "The suppliers see the reason."


def _cancel_part(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    units = units_in(answers)
    if units is None:
        raise Invalid("Enter the units of at least one line.")
    asked = [{"id": line, "quantity": quantity} for line, quantity in units.items()]
    # Send a new cancel_id, so that the units are requested in addition to unanswered requests. Without a
    # cancel_id, the request would include the units of unanswered requests.
    return cancel_units(order, by, answers.get("reason", ""), asked, cancel_id=f"portal-{uuid4()}")


def _correct_address(order: Order, by: Actor, answers: dict[str, object]) -> str:
    shown = answers["shown"]
    with order.change(by=by) as change:
        if shown and shown != fingerprint(order.shipping_address):
            raise InvalidTransition("Someone corrected the address meanwhile. Check the new address.")
        address = {**order.shipping_address, **changed_parts(order, answers)}
        if change_order(change, {"shipping_address": address}) is MoveOutcome.UNCHANGED:
            raise NothingChanged("The form has the same address; nothing was changed.")
    return f"The address of order {order.retailer_order_id} is corrected. Its suppliers get the new address."


def _change_deadline(order: Order, by: Actor, answers: dict[str, object]) -> str:
    day = answers["ship_until"]
    with order.change(by=by) as change:
        if change_order(change, {"ship_until": day}) is MoveOutcome.UNCHANGED:
            raise NothingChanged("The form has the same date; nothing was changed.")
    return (
        f"Order {order.retailer_order_id} has to be shipped by {day:%-d %b %Y}."
        if day
        else (f"Order {order.retailer_order_id} has no date until which it has to be shipped.")
    )


def _units_left(order: Order) -> str:
    """Name the units that are left. If a colleague cancels some meanwhile, the preview is out of date."""
    units = CancelableUnits(order)
    return f"{in_units(sum(units.left(line) for line in units.lines))} can be canceled."


_known: dict[str, AdminAction[Any]] = {action.name: action for action in OF_OPERATORS}
CANCEL = replace(
    _known["cancel"],
    help_text="Suppliers are asked to release their units. Units without a supplier are canceled at "
    "once, and shipped units stay shipped.",
    reason=Reason.OPTIONAL,
    reason_help=SEEN_BY_SUPPLIERS,
    undo="Order the units again. A supplier may refuse the cancellation.",
)
CANCEL_UNITS = AdminAction[Order](
    "cancel-units",
    "Cancel units",
    _cancel_part,
    not_cancelable,
    _units_left,
    form=CancelUnitsForm.of,
    help_text="Enter the units of each line that you do not need. Suppliers are asked to release units "
    "that they have. Units without a supplier are canceled at once.",
    reason=Reason.OPTIONAL,
    reason_help=SEEN_BY_SUPPLIERS,
    shares_reason=True,
    danger=True,
    undo="Order the units again. A supplier may refuse the cancellation.",
)
CORRECT_ADDRESS = replace(
    _known["correct-address"],
    run=_correct_address,
    why_not=why_not_changeable,
    form=AddressForm.of,
    help_text="An order that waits for the right address returns to its supplier.",
    undo="Correct the address again.",
)
CHANGE_DEADLINE = AdminAction[Order](
    "change-date",
    "Change ship-until date",
    _change_deadline,
    why_not_changeable,
    lambda order: f"Now: {order.ship_until:%-d %b %Y}." if order.ship_until else "Now: no date.",
    form=DeadlineForm.of,
    help_text="The suppliers get the new date.",
    undo="Change the date again.",
)
ACTIONS = (CANCEL_UNITS, CANCEL, CORRECT_ADDRESS, CHANGE_DEADLINE)
