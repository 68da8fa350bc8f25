"""What operators can do with a fulfillment: the moves that the table of states allows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms

from accounts.actors import Actor, ActorKind
from accounts.deeds import Deed
from fulfillments import states
from fulfillments.models import Fulfillment
from fulfillments.moving import Outcome
from fulfillments.states import Move, State


class AcceptForm(forms.Form):
    tracking_number = forms.CharField(max_length=100, required=False, help_text="If it is known already.")


class ShipForm(forms.Form):
    tracking_number = forms.CharField(max_length=100, help_text="One parcel; all that is open goes with it.")
    carrier = forms.CharField(max_length=100, required=False)


class ReasonForm(forms.Form):
    reason = forms.CharField(max_length=500, required=False, help_text="Kept in the history.")


def _told(outcome: Outcome | None, done: str) -> str:
    return "That was done before; nothing was changed." if outcome is Outcome.UNCHANGED else done


def _accept(fulfillment: Fulfillment, by: Actor, answers: dict[str, Any]) -> str:
    return _told(fulfillment.accept(by=by, **answers), f"Fulfillment {fulfillment.pk} was accepted.")


def _ship(fulfillment: Fulfillment, by: Actor, answers: dict[str, Any]) -> str:
    outcome = fulfillment.ship(by=by, **answers)
    return _told(outcome, f"The parcel {answers['tracking_number']} was recorded.")


def _reject(reason: State) -> Callable[[Fulfillment, Actor, dict[str, Any]], str]:
    def reject(fulfillment: Fulfillment, by: Actor, answers: dict[str, Any]) -> str:
        outcome = fulfillment.reject(reason, by=by)
        return _told(outcome, f"Fulfillment {fulfillment.pk} was refused: {reason}.")

    return reject


def _ask_back(fulfillment: Fulfillment, by: Actor, answers: dict[str, Any]) -> str:
    fulfillment.request_cancelation(by=by, **answers)
    return f"{fulfillment.supplier} was asked to let fulfillment {fulfillment.pk} go."


def _approve(fulfillment: Fulfillment, by: Actor, answers: dict[str, Any]) -> str:
    return _told(fulfillment.approve_cancelation(by=by), "The cancellation was approved.")


def _refuse(fulfillment: Fulfillment, by: Actor, answers: dict[str, Any]) -> str:
    outcome = fulfillment.refuse_cancelation(by=by)
    return _told(outcome, "The cancellation was refused; the fulfillment is to be captured again.")


def _release(fulfillment: Fulfillment, by: Actor, answers: dict[str, Any]) -> str:
    fulfillment.correct_address(by=by)
    return f"Fulfillment {fulfillment.pk} was released; {fulfillment.supplier} captures it again."


def _give_up(fulfillment: Fulfillment, by: Actor, answers: dict[str, Any]) -> str:
    fulfillment.give_up(by=by)
    return f"Fulfillment {fulfillment.pk} was canceled."


def _deed(
    move: Move, label: str, do: Callable[[Fulfillment, Actor, dict[str, Any]], str], **more: Any
) -> Deed[Any]:
    """A move of the table as a button; it is there where the table allows it to operators."""
    return Deed(
        move.name.replace("_", "-"),
        label,
        do,
        lambda fulfillment: move in states.moves_from(fulfillment.state, ActorKind.OPERATOR),
        **more,
    )


FOR_THE_SUPPLIER = "On the supplier's behalf. The history will show that it was you."

DEEDS = (
    _deed(
        states.ACCEPT,
        "Accept",
        _accept,
        form=lambda fulfillment, sent: AcceptForm(sent),
        advice=FOR_THE_SUPPLIER,
    ),
    _deed(
        states.SHIP,
        "Ship",
        _ship,
        form=lambda fulfillment, sent: ShipForm(sent),
        advice=FOR_THE_SUPPLIER,
    ),
    _deed(
        states.APPROVE_CANCELATION,
        "Approve cancellation",
        _approve,
        advice=f"{FOR_THE_SUPPLIER} What is open is canceled, and its stock is free again.",
        grave=True,
        bulk=True,
    ),
    _deed(
        states.REFUSE_CANCELATION,
        "Refuse cancellation",
        _refuse,
        advice=f"{FOR_THE_SUPPLIER} It goes back into the capturing process.",
        bulk=True,
    ),
    _deed(
        states.CORRECT_ADDRESS,
        "Release again",
        _release,
        advice="The order's address is right now: the supplier captures this fulfillment again.",
        bulk=True,
    ),
    _deed(
        states.REJECT_OUT_OF_STOCK,
        "Refuse: out of stock",
        _reject(State.OUT_OF_STOCK),
        advice=f"{FOR_THE_SUPPLIER} The variants' stock there becomes 0; lines are routed again.",
        grave=True,
    ),
    _deed(
        states.REJECT_MISSING_SKU,
        "Refuse: missing sku",
        _reject(State.MISSING_SKU),
        advice=f"{FOR_THE_SUPPLIER} The variants are delisted; lines are routed again.",
        grave=True,
    ),
    _deed(
        states.REJECT_WRONG_ADDRESS,
        "Refuse: wrong address",
        _reject(State.WRONG_ADDRESS),
        advice=f"{FOR_THE_SUPPLIER} The order waits for an operator to correct its address.",
        grave=True,
    ),
    _deed(
        states.REQUEST_CANCELATION,
        "Ask back",
        _ask_back,
        form=lambda fulfillment, sent: ReasonForm(sent),
        advice="On the retailer's behalf: the supplier is asked to let all that is open go.",
        grave=True,
    ),
    _deed(
        states.GIVE_UP,
        "Cancel",
        _give_up,
        advice="No supplier works on it: it is canceled at once, and its stock is free again.",
        grave=True,
    ),
)
