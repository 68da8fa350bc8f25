"""What operators can do about an order; each is one call of its methods."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Sum

from accounts.actors import Actor
from accounts.deeds import Deed
from api.errors import InvalidTransition
from fulfillments.moving import Outcome
from orders.models import Order
from orders.settling import ProcessingState

DONE = (ProcessingState.COMPLETED, ProcessingState.CANCELED)


class AddressForm(forms.Form):
    """A shipping address; what is required is what an order push requires."""

    first_name = forms.CharField(max_length=200, required=False)
    last_name = forms.CharField(max_length=200, required=False)
    company_name = forms.CharField(max_length=200, required=False)
    address1 = forms.CharField(max_length=200, label="Address line 1")
    address2 = forms.CharField(max_length=200, required=False, label="Address line 2")
    zip_code = forms.CharField(max_length=200, required=False, label="ZIP code")
    city = forms.CharField(max_length=200, required=False)
    state = forms.CharField(max_length=200, required=False)
    country = forms.CharField(max_length=200)
    phone_number = forms.CharField(max_length=200, required=False)
    email = forms.CharField(max_length=200, required=False)


class CancelForm(forms.Form):
    reason = forms.CharField(
        max_length=500, required=False, help_text="Suppliers and the retailer see it in the events."
    )


def _hold(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    held = order.hold(by=by) is Outcome.DONE
    return f"Order {order.retailer_order_id} {'is held' if held else 'was held already'}."


def _release(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    released = order.release(by=by) is Outcome.DONE
    return f"Order {order.retailer_order_id} {'is released' if released else 'was not held'}."


def _correct_address(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    changed = {
        part: value for part, value in answers.items() if value != order.shipping_address.get(part, "")
    }
    order.correct_address(changed, by=by)
    return f"The address was corrected; order {order.retailer_order_id} is {order.processing_state} now."


def _route_again(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    pieces = order.route_again(by=by)
    if not pieces:
        raise InvalidTransition(f"Nothing of order {order.retailer_order_id} was refused by all.")
    left = order.lines.aggregate(left=Sum("rejected"))["left"]
    return (
        f"{pieces} pieces were routed again, {left} of them found no supplier; "
        f"order {order.retailer_order_id} is {order.processing_state} now."
    )


def _drop_refused(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    refused = {line.pk: line.rejected for line in order.lines.filter(rejected__gt=0)}
    if not refused:
        raise InvalidTransition(f"Nothing of order {order.retailer_order_id} was refused by all.")
    asked = [{"id": line, "quantity": quantity} for line, quantity in refused.items()]
    order.request_cancelation(by=by, asked=asked, reason=answers.get("reason", ""))
    return (
        f"What nobody can fill is canceled; order {order.retailer_order_id} is {order.processing_state} now."
    )


def _cancel(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    result = order.request_cancelation(by=by, reason=answers.get("reason", ""))
    if result.unchanged:
        return f"Order {order.retailer_order_id} is {order.processing_state} already."
    told = [f"{result.canceled} pieces are canceled", f"{result.requested} asked back from their suppliers"]
    if result.shipped:
        told.append(f"{result.shipped} have shipped and stay")
    return f"Order {order.retailer_order_id}: {', '.join(told)}."


def _open(order: Order) -> bool:
    return order.processing_state not in DONE


def _refused(order: Order) -> bool:
    return order.processing_state == ProcessingState.EXCEPTION and order.lines.filter(rejected__gt=0).exists()


DEEDS = (
    Deed[Order](
        "correct-address",
        "Correct address",
        _correct_address,
        _open,
        form=lambda order, sent: AddressForm(sent, initial=order.shipping_address),
        advice="Fulfillments that waited for a right address are released to their suppliers at once.",
    ),
    Deed[Order](
        "route-again",
        "Route again",
        _route_again,
        _refused,
        advice="Look once more for a supplier of what was refused: stock may have come in since.",
        bulk=True,
    ),
    Deed[Order](
        "drop-refused",
        "Cancel what nobody fills",
        _drop_refused,
        _refused,
        form=lambda order, sent: CancelForm(sent),
        advice="Only what was refused and has no other supplier is canceled; the rest goes on.",
        grave=True,
    ),
    Deed[Order](
        "hold",
        "Hold",
        _hold,
        lambda order: _open(order) and not order.held,
        advice="Suppliers do not capture it until it is released.",
        bulk=True,
    ),
    Deed[Order](
        "release",
        "Release",
        _release,
        lambda order: order.held,
        advice="Suppliers capture it from now on.",
        bulk=True,
    ),
    Deed[Order](
        "cancel",
        "Cancel order",
        _cancel,
        _open,
        form=lambda order, sent: CancelForm(sent),
        advice="As if the retailer had: suppliers that hold a part of it are asked to let it go; what no "
        "supplier holds is canceled at once; what has shipped stays.",
        grave=True,
    ),
)
