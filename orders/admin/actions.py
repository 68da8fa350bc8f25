"""The admin actions of an order. The actions use the same functions as the API."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from django.template.defaultfilters import pluralize

from accounts.actors import Actor
from accounts.operating.operator_actions import UNDO, AdminAction, NothingChanged, Reason
from api.errors import InvalidTransition
from api.phrases import in_units
from fulfillments.models import MoveOutcome
from fulfillments.states import WORKABLE, State
from orders import erasing, services
from orders.addresses.addresses import fingerprint
from orders.addresses.units import with_units_for_address
from orders.admin.address_form import CorrectionForm, changed_parts
from orders.admin.route_again_form import RouteAgainForm
from orders.canceling import canceled_at_once, drop_refused, request_cancelation
from orders.models import Order, OrderLine
from orders.open_amounts import REFUSED_UNITS, total_open
from orders.processing_state import FINISHED, ProcessingState

SEEN_BY_ALL = "The suppliers and the retailer see the reason in their events."


def _hold(order: Order, by: Actor, answers: dict[str, object]) -> str:
    with order.change(by=by) as change:
        outcome = services.hold(change)
    if outcome is MoveOutcome.UNCHANGED:
        raise NothingChanged(f"Order {order.retailer_order_id} was already held.")
    return f"Order {order.retailer_order_id} is held."


def _release(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    with order.change(by=by) as change:
        outcome = services.release(change, undo=answers.get(UNDO, False))
    if outcome is MoveOutcome.UNCHANGED:
        raise NothingChanged(f"Order {order.retailer_order_id} was not held.")
    return f"Order {order.retailer_order_id} is released."


def correct_address(order: Order, by: Actor, answers: dict[str, object]) -> str:
    """Correct the order's address, or confirm the present address to its suppliers."""
    shown = answers["shown"]
    with order.change(by=by) as change:
        if shown and shown != fingerprint(order.shipping_address):
            raise InvalidTransition(
                "Another operator has corrected the address meanwhile, so nothing was changed. "
                "Check the new address, and correct it if it is still wrong."
            )
        changed = changed_parts(order, answers)
        if changed:
            services.correct_address(change, changed)
        elif not (answers["reason"] and services.release_address(change)):
            raise NothingChanged("The form has the same address; nothing was changed.")
    done = "was corrected" if changed else "was confirmed"
    return f"The address {done}; order {order.retailer_order_id} is {order.processing_state} now."


def _route_again(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    with order.change(by=by) as change:
        units = services.route_again(change, ask=answers.get("supplier"))
    if not units:
        raise InvalidTransition(_nothing_refused(order))
    left = _to_route(with_units_for_address(order.lines.filter(rejected__gt=0)))
    return (
        f"{in_units(units, 'was', 'were')} routed again, {left} of them found no supplier; "
        f"order {order.retailer_order_id} is {order.processing_state} now."
    )


def _drop_refused(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    with order.change(by=by) as change:
        units = drop_refused(change, reason=answers.get("reason", ""))
    if not units:
        raise InvalidTransition(_nothing_refused(order))
    name = f"order {order.retailer_order_id}"
    return f"{_refused_units(units, ' is,s are')} canceled; {name} is {order.processing_state} now."


def cancel(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    return cancel_units(order, by, answers.get("reason", ""))


def cancel_units(
    order: Order,
    by: Actor,
    reason: str,
    asked: Sequence[Mapping[str, object]] | None = None,
    cancel_id: str = "",
) -> str:
    """Cancel the requested units, or the whole order. Return the result as a message."""
    with order.change(by=by) as change:
        result = request_cancelation(change, asked=asked, reason=reason, cancel_id=cancel_id)
    if result.unchanged:
        raise NothingChanged(
            f"All of order {order.retailer_order_id} is already canceled or requested from its suppliers."
        )
    phrases = [
        in_units(result.canceled, "is canceled", "are canceled"),
        f"{result.requested} requested from their suppliers",
    ]
    if result.shipped:
        phrases.append(f"{in_units(result.shipped, 'is', 'are')} already shipped")
    return f"Order {order.retailer_order_id}: {', '.join(phrases)}."


def _erase(order: Order, by: Actor, answers: dict[str, object]) -> str:
    with order.change(by=by) as change:
        if erasing.erase(change) is MoveOutcome.UNCHANGED:
            raise NothingChanged(f"Order {order.retailer_order_id} was already erased.")
    return f"The personal data of order {order.retailer_order_id} is erased."


# --- Conditions and previews of the actions ---------------------------------------------------------


def _nothing_refused(order: Order) -> str:
    return f"Order {order.retailer_order_id} has no units that all suppliers refused."


def _finished(order: Order) -> str:
    return (
        f"Order {order.retailer_order_id} is {order.processing_state}."
        if order.processing_state in FINISHED
        else ""
    )


def _not_holdable(order: Order) -> str:
    if order.processing_state in FINISHED:
        return services.NOT_HELD
    return "The order is already held." if order.held else ""


def not_cancelable(order: Order) -> str:
    if order.processing_state in FINISHED:
        return f"The order is '{order.processing_state}' and nothing is left to cancel."
    if not _canceled_at_once(order) and not _to_request(order):
        return "The cancellation of all open units is already requested. Their suppliers have to answer."
    return ""


def _canceled_at_once(order: Order) -> int:
    return sum(line.unrouted for line in order.lines.all()) + canceled_at_once(order)


def _to_request(order: Order) -> Counter[str]:
    """Return the units that a cancellation would request, by the name of their supplier."""
    units: Counter[str] = Counter()
    for work in order.fulfillments.all():
        if not work.is_canceled_at_once:
            units[work.supplier.name] += sum(line.open - line.cancel_requested for line in work.lines.all())
    return +units


def _refused(order: Order) -> int:
    return sum(line.rejected for line in order.lines.all())


def _to_route(lines: Iterable[OrderLine]) -> int:
    """Return the number of refused units that need no other address. The lines have `for_address`."""
    return sum(line.rejected - line.for_address for line in lines)  # type: ignore[attr-defined]  # annotated


def _nothing_to_route(order: Order) -> str:
    why_not = _not_refused(order)
    if not why_not and not _to_route(order.lines.all()):
        return "The refused units wait for a right address. Correct the address."
    return why_not


def _refused_units(count: int, endings: str = "s") -> str:
    """Return `1 refused unit` or `2 refused units`. `endings` may add a verb: ` is,s are`."""
    return f"{count} refused unit{pluralize(count, endings)}"


def _not_refused(order: Order) -> str:
    in_exception = order.processing_state == ProcessingState.EXCEPTION
    return "" if in_exception and _refused(order) else "The order has no units that all suppliers refused."


def _effect_of_hold(order: Order) -> str:
    if any(work.state in WORKABLE for work in order.fulfillments.all()):
        return f"These suppliers cannot work on the order until it is released: {_suppliers(order)}."
    return "No supplier works on the order now. No supplier can work on it until it is released."


def _suppliers(order: Order) -> str:
    """Return the names of the suppliers that have work to do for the order."""
    names = {work.supplier.name for work in order.fulfillments.all() if work.state in WORKABLE}
    return ", ".join(sorted(names)) or "no supplier"


def _cancel_effect(order: Order) -> str:
    phrases = []
    if at_once := _canceled_at_once(order):
        phrases.append(in_units(at_once, "is canceled at once", "are canceled at once"))
    if asked := _to_request(order):
        names = ", ".join(sorted(asked))
        phrases.append(f"{in_units(asked.total(), 'is', 'are')} requested from {names}")
    if shipped := sum(line.shipped for line in order.lines.all()):
        phrases.append(f"{in_units(shipped, 'is', 'are')} already shipped")
    return f"{', '.join(phrases) or 'No unit is left to cancel'}."


def _address_effect(order: Order) -> str:
    waiting = [work for work in order.fulfillments.all() if work.state == State.WRONG_ADDRESS]
    refused = services.refused_for_address(order).total()
    again = f" {_refused_units(refused, ' is,s are')} routed again." if refused else ""
    if not waiting:
        return f"The suppliers get the new address for the open units.{again}"
    names = ", ".join(sorted({work.supplier.name for work in waiting}))
    waits, goes = pluralize(len(waiting), " that waits,s that wait"), pluralize(len(waiting), "goes,go")
    return f"{len(waiting)} fulfillment{waits} for the right address {goes} back to {names}.{again}"


ACTIONS = (
    AdminAction[Order](
        "correct-address",
        "Correct address",
        correct_address,
        _finished,
        _address_effect,
        form=CorrectionForm.of,
        help_text="Fulfillments that wait for the right address go back to their suppliers at once.",
        undo="Correct it again. Suppliers capture the fulfillments again with each address.",
    ),
    AdminAction[Order](
        "route-again",
        "Route order again",
        _route_again,
        _nothing_to_route,
        lambda order: f"The service looks for a supplier of {_refused_units(_to_route(order.lines.all()))}.",
        form=RouteAgainForm.of,
        help_text="Look again for a supplier of the refused units: stock may have arrived since.",
        undo="Cancel the fulfillment that a supplier gets.",
        bulk=True,
    ),
    AdminAction[Order](
        "drop-refused",
        "Cancel refused units",
        _drop_refused,
        _not_refused,
        lambda order: f"{_refused_units(_refused(order), ' is,s are')} canceled; the rest goes on.",
        help_text="Cancel only the units that all suppliers refused; the rest of the order goes on.",
        reason=Reason.REQUIRED,
        reason_help=SEEN_BY_ALL,
        shares_reason=True,
        danger=True,
        is_final=True,
        undo="Cannot be undone: the retailer would have to order again.",
        bulk=True,
        amounts=partial(total_open, units=REFUSED_UNITS),
    ),
    AdminAction[Order](
        "hold",
        "Hold order",
        _hold,
        _not_holdable,
        _effect_of_hold,
        help_text="Suppliers cannot capture, accept, ship or refuse the order until it is released. "
        "Cancellations can still be requested and answered.",
        reason=Reason.REQUIRED,
        acts_on_changed=True,
        undone_by="release",
        undo="Release the order.",
        bulk=True,
    ),
    AdminAction[Order](
        "release",
        "Release order",
        _release,
        lambda order: "" if order.held else "The order is not held.",
        lambda order: f"These suppliers can work on the order from now on: {_suppliers(order)}.",
        help_text="Suppliers can capture the order and work on it from now on.",
        reason=Reason.OPTIONAL,
        undone_by="hold",
        undo="Hold the order again. Suppliers' work in the meantime stays.",
        bulk=True,
    ),
    AdminAction[Order](
        "cancel",
        "Cancel order",
        cancel,
        not_cancelable,
        _cancel_effect,
        help_text="Same as a cancel request from the retailer: suppliers are asked to release their units, "
        "units without a supplier are canceled at once, and shipped units stay shipped.",
        reason=Reason.REQUIRED,
        reason_help=SEEN_BY_ALL,
        shares_reason=True,
        danger=True,
        is_final=True,
        undo="Refuse the cancellation for each supplier that has not answered. The rest cannot be undone.",
        bulk=True,
        amounts=total_open,
    ),
    AdminAction[Order](
        "erase",
        "Erase personal data",
        _erase,
        erasing.why_not,
        lambda order: f"These fields are erased, except the country: {erasing.ERASES}.",
        help_text="Use this if the consumer asks for the erasure. Quantities, prices and numbers stay.",
        reason=Reason.REQUIRED,
        danger=True,
        is_final=True,
        bulk=True,
    ),
)
