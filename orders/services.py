"""Changes that operators make to an order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from api.errors import InvalidTransition
from fulfillments.effects import Effects
from fulfillments.models import FulfillmentLine, MoveOutcome, Rejection
from fulfillments.services import restart_time_limits
from fulfillments.states import State
from orders.addresses.addresses import has_unknown_country, normalised
from orders.change import OrderChange
from orders.models import Order
from orders.processing_state import FINISHED

NOT_HELD = "A completed or canceled order cannot be held: no work is left."


def hold(change: OrderChange[Order]) -> MoveOutcome:
    """Stop the order's suppliers from capturing, accepting, shipping and refusing.

    Raises InvalidTransition for a finished order.
    """
    if change.order.processing_state in FINISHED:
        raise InvalidTransition(NOT_HELD)
    return _set_held(change, held=True, event="order.held")


def release(change: OrderChange[Order]) -> MoveOutcome:
    """Let the order's suppliers work on it again, with new time limits."""
    outcome = _set_held(change, held=False, event="order.released")
    if outcome is MoveOutcome.DONE:
        restart_time_limits(change)
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
    """Replace the shipping address, and release the fulfillments and refused units that waited for it."""
    order = change.order
    order.shipping_address = normalised({**order.shipping_address, **address})
    order.has_unknown_country = has_unknown_country(order.shipping_address)
    order.save(update_fields=["shipping_address", "has_unknown_country"])
    effects = Effects(rejected=_refused_for_address(order))
    change.record("order.address_corrected", effects=effects, data={"changed": sorted(address)})
    _release_to_suppliers(change)


def release_address(change: OrderChange[Order]) -> bool:
    """Confirm the present address to the suppliers; return whether anything waited for it."""
    refused = _refused_for_address(change.order)
    if refused:
        effects = Effects(rejected=refused)
        change.record("order.routed_again", effects=effects, data={"quantity": refused.total()})
    return _release_to_suppliers(change) or bool(refused)


def _release_to_suppliers(change: OrderChange[Order]) -> bool:
    waiting = [*change.order.fulfillments.filter(state=State.WRONG_ADDRESS).order_by("pk")]
    for fulfillment in waiting:
        fulfillment.correct_address(change)
    return bool(waiting)


def _refused_for_address(order: Order) -> Counter[int]:
    """Return the unrouted units of each line that were refused only because of the address."""
    refused = {line.pk: line.rejected for line in order.lines.filter(rejected__gt=0)}
    rejections = Rejection.objects.filter(fulfillment__order=order, reason=State.WRONG_ADDRESS)
    lines = FulfillmentLine.objects.filter(order_line__in=refused)
    order_lines, units = dict(lines.values_list("pk", "order_line_id")), Counter[int]()
    for items in rejections.values_list("items", flat=True):
        for item in items:
            if item["line"] in order_lines:
                units[order_lines[item["line"]]] += item["quantity"]
    return Counter({line: min(count, refused[line]) for line, count in units.items()})


def route_again(change: OrderChange[Order]) -> int:
    """Route the refused units again; return how many there are."""
    refused = Counter({line.pk: line.rejected for line in change.order.lines.filter(rejected__gt=0)})
    units = refused.total()
    if units:
        change.record("order.routed_again", effects=Effects(rejected=refused), data={"quantity": units})
    return units
