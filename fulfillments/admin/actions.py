"""What operators can do with a fulfillment: the moves that the table of states allows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.template.loader import render_to_string

from accounts.actors import Actor, ActorKind
from accounts.operating.operator_actions import AdminAction, NothingChanged, Reason
from api.errors import ApiError
from fulfillments import states
from fulfillments.change import Change
from fulfillments.models import Fulfillment, Outcome
from fulfillments.reassigning import look_elsewhere
from fulfillments.states import Move, State


class AcceptForm(forms.Form):
    tracking_number = forms.CharField(max_length=100, required=False, help_text="If it is known already.")


class ShipForm(forms.Form):
    tracking_number = forms.CharField(max_length=100, help_text="One parcel; all that is open goes with it.")
    carrier = forms.CharField(max_length=100, required=False)


MoveIt = Callable[[Fulfillment, Change, dict[str, Any]], str]
"""Makes a move with what the form was answered, and says what came of it."""


def _message(outcome: Outcome | None, done: str) -> str:
    if outcome is Outcome.UNCHANGED:
        raise NothingChanged("That was done before; nothing was changed.")
    return done


def _accept(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    outcome = fulfillment.accept(change, tracking_number=answers["tracking_number"])
    return _message(outcome, f"Fulfillment {fulfillment.pk} was accepted.")


def _ship(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    parcel = {name: answers[name] for name in ("tracking_number", "carrier")}
    outcome = fulfillment.ship(change, **parcel)
    return _message(outcome, f"The parcel {answers['tracking_number']} was recorded.")


def _reject(reason: State) -> MoveIt:
    def reject(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
        outcome = fulfillment.reject(change, reason)
        return _message(outcome, f"Fulfillment {fulfillment.pk} was refused: {reason}.")

    return reject


def _ask_back(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    fulfillment.request_cancelation(change, reason=answers.get("reason", ""))
    return f"{fulfillment.supplier} was asked to let fulfillment {fulfillment.pk} go."


def _approve(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    return _message(fulfillment.approve_cancelation(change), "The cancellation was approved.")


def _refuse(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    outcome = fulfillment.refuse_cancelation(change)
    return _message(outcome, "The cancellation was refused; the fulfillment is to be captured again.")


def _give_up(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    fulfillment.give_up(change)
    return f"Fulfillment {fulfillment.pk} was canceled."


def _nothing(fulfillment: Fulfillment) -> str:
    return ""


def action_of(
    move: Move,
    label: str,
    make: MoveIt,
    effect: Callable[[Fulfillment], str],
    *,
    where: Callable[[Fulfillment], str] = _nothing,
    **more: Any,
) -> AdminAction[Any]:
    """A move of the table as an action; it can be done where the table allows it to operators."""

    def run(fulfillment: Fulfillment, by: Actor, answers: dict[str, Any]) -> str:
        with fulfillment.order.change(by=by) as change:
            return make(fulfillment, change, answers)

    def why_not(fulfillment: Fulfillment) -> str:
        try:
            move.check(fulfillment.state, ActorKind.OPERATOR, held=fulfillment.order.held)
        except ApiError as error:
            return error.message
        return where(fulfillment)

    return AdminAction(move.name.replace("_", "-"), label, run, why_not, effect, **more)


def _open(fulfillment: Fulfillment) -> int:
    return sum(line.open for line in fulfillment.lines.all())


def _what(fulfillment: Fulfillment) -> str:
    """What is open of it, as `2 × LAN-1, 1 × HAT`."""
    open_ = [f"{line.open} × {line.sku}" for line in fulfillment.lines.all() if line.open]
    return ", ".join(open_[:5]) + (", …" if len(open_) > 5 else "") or "nothing"


def _asked_back(fulfillment: Fulfillment) -> str:
    asked = sum(line.cancel_requested for line in fulfillment.lines.all())
    return f"{asked} pieces are canceled in the name of {fulfillment.supplier}."


def _restock(fulfillment: Fulfillment, by: Actor, answers: dict[str, Any]) -> str:
    with fulfillment.order.change(by=by) as change:
        return _message(fulfillment.restock(change), "What came back is in stock again.")


def _not_restockable(fulfillment: Fulfillment) -> str:
    more = any(returned.not_restocked for returned in fulfillment.returns.all())
    return "" if more else "Nothing that came back is not in stock again."


class ElsewhereForm(forms.Form):
    """To whom it goes: whom routing would take, or one that has all of it."""

    supplier = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    why_not = ""

    @classmethod
    def of(cls, fulfillment: Fulfillment, sent: dict[str, Any] | None) -> ElsewhereForm:
        form, elsewhere = cls(sent), look_elsewhere(fulfillment)
        if not elsewhere.chosen:
            form.why_not = "Nobody else has all of it."
        first = f"whom routing takes: {elsewhere.chosen}"
        form.fields["supplier"].choices = [("", first), *elsewhere.able.items()]  # type: ignore[attr-defined]
        return form


def _candidates(fulfillment: Fulfillment) -> str:
    context = {"elsewhere": look_elsewhere(fulfillment)}
    return render_to_string("admin/fulfillments/elsewhere.html", context)


def _withdraw(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    fulfillment.withdraw(change, to_supplier=answers.get("supplier"))
    return (
        f"Fulfillment {fulfillment.pk} is canceled at {fulfillment.supplier}, and its pieces are elsewhere."
    )


FOR_THE_SUPPLIER = "On the supplier's behalf. The history will show that it was you."
OWED: dict[str, Any] = {"reason": Reason.REQUIRED, "danger": True, "bulk": True}

ACTIONS = (
    action_of(
        states.ACCEPT,
        "Accept",
        _accept,
        lambda fulfillment: f"{fulfillment.supplier} takes on {_what(fulfillment)}.",
        form=lambda fulfillment, sent: AcceptForm(sent),
        help_text=FOR_THE_SUPPLIER,
        reason=Reason.OPTIONAL,
        undo="The supplier, or you for it, can still refuse.",
    ),
    action_of(
        states.SHIP,
        "Ship",
        _ship,
        lambda fulfillment: f"One parcel leaves {fulfillment.supplier} with {_what(fulfillment)}.",
        form=lambda fulfillment, sent: ShipForm(sent),
        help_text=FOR_THE_SUPPLIER,
        reason=Reason.OPTIONAL,
    ),
    action_of(
        states.APPROVE_CANCELATION,
        "Approve cancellation",
        _approve,
        _asked_back,
        help_text=f"{FOR_THE_SUPPLIER} What is asked back is canceled, and its stock is free again.",
        **OWED,
    ),
    action_of(
        states.REFUSE_CANCELATION,
        "Refuse cancellation",
        _refuse,
        lambda fulfillment: f"{fulfillment.supplier} keeps it, and is to capture it again.",
        help_text=f"{FOR_THE_SUPPLIER} It goes back into the capturing process.",
        undo="It can be asked back once more.",
        **OWED,
    ),
    action_of(
        states.WITHDRAW,
        "Send elsewhere",
        _withdraw,
        lambda fulfillment: (
            f"{_what(fulfillment)} goes to another supplier; for {fulfillment.supplier} it is canceled."
        ),
        form=ElsewhereForm.of,
        details=_candidates,
        help_text="Its stock is free again and stays as it is: nothing is said of what the supplier has. "
        "Where nobody else has all of it, nothing is changed.",
        undo="Send it elsewhere once more; the supplier it is taken from is not asked again.",
        **OWED,
    ),
    action_of(
        states.REJECT_OUT_OF_STOCK,
        "Refuse: out of stock",
        _reject(State.OUT_OF_STOCK),
        lambda fulfillment: (
            f"{fulfillment.supplier} is said to have none of {_what(fulfillment)} in {fulfillment.warehouse}."
        ),
        help_text=f"{FOR_THE_SUPPLIER} The variants' stock there becomes 0, also what is promised to others; "
        "lines are routed again.",
        **OWED,
    ),
    action_of(
        states.REJECT_MISSING_SKU,
        "Refuse: missing sku",
        _reject(State.MISSING_SKU),
        lambda fulfillment: f"{fulfillment.supplier} is said not to sell {_what(fulfillment)} any more.",
        help_text=f"{FOR_THE_SUPPLIER} The variants are delisted; lines are routed again.",
        **OWED,
    ),
    action_of(
        states.REJECT_WRONG_ADDRESS,
        "Refuse: wrong address",
        _reject(State.WRONG_ADDRESS),
        lambda fulfillment: f"{_what(fulfillment)} waits for a right address.",
        help_text=f"{FOR_THE_SUPPLIER} The order waits for an operator to correct its address.",
        undo="Correct address on the order's page releases it.",
        **OWED,
    ),
    action_of(
        states.REQUEST_CANCELATION,
        "Ask back",
        _ask_back,
        lambda fulfillment: f"{fulfillment.supplier} is asked to let {_what(fulfillment)} go.",
        where=lambda fulfillment: (
            ""
            if any(line.askable for line in fulfillment.lines.all())
            else "All that is open of it is asked back already."
        ),
        help_text="On the retailer's behalf: the supplier is asked to let all that is open go, also what the "
        "retailer has not asked for yet.",
        reason_help="The supplier and the retailer see it in the events.",
        shares_reason=True,
        undo="Refuse cancellation, as long as the supplier has not answered.",
        **OWED,
    ),
    action_of(
        states.GIVE_UP,
        "Cancel",
        _give_up,
        lambda fulfillment: f"{_open(fulfillment)} pieces are canceled, and their stock is free again.",
        help_text="No supplier works on it: it is canceled at once.",
        **OWED,
    ),
    AdminAction(
        "restock",
        "Put returns back into stock",
        _restock,
        _not_restockable,
        lambda fulfillment: f"What came back to {fulfillment.warehouse} can be sold again.",
        help_text="What came back and can be sold again: all of it that is not in stock yet.",
        reason=Reason.OPTIONAL,
        undo="Adjust the stock row by hand.",
        bulk=True,
    ),
)
