"""A retailer's change of its own order: the shipping address and `ship_until` (contract 17)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from rest_framework.exceptions import ErrorDetail, ValidationError

from api.bodies import Body, fields_of
from api.errors import InvalidTransition
from api.fields import Date
from fulfillments.models import Capture, MoveOutcome
from fulfillments.services import lock_unfinished, move_deadlines, tell_suppliers
from orders.addresses.addresses import has_unknown_country, unknown_country
from orders.change import OrderChange
from orders.models import Order
from orders.processing_state import ProcessingState
from orders.push_body import (
    AddressBody,
    OrderBody,
    as_address,
    ignored_fields,
    pushed_address,
    unknown_parts,
)
from orders.services import correct_address

CHANGEABLE = ("shipping_address", "ship_until")


class ChangeOrderBody(Body):
    """The fields of an order that its retailer can change. A new address replaces the former address."""

    shipping_address = AddressBody(required=False)
    ship_until = Date(required=False, allow_null=True)

    def to_internal_value(self, data: object) -> dict[str, object]:
        if isinstance(data, dict):
            self._refuse_others(data)
            if "shipping_address" in data:
                data = data | {
                    "shipping_address": as_address("shipping_address", data["shipping_address"]) or {}
                }
        body: dict[str, Any] = super().to_internal_value(data)
        if not body:
            message = "Needs shipping_address, ship_until or both."
            raise ValidationError({"shipping_address": [ErrorDetail(message, code="required")]})
        if "shipping_address" in body:
            body["shipping_address"] = pushed_address(body["shipping_address"])
            if has_unknown_country(body["shipping_address"]):
                message = unknown_country(body["shipping_address"]["country"])
                country = [ErrorDetail(message, code="unknown_country")]
                raise ValidationError({"shipping_address": {"country": country}})
        return body

    def warnings(self, data: Mapping[str, object]) -> list[str]:
        """Return a warning for each ignored field, such as a misspelled part of the address."""
        others = [name for name in data if name not in CHANGEABLE]
        return ignored_fields([*others, *unknown_parts("shipping_address", data)])

    def _refuse_others(self, data: Mapping[str, object]) -> None:
        """Refuse fields of a push that a change may not contain, so that no value is ignored silently."""
        others = [name for name in data if name in fields_of(OrderBody) and name not in CHANGEABLE]
        if others:
            message = "Cannot be changed. Cancel the order, and push it again."
            raise ValidationError({name: [ErrorDetail(message, code="unknown_field")] for name in others})


def change_order(change: OrderChange[Order], content: Mapping[str, Any]) -> MoveOutcome:
    """Change the address and the deadline of an order.

    A new address has the same effects as an operator's correction. Equal values change nothing.

    Raises InvalidTransition if the order is canceled, or if units were shipped. Raises InvalidTransition also
    if a supplier has captured the order, unless the order is in exception.
    """
    order = change.order
    known, given = order.shipping_address, content.get("shipping_address", {})
    address = {part: value for part, value in given.items() if value != known.get(part, "")}
    deadline: date | None = content.get("ship_until", order.ship_until)
    if not address and deadline == order.ship_until:
        return MoveOutcome.UNCHANGED
    _check_changeable(change)
    if deadline != order.ship_until:
        _change_deadline(change, deadline)
    if address:
        correct_address(change, address)
    return MoveOutcome.DONE


def why_not_changeable(order: Order) -> str:
    """Return the reason why the retailer cannot change the order, or an empty text."""
    if order.processing_state == ProcessingState.CANCELED or order.lines.filter(shipped__gt=0).exists():
        return f"The order is '{order.processing_state}': it can be changed only before the first shipment."
    if order.processing_state == ProcessingState.EXCEPTION:
        return ""
    if Capture.objects.filter(fulfillment__order=order).exists():
        return (
            f"A supplier has captured the order, which is '{order.processing_state}', so it can change only "
            f"in '{ProcessingState.EXCEPTION}'. Cancel it, and push it again."
        )
    return ""


def _check_changeable(change: OrderChange[Order]) -> None:
    lock_unfinished(change, before_captures=True)
    if why_not := why_not_changeable(change.order):
        raise InvalidTransition(why_not)


def _change_deadline(change: OrderChange[Order], deadline: date | None) -> None:
    order = change.order
    changed = {"ship_until": {"from": _text(order.ship_until), "to": _text(deadline)}}
    order.ship_until = deadline
    order.save(update_fields=["ship_until"])
    change.record("order.ship_until_changed", data={"changed": changed})
    unfinished = lock_unfinished(change)
    move_deadlines(change, unfinished)
    tell_suppliers(change, unfinished, "fulfillment.ship_until_changed", {"changed": changed})


def _text(day: date | None) -> str | None:
    return day.isoformat() if day is not None else None
