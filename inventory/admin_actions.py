"""What operators can do to a stock row: say what was counted, or add to it and take away, with a reason."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.actors import Actor
from accounts.operating.operator_actions import AdminAction, Reason
from inventory.elements import MOST
from inventory.models import StockLevel


def _standing(level: StockLevel) -> str:
    place = f"{level.variant.sku} in {level.warehouse}"
    return f"{place}: {level.on_hand} on hand, {level.reserved} of them promised."


def _count(level: StockLevel, by: Actor, answers: dict[str, Any]) -> str:
    before = level.on_hand
    if not level.count(answers["on_hand"], by=by):
        return f"{level.on_hand} it is; the count is noted."
    return f"{level.on_hand} on hand, before {before}."


def _adjust(level: StockLevel, by: Actor, answers: dict[str, Any]) -> str:
    before = level.on_hand
    level.adjust(answers["pieces"], reason=answers["reason"], by=by)
    return f"{level.on_hand} on hand, before {before}."


def _count_form(level: StockLevel, sent: dict[str, Any] | None) -> forms.Form:
    class CountForm(forms.Form):
        on_hand = forms.IntegerField(
            min_value=0,
            max_value=MOST,
            initial=level.on_hand,
            help_text="All that lies there, with what is promised.",
        )

    return CountForm(sent)


def _adjust_form(level: StockLevel, sent: dict[str, Any] | None) -> forms.Form:
    class AdjustForm(forms.Form):
        pieces = forms.IntegerField(
            min_value=-level.on_hand,
            max_value=MOST - level.on_hand,
            help_text="So many more, or fewer (-2): found, broken, given away.",
        )

        def clean_pieces(self) -> int:
            pieces: int = self.cleaned_data["pieces"]
            if not pieces:
                raise forms.ValidationError("That changes nothing.", code="nothing")
            return pieces

    return AdjustForm(sent)


ACTIONS = (
    AdminAction[StockLevel](
        "count",
        "Count",
        _count,
        lambda level: "",
        _standing,
        form=_count_form,
        help_text="Sets what is on hand, as it was just counted. What is promised follows from orders alone.",
        undo="Count again.",
    ),
    AdminAction[StockLevel](
        "adjust",
        "Adjust",
        _adjust,
        lambda level: "",
        _standing,
        form=_adjust_form,
        help_text="Adds pieces to what is on hand, or takes them away; no count.",
        reason=Reason.REQUIRED,
        reason_help="Stands in the ledger, and the supplier reads it there and in its events.",
        shares_reason=True,
        undo="Adjust by as many the other way.",
    ),
)
