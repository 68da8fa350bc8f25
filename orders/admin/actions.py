"""What operators can do about an order; each is one call of its methods."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Sum

from accounts.actors import Actor
from accounts.operating.operator_actions import AdminAction, NothingChanged, Reason
from api.errors import InvalidTransition
from fulfillments.models import Outcome
from fulfillments.states import WORKABLE, State
from orders import erasing, services
from orders.addresses.addresses import fingerprint, unknown_country
from orders.addresses.countries import country_code
from orders.canceling import drop_refused, request_cancelation
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
    order: Order

    # What was corrected was this address: another operator may have been faster. Who sends the form
    # without having opened it, as a script does, has looked at none, and corrects what is there.
    shown = forms.CharField(widget=forms.HiddenInput, required=False)
    reason = forms.CharField(
        max_length=500,
        required=False,
        help_text="Owed where the address is right as it is, and suppliers shall have it once more.",
    )

    @classmethod
    def of(cls, order: Order, sent: dict[str, Any] | None) -> AddressForm:
        address = order.shipping_address
        form = cls(sent, initial={**address, "shown": fingerprint(address)})
        form.order = order
        return form

    def clean(self) -> dict[str, Any]:
        """What its supplier has refused does not go back unless it is mended, or somebody says why."""
        data = super().clean() or {}
        unchanged = not self.errors and not data["reason"] and not changed_parts(self.order, data)
        waits = any(each.state == State.WRONG_ADDRESS for each in self.order.fulfillments.all())
        if unchanged and waits:
            message = "The address is what the supplier has refused. Correct it, or say why it is right."
            self.add_error("reason", message)
        return data

    def clean_country(self) -> str:
        country: str = self.cleaned_data["country"]
        code = country_code(country)
        if code is None:
            raise forms.ValidationError(unknown_country(country))
        return code


PARTS = [name for name in AddressForm.base_fields if name not in ("shown", "reason")]
SEEN_BY_ALL = "Suppliers and the retailer see it in the events."


def changed_parts(order: Order, answers: dict[str, Any]) -> dict[str, str]:
    """The parts of the address that are not what the order has."""
    known = order.shipping_address
    return {part: answers[part] for part in PARTS if part in answers and answers[part] != known.get(part, "")}


def _hold(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    with order.change(by=by) as change:
        outcome = services.hold(change)
    if outcome is Outcome.UNCHANGED:
        raise NothingChanged(f"Order {order.retailer_order_id} was held already.")
    return f"Order {order.retailer_order_id} is held."


def _release(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    with order.change(by=by) as change:
        outcome = services.release(change)
    if outcome is Outcome.UNCHANGED:
        raise NothingChanged(f"Order {order.retailer_order_id} was not held.")
    return f"Order {order.retailer_order_id} is released."


def correct_address(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    """Give the order the address of the form, or its suppliers once more the one that it has."""
    shown = answers["shown"]
    with order.change(by=by) as change:
        if shown and shown != fingerprint(order.shipping_address):
            raise InvalidTransition(
                "The address was corrected by somebody else meanwhile, and nothing was changed now. "
                "Look at it as it is, and correct what is still wrong."
            )
        changed = changed_parts(order, answers)
        if changed:
            services.correct_address(change, changed)
        elif not (answers["reason"] and services.release_address(change)):
            raise NothingChanged("The address is as it was; nothing was changed.")
    done = "was corrected" if changed else "is right as it is"
    return f"The address {done}; order {order.retailer_order_id} is {order.processing_state} now."


def _route_again(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    with order.change(by=by) as change:
        pieces = services.route_again(change)
    if not pieces:
        raise InvalidTransition(_nothing_refused(order))
    left = order.lines.aggregate(left=Sum("rejected"))["left"]
    return (
        f"{pieces} pieces were routed again, {left} of them found no supplier; "
        f"order {order.retailer_order_id} is {order.processing_state} now."
    )


def _drop_refused(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    with order.change(by=by) as change:
        pieces = drop_refused(change, reason=answers.get("reason", ""))
    if not pieces:
        raise InvalidTransition(_nothing_refused(order))
    return (
        f"What nobody can fill is canceled; order {order.retailer_order_id} is {order.processing_state} now."
    )


def _cancel(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    with order.change(by=by) as change:
        result = request_cancelation(change, reason=answers.get("reason", ""))
    if result.unchanged:
        raise NothingChanged(f"All of order {order.retailer_order_id} is asked back or canceled already.")
    phrases = [
        f"{result.canceled} pieces are canceled",
        f"{result.requested} asked back from their suppliers",
    ]
    if result.shipped:
        phrases.append(f"{result.shipped} have shipped and stay")
    return f"Order {order.retailer_order_id}: {', '.join(phrases)}."


def _erase(order: Order, by: Actor, answers: dict[str, Any]) -> str:
    with order.change(by=by) as change:
        if erasing.erase(change) is Outcome.UNCHANGED:
            raise NothingChanged(f"Order {order.retailer_order_id} was erased already.")
    return f"The personal data of order {order.retailer_order_id} is erased."


# --- Whether it can be done, and what it would do ---------------------------------------------------


def _nothing_refused(order: Order) -> str:
    return f"Nothing of order {order.retailer_order_id} was refused by all."


def _finished(order: Order) -> str:
    return (
        f"Order {order.retailer_order_id} is {order.processing_state}."
        if order.processing_state in FINISHED
        else ""
    )


def _not_holdable(order: Order) -> str:
    if order.processing_state in FINISHED:
        return services.NOT_HELD
    return "It is held already." if order.held else ""


def _not_cancelable(order: Order) -> str:
    if order.processing_state in FINISHED:
        return f"The order is '{order.processing_state}' and nothing of it is left to cancel."
    return ""


def _refused(order: Order) -> int:
    return sum(line.rejected for line in order.lines.all())


def _not_refused(order: Order) -> str:
    in_exception = order.processing_state == ProcessingState.EXCEPTION
    return "" if in_exception and _refused(order) else "Nothing of it was refused by all."


def _with(order: Order) -> str:
    """Who works on it."""
    names = {each.supplier.name for each in order.fulfillments.all() if each.state in WORKABLE}
    return ", ".join(sorted(names)) or "nobody"


def _cancel_effect(order: Order) -> str:
    lines = order.lines.all()
    asked = sum(line.open for line in lines)
    phrases = [f"{sum(line.unplaced for line in lines)} pieces are canceled at once"]
    if asked:
        phrases.append(f"{asked} are asked back from their suppliers ({_with(order)})")
    if shipped := sum(line.shipped for line in lines):
        phrases.append(f"{shipped} have shipped and stay")
    return f"{', '.join(phrases)}."


def _address_effect(order: Order) -> str:
    waiting = [each for each in order.fulfillments.all() if each.state == State.WRONG_ADDRESS]
    if not waiting:
        return "Its suppliers get the new address with what is still open."
    names = ", ".join(sorted({each.supplier.name for each in waiting}))
    return f"{len(waiting)} fulfillments that wait for a right address go back to {names}."


ACTIONS = (
    AdminAction[Order](
        "correct-address",
        "Correct address",
        correct_address,
        _finished,
        _address_effect,
        form=AddressForm.of,
        help_text="Fulfillments that waited for a right address are released to their suppliers at once.",
        undo="Correct it once more; what a supplier has captured with it, it has.",
    ),
    AdminAction[Order](
        "route-again",
        "Route again",
        _route_again,
        _not_refused,
        lambda order: f"A supplier is looked for once more, for {_refused(order)} refused pieces.",
        help_text="Look once more for a supplier of what was refused: stock may have come in since.",
        undo="What a supplier gets can be asked back from it.",
        bulk=True,
    ),
    AdminAction[Order](
        "drop-refused",
        "Cancel what nobody fills",
        _drop_refused,
        _not_refused,
        lambda order: f"{_refused(order)} refused pieces are canceled; the rest goes on.",
        help_text="Only what was refused and has no other supplier is canceled; the rest goes on.",
        reason=Reason.REQUIRED,
        reason_help=SEEN_BY_ALL,
        shares_reason=True,
        danger=True,
        undo="It cannot be undone: the retailer would order again.",
        bulk=True,
    ),
    AdminAction[Order](
        "hold",
        "Hold",
        _hold,
        _not_holdable,
        lambda order: f"Suppliers cannot work on it until it is released: {_with(order)}.",
        help_text="Suppliers do not capture it, and cannot accept, ship or refuse it, until it is released. "
        "A cancellation can be asked for and answered.",
        reason=Reason.REQUIRED,
        undone_by="release",
        undo="Release.",
        bulk=True,
    ),
    AdminAction[Order](
        "release",
        "Release",
        _release,
        lambda order: "" if order.held else "It is not held.",
        lambda order: f"Suppliers can work on it from now on: {_with(order)}.",
        help_text="Suppliers capture it and work on it from now on.",
        reason=Reason.OPTIONAL,
        undone_by="hold",
        undo="Hold; what a supplier has done meanwhile, it has.",
        bulk=True,
    ),
    AdminAction[Order](
        "cancel",
        "Cancel order",
        _cancel,
        _not_cancelable,
        _cancel_effect,
        help_text="As if the retailer had: suppliers that hold a part of it are asked to let it go; what no "
        "supplier holds is canceled at once; what has shipped stays.",
        reason=Reason.REQUIRED,
        reason_help=SEEN_BY_ALL,
        shares_reason=True,
        danger=True,
        undo="Refuse cancellation at each supplier that has not answered yet; the rest cannot be undone.",
        bulk=True,
    ),
    AdminAction[Order](
        "erase",
        "Erase personal data",
        _erase,
        erasing.why_not,
        lambda order: "Addresses (but for the country), gift message and notes are replaced by 'erased'.",
        help_text="For a consumer who asks for it. Pieces, prices and numbers stay.",
        reason=Reason.REQUIRED,
        danger=True,
        bulk=True,
    ),
)
