"""The admin action that corrects an order's address from the page of a fulfillment."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.actors import Actor
from accounts.operating.operator_actions import AdminAction, Reason
from fulfillments.admin.actions import action_of
from fulfillments.change import Change
from fulfillments.models import Fulfillment
from fulfillments.states import CORRECT_ADDRESS
from orders.admin.actions import correct_address
from orders.admin.address_form import CorrectionForm


def _form(fulfillment: Fulfillment, sent: dict[str, object] | None) -> forms.Form:
    return CorrectionForm.of(fulfillment.order, sent)


def _confirm(fulfillment: Fulfillment, change: Change, answers: dict[str, object]) -> str:
    fulfillment.correct_address(change)
    return f"Fulfillment {fulfillment.pk} was released; {fulfillment.supplier} captures it again."


def _effect(fulfillment: Fulfillment) -> str:
    address = fulfillment.order.shipping_address
    parts = ("first_name", "last_name", "address1", "address2", "zip_code", "city", "state", "country")
    shown = " ".join(str(address[part]) for part in parts if address.get(part))
    return (
        f"{fulfillment.supplier} has refused this address, and captures the fulfillment again after you have "
        f"corrected the address, or given the reason why it is right: {shown}"
    )


CONFIRM = action_of(
    CORRECT_ADDRESS,
    "Correct address",
    _confirm,
    _effect,
    form=_form,
    list_label="Confirm address",
    help_text="The form of one fulfillment has fields to correct the address. An action on several "
    "fulfillments confirms their present addresses.",
    reason=Reason.REQUIRED,
    reason_help="Why the addresses are right.",
    undo="Reject the fulfillment for its wrong address.",
    bulk=True,
)


def _release(fulfillment: Fulfillment, by: Actor, answers: dict[str, object]) -> str:
    """Correct the order's address if the page's form was sent. From the list, confirm the present address."""
    if "address1" in answers:
        return correct_address(fulfillment.order, by, answers)
    return CONFIRM.run(fulfillment, by, answers)


RELEASE: AdminAction[Any] = AdminAction(**{**vars(CONFIRM), "run": _release})
