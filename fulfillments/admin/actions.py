"""Operators' actions on a fulfillment: the moves that `fulfillments.states` allows operators to make."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django import forms
from django.db.models import F
from django.template.loader import render_to_string

from accounts.actors import Actor, ActorKind
from accounts.operating.operator_actions import AdminAction, NothingChanged, Reason
from api.errors import ApiError
from api.phrases import in_units
from fulfillments import states
from fulfillments.admin.unit_forms import ReassignForm, ReturnForm, ShipForm, units_in
from fulfillments.change import Change
from fulfillments.models import Fulfillment, MoveOutcome
from fulfillments.reassigning import find_alternatives
from fulfillments.selectors import open_amounts
from fulfillments.states import Move, State


class AcceptForm(forms.Form):
    tracking_number = forms.CharField(max_length=100, required=False, help_text="If you know it already.")


MakeMove = Callable[[Fulfillment, Change, dict[str, object]], str]
"""A function that makes a move with the form's answers, and returns a message for the operator."""


def _message(outcome: MoveOutcome | None, done: str) -> str:
    if outcome is MoveOutcome.UNCHANGED:
        raise NothingChanged("This was done before; nothing was changed.")
    return done


def make_accept(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    outcome = fulfillment.accept(change, tracking_number=answers["tracking_number"])
    return _message(outcome, f"Fulfillment {fulfillment.pk} was accepted.")


def make_ship(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    parcel = {name: answers[name] for name in ("tracking_number", "carrier")}
    outcome = fulfillment.ship(change, **parcel, quantities=units_in(answers))
    number = answers["tracking_number"]
    if outcome is MoveOutcome.UNCHANGED:
        raise NothingChanged(f"The parcel {number} was recorded before. Another parcel needs its own number.")
    return f"The parcel {number} was recorded."


def make_reject(reason: State) -> MakeMove:
    def reject(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
        units = units_in(answers)
        outcome = fulfillment.reject(change, reason, quantities=units, expected_at=answers.get("expected_at"))
        why = f"rejected: {State(reason).label.lower()}."
        if units and fulfillment.state != reason:
            done = f"{in_units(sum(units.values()), 'was', 'were')} {why} The other units stay open."
        else:
            done = f"Fulfillment {fulfillment.pk} was {why}"
        return _message(outcome, done)

    return reject


def _request_cancelation(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    fulfillment.request_cancelation(change, reason=answers.get("reason", ""))
    return f"{fulfillment.supplier} was asked to cancel fulfillment {fulfillment.pk}."


def make_approve(fulfillment: Fulfillment, change: Change, answers: dict[str, object]) -> str:
    return _message(fulfillment.approve_cancelation(change), "The cancellation was approved.")


def make_refuse(fulfillment: Fulfillment, change: Change, answers: dict[str, object]) -> str:
    outcome = fulfillment.refuse_cancelation(change)
    return _message(outcome, "The cancellation was refused. The supplier captures the fulfillment again.")


def _give_up(fulfillment: Fulfillment, change: Change, answers: dict[str, object]) -> str:
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
    by: ActorKind = ActorKind.OPERATOR,
    **more: Any,
) -> AdminAction[Any]:
    """Return an admin action that makes a move.

    The action is possible only if the move allows the fulfillment's state and the actor `by`, and if `unless`
    returns an empty text. Otherwise `unless` returns the reason why the move is not possible.
    """

    def run(fulfillment: Fulfillment, actor: Actor, answers: dict[str, object]) -> str:
        with fulfillment.order.change(by=actor) as change:
            return make(fulfillment, change, answers)

    def why_not(fulfillment: Fulfillment) -> str:
        try:
            move.check(fulfillment.state, by, held=fulfillment.order.held)
        except ApiError as error:
            return error.message
        return unless(fulfillment)

    return AdminAction(move.name.replace("_", "-"), label, run, why_not, effect, **more)


def _open(fulfillment: Fulfillment) -> int:
    return sum(line.open for line in fulfillment.lines.all())


def all_shipped(fulfillment: Fulfillment) -> str:
    """Return why no more parcels can leave, or an empty text while units are open."""
    return "" if _open(fulfillment) else "All units are shipped."


def open_units(fulfillment: Fulfillment) -> str:
    """Return the open units as text such as `2 × LAN-1, 1 × HAT`."""
    open_ = [f"{line.open} × {line.sku}" for line in fulfillment.lines.all() if line.open]
    return ", ".join(open_[:5]) + (", …" if len(open_) > 5 else "") or "no units"


def _requested_units(fulfillment: Fulfillment) -> str:
    requested = sum(line.cancel_requested for line in fulfillment.lines.all())
    return f"{in_units(requested, 'is', 'are')} canceled on behalf of {fulfillment.supplier}."


def _restock(fulfillment: Fulfillment, by: Actor, answers: dict[str, object]) -> str:
    with fulfillment.order.change(by=by) as change:
        return _message(fulfillment.restock(change), "All returned units are in stock again.")


def _record_return(fulfillment: Fulfillment, by: Actor, answers: dict[str, Any]) -> str:
    chosen = units_in(answers)
    lines = [
        {"id": line.pk, "quantity": units, "restock": answers["restock"]}
        for line in fulfillment.lines.all()
        if (units := line.returnable if chosen is None else chosen.get(line.pk, 0))
    ]
    with fulfillment.order.change(by=by) as change:
        outcome = fulfillment.record_return(
            change, lines, reason=answers["reason"], return_id=answers["return_id"] or None
        )
    count = sum(int(line["quantity"]) for line in lines)
    return _message(outcome, f"The return of {in_units(count)} was recorded.")


def returnable(fulfillment: Fulfillment) -> str:
    """Name the units that can come back. If a colleague records a return, the preview is out of date."""
    units = sum(line.returnable for line in fulfillment.lines.all())
    return f"{in_units(units, 'is', 'are')} shipped and not returned."


def _not_returnable(fulfillment: Fulfillment) -> str:
    shipped = any(line.returnable for line in fulfillment.lines.all())
    return "" if shipped else "No units of the fulfillment were shipped and can come back."


def _not_restockable(fulfillment: Fulfillment) -> str:
    more = any(returned.not_restocked for returned in fulfillment.returns.all())
    return "" if more else "All returned units are already back in stock."


def _candidates(fulfillment: Fulfillment) -> str:
    context = {"alternatives": find_alternatives(fulfillment)}
    return render_to_string("admin/fulfillments/alternatives.html", context)


def _withdraw(fulfillment: Fulfillment, change: Change, answers: dict[str, Any]) -> str:
    units = units_in(answers)
    fulfillment.withdraw(change, to_supplier=answers.get("supplier"), quantities=units)
    count = "All" if units is None else sum(units.values())
    return f"{count} open units of fulfillment {fulfillment.pk} are reassigned."


FOR_THE_SUPPLIER = "On behalf of the supplier. The history shows your name."
SERIOUS: dict[str, Any] = {"reason": Reason.REQUIRED, "danger": True, "bulk": True}
SERIOUS_AND_FINAL: dict[str, Any] = {**SERIOUS, "is_final": True, "amounts": open_amounts}

ACTIONS = (
    action_of(
        states.ACCEPT,
        "Accept fulfillment",
        make_accept,
        lambda fulfillment: f"{fulfillment.supplier} accepts {open_units(fulfillment)}.",
        form=lambda fulfillment, sent: AcceptForm(sent),
        help_text=FOR_THE_SUPPLIER,
        reason=Reason.OPTIONAL,
        undo="The supplier, or you on its behalf, can still reject.",
    ),
    action_of(
        states.SHIP,
        "Ship fulfillment",
        make_ship,
        lambda fulfillment: (
            f"One parcel leaves {fulfillment.supplier}. Open units: {open_units(fulfillment)}."
        ),
        unless=all_shipped,
        form=ShipForm.of,
        help_text=FOR_THE_SUPPLIER,
        reason=Reason.OPTIONAL,
    ),
    action_of(
        states.APPROVE_CANCELATION,
        "Approve cancellation",
        make_approve,
        _requested_units,
        help_text=f"{FOR_THE_SUPPLIER} The requested units are canceled, and their stock is released.",
        **{**SERIOUS_AND_FINAL, "amounts": partial(open_amounts, units=F("cancel_requested"))},
    ),
    action_of(
        states.REFUSE_CANCELATION,
        "Refuse cancellation",
        make_refuse,
        lambda fulfillment: f"{fulfillment.supplier} keeps the fulfillment, and captures it again.",
        help_text=f"{FOR_THE_SUPPLIER} The fulfillment can be captured again.",
        undo="You can request the cancellation again.",
        **SERIOUS,
    ),
    action_of(
        states.WITHDRAW,
        "Reassign fulfillment",
        _withdraw,
        lambda fulfillment: (
            f"Units go to another supplier, and {fulfillment.supplier} sees a cancellation. "
            f"Open units: {open_units(fulfillment)}."
        ),
        form=ReassignForm.of,
        details=_candidates,
        help_text="The reserved stock is released; the supplier's stock count stays the same. If the other "
        "suppliers do not have these units, nothing changes.",
        undo="Reassign again, and choose the first supplier: it is asked again only if you choose it.",
        **SERIOUS,
    ),
    action_of(
        states.REJECT_OUT_OF_STOCK,
        "Reject fulfillment: out of stock",
        make_reject(State.OUT_OF_STOCK),
        lambda fulfillment: (
            f"{open_units(fulfillment)} are reported as out of stock in {fulfillment.warehouse}."
        ),
        help_text=f"{FOR_THE_SUPPLIER} The variants' stock in this warehouse becomes 0, including stock "
        "reserved for other orders. The units are routed again.",
        **SERIOUS_AND_FINAL,
    ),
    action_of(
        states.REJECT_MISSING_SKU,
        "Reject fulfillment: missing SKU",
        make_reject(State.MISSING_SKU),
        lambda fulfillment: (
            f"{open_units(fulfillment)} are reported as no longer sold by {fulfillment.supplier}."
        ),
        help_text=f"{FOR_THE_SUPPLIER} The variants are delisted, and the units are routed again.",
        **SERIOUS_AND_FINAL,
    ),
    action_of(
        states.REJECT_WRONG_ADDRESS,
        "Reject fulfillment: wrong address",
        make_reject(State.WRONG_ADDRESS),
        lambda fulfillment: f"{open_units(fulfillment)} wait for a correct address.",
        help_text=f"{FOR_THE_SUPPLIER} The order waits for an operator to correct its address.",
        undo="Correct address on the order's page releases the fulfillment.",
        **SERIOUS,
    ),
    action_of(
        states.REQUEST_CANCELATION,
        "Request cancellation",
        _request_cancelation,
        lambda fulfillment: f"{fulfillment.supplier} is asked to cancel {open_units(fulfillment)}.",
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
        lambda fulfillment: (
            f"{in_units(_open(fulfillment), 'is', 'are')} canceled, and the stock is released."
        ),
        help_text="No supplier works on the fulfillment, so it is canceled at once.",
        **SERIOUS_AND_FINAL,
    ),
    AdminAction(
        "return",
        "Record return",
        _record_return,
        _not_returnable,
        lambda fulfillment: (
            f"Shipped units of {fulfillment.supplier} came back to {fulfillment.warehouse}. "
            f"{returnable(fulfillment)}"
        ),
        form=ReturnForm.of,
        help_text=FOR_THE_SUPPLIER,
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
