"""What operators can do with a fulfillment: the moves that the table of states allows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms

from accounts.actors import Actor, ActorKind
from accounts.admin_actions import AdminAction
from fulfillments import states
from fulfillments.change import Change
from fulfillments.models import Fulfillment, Outcome
from fulfillments.states import Move, State


class AcceptForm(forms.Form):
    tracking_number = forms.CharField(max_length=100, required=False, help_text="If it is known already.")


class ShipForm(forms.Form):
    tracking_number = forms.CharField(max_length=100, help_text="One parcel; all that is open goes with it.")
    carrier = forms.CharField(max_length=100, required=False)


class ReasonForm(forms.Form):
    reason = forms.CharField(max_length=500, required=False, help_text="Kept in the history.")


MoveIt = Callable[[Fulfillment, Change, dict[str, Any]], str]
"""Makes a move with what the form was answered, and says what came of it."""


def _message(outcome: Outcome | None, done: str) -> str:
    return "That was done before; nothing was changed." if outcome is Outcome.UNCHANGED else done


def _accept(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    return _message(fulfillment.accept(change, **answers), f"Fulfillment {fulfillment.pk} was accepted.")


def _ship(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    outcome = fulfillment.ship(change, **answers)
    return _message(outcome, f"The parcel {answers['tracking_number']} was recorded.")


def _reject(reason: State) -> MoveIt:
    def reject(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
        outcome = fulfillment.reject(change, reason)
        return _message(outcome, f"Fulfillment {fulfillment.pk} was refused: {reason}.")

    return reject


def _ask_back(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    fulfillment.request_cancelation(change, **answers)
    return f"{fulfillment.supplier} was asked to let fulfillment {fulfillment.pk} go."


def _approve(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    return _message(fulfillment.approve_cancelation(change), "The cancellation was approved.")


def _refuse(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    outcome = fulfillment.refuse_cancelation(change)
    return _message(outcome, "The cancellation was refused; the fulfillment is to be captured again.")


def _release(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    fulfillment.correct_address(change)
    return f"Fulfillment {fulfillment.pk} was released; {fulfillment.supplier} captures it again."


def _give_up(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    fulfillment.give_up(change)
    return f"Fulfillment {fulfillment.pk} was canceled."


def _always(fulfillment: Fulfillment) -> bool:
    return True


def _action(
    move: Move, label: str, make: MoveIt, *, where: Callable[[Fulfillment], bool] = _always, **more: Any
) -> AdminAction[Any]:
    """A move of the table as a button; it is there where the table allows it to operators."""

    def run(fulfillment: Fulfillment, by: Actor, answers: dict[str, Any]) -> str:
        with fulfillment.order.change(by=by) as change:
            return make(fulfillment, change, answers)

    return AdminAction(
        move.name.replace("_", "-"),
        label,
        run,
        lambda fulfillment: (
            move in states.moves_from(fulfillment.state, ActorKind.OPERATOR)
            and not (fulfillment.order.held and move.waits(fulfillment.state))
            and where(fulfillment)
        ),
        **more,
    )


def _restock(fulfillment: Fulfillment, by: Actor, answers: dict[str, Any]) -> str:
    with fulfillment.order.change(by=by) as change:
        return _message(fulfillment.restock(change), "What came back is in stock again.")


def _has_more_to_restock(fulfillment: Fulfillment) -> bool:
    return any(returned.not_restocked for returned in fulfillment.returns.all())


FOR_THE_SUPPLIER = "On the supplier's behalf. The history will show that it was you."

ACTIONS = (
    _action(
        states.ACCEPT,
        "Accept",
        _accept,
        form=lambda fulfillment, sent: AcceptForm(sent),
        help_text=FOR_THE_SUPPLIER,
    ),
    _action(
        states.SHIP,
        "Ship",
        _ship,
        form=lambda fulfillment, sent: ShipForm(sent),
        help_text=FOR_THE_SUPPLIER,
    ),
    _action(
        states.APPROVE_CANCELATION,
        "Approve cancellation",
        _approve,
        help_text=f"{FOR_THE_SUPPLIER} What is open is canceled, and its stock is free again.",
        needs_confirmation=True,
        bulk=True,
    ),
    _action(
        states.REFUSE_CANCELATION,
        "Refuse cancellation",
        _refuse,
        help_text=f"{FOR_THE_SUPPLIER} It goes back into the capturing process.",
        bulk=True,
    ),
    _action(
        states.CORRECT_ADDRESS,
        "Release again",
        _release,
        help_text="The order's address is right now: the supplier captures this fulfillment again.",
        bulk=True,
    ),
    _action(
        states.REJECT_OUT_OF_STOCK,
        "Refuse: out of stock",
        _reject(State.OUT_OF_STOCK),
        help_text=f"{FOR_THE_SUPPLIER} The variants' stock there becomes 0; lines are routed again.",
        needs_confirmation=True,
    ),
    _action(
        states.REJECT_MISSING_SKU,
        "Refuse: missing sku",
        _reject(State.MISSING_SKU),
        help_text=f"{FOR_THE_SUPPLIER} The variants are delisted; lines are routed again.",
        needs_confirmation=True,
    ),
    _action(
        states.REJECT_WRONG_ADDRESS,
        "Refuse: wrong address",
        _reject(State.WRONG_ADDRESS),
        help_text=f"{FOR_THE_SUPPLIER} The order waits for an operator to correct its address.",
        needs_confirmation=True,
    ),
    _action(
        states.REQUEST_CANCELATION,
        "Ask back",
        _ask_back,
        where=lambda fulfillment: any(line.askable for line in fulfillment.lines.all()),
        form=lambda fulfillment, sent: ReasonForm(sent),
        help_text="On the retailer's behalf: the supplier is asked to let all that is open go, also what the "
        "retailer has not asked for yet.",
        needs_confirmation=True,
    ),
    _action(
        states.GIVE_UP,
        "Cancel",
        _give_up,
        help_text="No supplier works on it: it is canceled at once, and its stock is free again.",
        needs_confirmation=True,
    ),
    AdminAction(
        "restock",
        "Put returns back into stock",
        _restock,
        _has_more_to_restock,
        help_text="What came back and can be sold again: all of it that is not in stock yet.",
        needs_confirmation=True,
    ),
)
