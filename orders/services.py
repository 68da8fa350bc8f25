"""Changes that operators make to an order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from api.errors import InvalidTransition
from fulfillments.effects import Effects
from fulfillments.models import MoveOutcome, Rejection, RejectionQuerySet
from fulfillments.models.kept_parcel import ship_kept_parcels
from fulfillments.services import (
    let_capture_again,
    lock_unfinished,
    restart_time_limits,
    tell_suppliers,
)
from fulfillments.states import State
from orders.addresses.addresses import has_unknown_country, normalised
from orders.addresses.units import with_units_for_address
from orders.change import OrderChange
from orders.models import Order
from orders.processing_state import FINISHED

NOT_HELD = "A completed or canceled order cannot be held: no work is left."


def hold(change: OrderChange[Order]) -> MoveOutcome:
    """Stop the order's suppliers from capturing, accepting, shipping and rejecting.

    Raises InvalidTransition for a finished order.
    """
    if change.order.processing_state in FINISHED:
        raise InvalidTransition(NOT_HELD)
    outcome = _set_held(change, held=True, event="order.held")
    if outcome is MoveOutcome.DONE:
        tell_suppliers(change, lock_unfinished(change), "fulfillment.held")
    return outcome


def release(change: OrderChange[Order], *, undo: bool = False) -> MoveOutcome:
    """Let the suppliers work on the order again, with new time limits.

    With `undo`, suppliers keep the time limits that they had before the hold.
    """
    outcome = _set_held(change, held=False, event="order.released")
    if outcome is MoveOutcome.DONE:
        unfinished = lock_unfinished(change)
        if not undo:
            restart_time_limits(change, unfinished)
        tell_suppliers(change, unfinished, "fulfillment.released")
        for fulfillment in unfinished:
            ship_kept_parcels(fulfillment, change)
    return outcome


def _set_held(change: OrderChange[Order], *, held: bool, event: str) -> MoveOutcome:
    order = change.order
    if order.held == held:
        return MoveOutcome.UNCHANGED
    order.held = held
    order.save(update_fields=["held"])
    change.record(event)
    return MoveOutcome.DONE


def correct_address(change: OrderChange[Order], address: Mapping[str, str]) -> None:
    """Replace the shipping address. Release fulfillments and refused units that waited for an address.

    The suppliers of all open fulfillments get the new address. Captured fulfillments must be captured again.
    """
    order = change.order
    order.shipping_address = normalised({**order.shipping_address, **address})
    order.has_unknown_country = has_unknown_country(order.shipping_address)
    order.save(update_fields=["shipping_address", "has_unknown_country"])
    effects = Effects(rejected=refused_for_address(order))
    data = {"changed": sorted(address)}
    change.record("order.address_corrected", effects=effects, data=data)
    _refusals_for_address(order).end()
    unfinished = lock_unfinished(change, before_captures=True)
    let_capture_again(unfinished)
    tell_suppliers(change, unfinished, "fulfillment.address_corrected", data)
    _release_to_suppliers(change)


def release_address(change: OrderChange[Order]) -> bool:
    """Release all units that wait for an address, without a correction. Return whether any units waited."""
    refused = refused_for_address(change.order)
    if refused:
        effects = Effects(rejected=refused)
        change.record("order.routed_again", effects=effects, data={"quantity": refused.total()})
    _refusals_for_address(change.order).end()
    return _release_to_suppliers(change) or bool(refused)


def _release_to_suppliers(change: OrderChange[Order]) -> bool:
    waiting = [*change.order.fulfillments.filter(state=State.WRONG_ADDRESS).order_by("pk")]
    for fulfillment in waiting:
        fulfillment.correct_address(change)
    return bool(waiting)


def _refusals_for_address(order: Order) -> RejectionQuerySet:
    return Rejection.objects.filter(fulfillment__order=order, reason=State.WRONG_ADDRESS, ended_at=None)


def refused_for_address(order: Order) -> Counter[int]:
    """Return, for each line, the number of units that were rejected because of the address."""
    lines = with_units_for_address(order.lines.filter(rejected__gt=0)).filter(for_address__gt=0)
    return Counter(dict(lines.values_list("pk", "for_address")))


def route_again(change: OrderChange[Order], *, ask: int | None = None) -> int:
    """Route the rejected units again, and return their number. Units that wait for an address stay rejected.

    Routing may choose the supplier with the id `ask`, although this supplier has rejected units of the order,
    or has lost units in a reassignment.
    """
    rejected = Counter({line.pk: line.rejected for line in change.order.lines.filter(rejected__gt=0)})
    refused = rejected - refused_for_address(change.order)
    units = refused.total()
    if units:
        if ask is not None:
            own = change.order.fulfillments.filter(supplier_id=ask)
            Rejection.objects.filter(fulfillment__in=own).exclude(reason=State.WRONG_ADDRESS).end()
        data = {"quantity": units} | ({"asked_again": ask} if ask else {})
        change.record("order.routed_again", effects=Effects(rejected=refused), data=data)
    return units
