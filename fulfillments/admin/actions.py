"""Operators' actions on a fulfillment: the moves that the table of states allows them."""

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
from fulfillments.models import Fulfillment, MoveOutcome
from fulfillments.reassigning import find_alternatives
from fulfillments.states import Move, State


class AcceptForm(forms.Form):
    tracking_number = forms.CharField(max_length=100, required=False, help_text="If you know it already.")


class ShipForm(forms.Form):
    tracking_number = forms.CharField(max_length=100, help_text="One parcel with all open units.")
    carrier = forms.CharField(max_length=100, required=False)


MakeMove = Callable[[Fulfillment, Change, dict[str, Any]], str]
"""Makes a move with the form's answers, and returns a message for the operator."""


def _message(outcome: MoveOutcome | None, done: str) -> str:
    if outcome is MoveOutcome.UNCHANGED:
        raise NothingChanged("This was done before; nothing was changed.")
    return done


def _accept(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    outcome = fulfillment.accept(change, tracking_number=answers["tracking_number"])
    return _message(outcome, f"Fulfillment {fulfillment.pk} was accepted.")


def _ship(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    parcel = {name: answers[name] for name in ("tracking_number", "carrier")}
    outcome = fulfillment.ship(change, **parcel)
    return _message(outcome, f"The parcel {answers['tracking_number']} was recorded.")


def _reject(reason: State) -> MakeMove:
    def reject(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
        outcome = fulfillment.reject(change, reason)
        return _message(outcome, f"Fulfillment {fulfillment.pk} was rejected: {State(reason).label.lower()}.")

    return reject


def _request_cancelation(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    fulfillment.request_cancelation(change, reason=answers.get("reason", ""))
    return f"{fulfillment.supplier} was asked to cancel fulfillment {fulfillment.pk}."


def _approve(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    return _message(fulfillment.approve_cancelation(change), "The cancellation was approved.")


def _refuse(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    outcome = fulfillment.refuse_cancelation(change)
    return _message(outcome, "The cancellation was refused. The supplier captures the fulfillment again.")


def _give_up(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    fulfillment.give_up(change)
    return f"Fulfillment {fulfillment.pk} was canceled."


def _no_objection(fulfillment: Fulfillment) -> str:
    return ""


def action_of(
    move: Move,
    label: str,
    make: MakeMove,
    effect: Callable[[Fulfillment], str],
    *,
    unless: Callable[[Fulfillment], str] = _no_objection,
    **more: Any,
) -> AdminAction[Any]:
    """Return a move of the table as an action. The table decides when operators may use it."""

    def run(fulfillment: Fulfillment, by: Actor, answers: dict[str, Any]) -> str:
        with fulfillment.order.change(by=by) as change:
            return make(fulfillment, change, answers)

    def why_not(fulfillment: Fulfillment) -> str:
        try:
            move.check(fulfillment.state, ActorKind.OPERATOR, held=fulfillment.order.held)
        except ApiError as error:
            return error.message
        return unless(fulfillment)

    return AdminAction(move.name.replace("_", "-"), label, run, why_not, effect, **more)


def _open(fulfillment: Fulfillment) -> int:
    return sum(line.open for line in fulfillment.lines.all())


def _open_units(fulfillment: Fulfillment) -> str:
    """Return the open units as text such as `2 × LAN-1, 1 × HAT`."""
    open_ = [f"{line.open} × {line.sku}" for line in fulfillment.lines.all() if line.open]
    return ", ".join(open_[:5]) + (", …" if len(open_) > 5 else "") or "no units"


def _requested_units(fulfillment: Fulfillment) -> str:
    requested = sum(line.cancel_requested for line in fulfillment.lines.all())
    return f"{requested} units are canceled on behalf of {fulfillment.supplier}."


def _restock(fulfillment: Fulfillment, by: Actor, answers: dict[str, Any]) -> str:
    with fulfillment.order.change(by=by) as change:
        return _message(fulfillment.restock(change), "All returned units are in stock again.")


def _not_restockable(fulfillment: Fulfillment) -> str:
    more = any(returned.not_restocked for returned in fulfillment.returns.all())
    return "" if more else "All returned units are already back in stock."


class ReassignForm(forms.Form):
    """The new supplier: the choice of routing, or one supplier that has all units."""

    supplier = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    why_not = ""

    @classmethod
    def of(cls, fulfillment: Fulfillment, sent: dict[str, Any] | None) -> ReassignForm:
        form, alternatives = cls(sent), find_alternatives(fulfillment)
        if not alternatives.chosen:
            form.why_not = "The other suppliers do not have all units."
        first = f"choice of routing: {alternatives.chosen}"
        form.fields["supplier"].choices = [("", first), *alternatives.able.items()]  # type: ignore[attr-defined]
        return form


def _candidates(fulfillment: Fulfillment) -> str:
    context = {"alternatives": find_alternatives(fulfillment)}
    return render_to_string("admin/fulfillments/alternatives.html", context)


def _withdraw(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    fulfillment.withdraw(change, to_supplier=answers.get("supplier"))
    return (
        f"Fulfillment {fulfillment.pk} is canceled at {fulfillment.supplier}, and its units are reassigned."
    )


FOR_THE_SUPPLIER = "On behalf of the supplier. The history shows your name."
SERIOUS: dict[str, Any] = {"reason": Reason.REQUIRED, "danger": True, "bulk": True}

ACTIONS = (
    action_of(
        states.ACCEPT,
        "Accept",
        _accept,
        lambda fulfillment: f"{fulfillment.supplier} accepts {_open_units(fulfillment)}.",
        form=lambda fulfillment, sent: AcceptForm(sent),
        help_text=FOR_THE_SUPPLIER,
        reason=Reason.OPTIONAL,
        undo="The supplier, or you on its behalf, can still reject.",
    ),
    action_of(
        states.SHIP,
        "Ship",
        _ship,
        lambda fulfillment: f"One parcel leaves {fulfillment.supplier} with {_open_units(fulfillment)}.",
        form=lambda fulfillment, sent: ShipForm(sent),
        help_text=FOR_THE_SUPPLIER,
        reason=Reason.OPTIONAL,
    ),
    action_of(
        states.APPROVE_CANCELATION,
        "Approve cancellation",
        _approve,
        _requested_units,
        help_text=f"{FOR_THE_SUPPLIER} The requested units are canceled, and their stock is released.",
        **SERIOUS,
    ),
    action_of(
        states.REFUSE_CANCELATION,
        "Refuse cancellation",
        _refuse,
        lambda fulfillment: f"{fulfillment.supplier} keeps the fulfillment, and captures it again.",
        help_text=f"{FOR_THE_SUPPLIER} The fulfillment can be captured again.",
        undo="You can request the cancellation again.",
        **SERIOUS,
    ),
    action_of(
        states.WITHDRAW,
        "Reassign",
        _withdraw,
        lambda fulfillment: (
            f"{_open_units(fulfillment)} go to another supplier; {fulfillment.supplier} sees a cancellation."
        ),
        form=ReassignForm.of,
        details=_candidates,
        help_text="The reserved stock is released; the supplier's stock count stays the same. If the other "
        "suppliers do not have all units, nothing changes.",
        undo="Reassign again. Routing does not ask the first supplier again.",
        **SERIOUS,
    ),
    action_of(
        states.REJECT_OUT_OF_STOCK,
        "Reject: out of stock",
        _reject(State.OUT_OF_STOCK),
        lambda fulfillment: (
            f"{_open_units(fulfillment)} are reported as out of stock in {fulfillment.warehouse}."
        ),
        help_text=f"{FOR_THE_SUPPLIER} The variants' stock in this warehouse becomes 0, including stock "
        "reserved for other orders. The units are routed again.",
        **SERIOUS,
    ),
    action_of(
        states.REJECT_MISSING_SKU,
        "Reject: missing sku",
        _reject(State.MISSING_SKU),
        lambda fulfillment: (
            f"{_open_units(fulfillment)} are reported as no longer sold by {fulfillment.supplier}."
        ),
        help_text=f"{FOR_THE_SUPPLIER} The variants are delisted, and the units are routed again.",
        **SERIOUS,
    ),
    action_of(
        states.REJECT_WRONG_ADDRESS,
        "Reject: wrong address",
        _reject(State.WRONG_ADDRESS),
        lambda fulfillment: f"{_open_units(fulfillment)} wait for a correct address.",
        help_text=f"{FOR_THE_SUPPLIER} The order waits for an operator to correct its address.",
        undo="Correct address on the order's page releases the fulfillment.",
        **SERIOUS,
    ),
    action_of(
        states.REQUEST_CANCELATION,
        "Request cancellation",
        _request_cancelation,
        lambda fulfillment: f"{fulfillment.supplier} is asked to cancel {_open_units(fulfillment)}.",
        unless=lambda fulfillment: (
            ""
            if any(line.cancelable for line in fulfillment.lines.all())
            else "The cancellation of all open units is already requested."
        ),
        help_text="On behalf of the retailer: the request covers all open units, including units that the "
        "retailer has not requested back.",
        reason_help="The supplier and the retailer see the reason in the events.",
        shares_reason=True,
        undo="Refuse the cancellation, as long as the supplier has not answered.",
        **SERIOUS,
    ),
    action_of(
        states.GIVE_UP,
        "Cancel fulfillment",
        _give_up,
        lambda fulfillment: f"{_open(fulfillment)} units are canceled, and their stock is released.",
        help_text="No supplier works on the fulfillment, so it is canceled at once.",
        **SERIOUS,
    ),
    AdminAction(
        "restock",
        "Put returns back into stock",
        _restock,
        _not_restockable,
        lambda fulfillment: f"Units returned to {fulfillment.warehouse} can be sold again.",
        help_text="This covers all returned units that are not in stock yet.",
        reason=Reason.OPTIONAL,
        undo="Adjust the stock row by hand.",
        bulk=True,
    ),
)
