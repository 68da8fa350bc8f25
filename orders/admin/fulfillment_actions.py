"""What operators do with a fulfillment that concerns its order, too: its address."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.actors import Actor
from accounts.operating.operator_actions import AdminAction, Reason
from fulfillments.admin.actions import ACTIONS, action_of
from fulfillments.admin.admin import FulfillmentAdmin
from fulfillments.change import Change
from fulfillments.models import Fulfillment
from fulfillments.states import CORRECT_ADDRESS
from orders.admin.actions import AddressForm, correct_address


def _form(fulfillment: Fulfillment, sent: dict[str, Any] | None) -> forms.Form:
    return AddressForm.of(fulfillment.order, sent)


def _as_it_is(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    fulfillment.correct_address(change)
    return f"Fulfillment {fulfillment.pk} was released; {fulfillment.supplier} captures it again."


def _effect(fulfillment: Fulfillment) -> str:
    address = fulfillment.order.shipping_address
    parts = ("first_name", "last_name", "address1", "address2", "zip_code", "city", "state", "country")
    shown = " ".join(str(address[part]) for part in parts if address.get(part))
    return (
        f"{fulfillment.supplier} has refused this address, and captures it again once you have corrected it, "
        f"or said why it is right: {shown}"
    )


AS_IT_IS = action_of(
    CORRECT_ADDRESS,
    "Correct address",
    _as_it_is,
    _effect,
    form=_form,
    list_label="Address is right",
    help_text="On a fulfillment's own page its address can be corrected; from a list it stays as it is.",
    reason=Reason.REQUIRED,
    reason_help="Why the addresses are right as they are.",
    undo="Refuse: wrong address.",
    bulk=True,
)


def _release(fulfillment: Fulfillment, by: Actor, answers: dict[str, Any]) -> str:
    """With the form of its page the order's address is corrected; from the list it stays as it is."""
    if "address1" in answers:
        return correct_address(fulfillment.order, by, answers)
    return AS_IT_IS.run(fulfillment, by, answers)


RELEASE: AdminAction[Any] = AdminAction(**{**vars(AS_IT_IS), "run": _release})


class FulfillmentOfOrderAdmin(FulfillmentAdmin):
    """A fulfillment's page, with what also changes its order."""

    record_actions = (RELEASE, *ACTIONS)
    acts_with = (*FulfillmentAdmin.acts_with, "order__fulfillments__supplier")
