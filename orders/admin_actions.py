"""What operators can do about an order; each is one call of its methods."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Sum

from accounts.actors import Actor
from accounts.admin_actions import AdminAction
from api.errors import InvalidTransition
from fulfillments.models import Outcome
from orders import services
from orders.addresses import fingerprint, unknown_country
from orders.canceling import drop_refused, request_cancelation
from orders.countries import country_code
from orders.models import Order
from orders.processing_state import FINISHED, ProcessingState


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
    # What was corrected was this address: another operator may have been faster. Who sends the form
    # without having opened it, as a script does, has looked at none, and corrects what is there.
    shown = forms.CharField(widget=forms.HiddenInput, required=False)

    @classmethod
    def of(cls, order: Order, sent: dict[str, Any] | None) -> AddressForm:
        address = order.shipping_address
        return cls(sent, initial={**address, "shown": fingerprint(address)})

    def clean_country(self) -> str:
        country: str = self.cleaned_data["country"]
        code = country_code(country)
        if code is None:
            raise forms.ValidationError(unknown_country(country))
        return code


class CancelForm(forms.Form):
    reason = forms.CharField(
        max_length=500, required=False, help_text="Suppliers and the retailer see it in the events."
    )


def _hold(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    with order.change(by=by) as change:
        held = services.hold(change) is Outcome.DONE
    return f"Order {order.retailer_order_id} {'is held' if held else 'was held already'}."


def _release(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    with order.change(by=by) as change:
        released = services.release(change) is Outcome.DONE
    return f"Order {order.retailer_order_id} {'is released' if released else 'was not held'}."


def _correct_address(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    shown = answers.pop("shown")
    with order.change(by=by) as change:
        known = order.shipping_address
        if shown and shown != fingerprint(known):
            raise InvalidTransition(
                "The address was corrected by somebody else meanwhile, and nothing was changed now. "
                "Look at it as it is, and correct what is still wrong."
            )
        changed = {part: value for part, value in answers.items() if value != known.get(part, "")}
        services.correct_address(change, changed)
    return f"The address was corrected; order {order.retailer_order_id} is {order.processing_state} now."


def _route_again(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    with order.change(by=by) as change:
        pieces = services.route_again(change)
    if not pieces:
        raise InvalidTransition(f"Nothing of order {order.retailer_order_id} was refused by all.")
    left = order.lines.aggregate(left=Sum("rejected"))["left"]
    return (
        f"{pieces} pieces were routed again, {left} of them found no supplier; "
        f"order {order.retailer_order_id} is {order.processing_state} now."
    )


def _drop_refused(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    with order.change(by=by) as change:
        pieces = drop_refused(change, reason=answers.get("reason", ""))
    if not pieces:
        raise InvalidTransition(f"Nothing of order {order.retailer_order_id} was refused by all.")
    return (
        f"What nobody can fill is canceled; order {order.retailer_order_id} is {order.processing_state} now."
    )


def _cancel(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    with order.change(by=by) as change:
        result = request_cancelation(change, reason=answers.get("reason", ""))
    if result.unchanged:
        return f"Order {order.retailer_order_id} is {order.processing_state} already."
    phrases = [
        f"{result.canceled} pieces are canceled",
        f"{result.requested} asked back from their suppliers",
    ]
    if result.shipped:
        phrases.append(f"{result.shipped} have shipped and stay")
    return f"Order {order.retailer_order_id}: {', '.join(phrases)}."


def _open(order: Order) -> bool:
    return order.processing_state not in FINISHED


def _refused(order: Order) -> bool:
    return order.processing_state == ProcessingState.EXCEPTION and order.lines.filter(rejected__gt=0).exists()


ACTIONS = (
    AdminAction[Order](
        "correct-address",
        "Correct address",
        _correct_address,
        _open,
        form=AddressForm.of,
        help_text="Fulfillments that waited for a right address are released to their suppliers at once.",
    ),
    AdminAction[Order](
        "route-again",
        "Route again",
        _route_again,
        _refused,
        help_text="Look once more for a supplier of what was refused: stock may have come in since.",
        bulk=True,
    ),
    AdminAction[Order](
        "drop-refused",
        "Cancel what nobody fills",
        _drop_refused,
        _refused,
        form=lambda order, sent: CancelForm(sent),
        help_text="Only what was refused and has no other supplier is canceled; the rest goes on.",
        needs_confirmation=True,
    ),
    AdminAction[Order](
        "hold",
        "Hold",
        _hold,
        lambda order: _open(order) and not order.held,
        help_text="Suppliers do not capture it, and cannot accept, ship or refuse it, until it is released. "
        "A cancellation can be asked for and answered.",
        bulk=True,
    ),
    AdminAction[Order](
        "release",
        "Release",
        _release,
        lambda order: order.held,
        help_text="Suppliers capture it and work on it from now on.",
        bulk=True,
    ),
    AdminAction[Order](
        "cancel",
        "Cancel order",
        _cancel,
        _open,
        form=lambda order, sent: CancelForm(sent),
        help_text="As if the retailer had: suppliers that hold a part of it are asked to let it go; what no "
        "supplier holds is canceled at once; what has shipped stays.",
        needs_confirmation=True,
    ),
)
