"""Actions of operators on a stock row: enter a count, or adjust the stock with a reason."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.actors import Actor
from accounts.operating.operator_actions import AdminAction, Reason, details_paragraph
from api.form_fields import WholeNumberField
from inventory.elements import MOST
from inventory.models import StockLevel


def _describe(level: StockLevel) -> str:
    return f"{level.variant.sku} in {level.warehouse}: {level.on_hand} on hand."


def _reserved(level: StockLevel) -> str:
    """Show the reserved units outside the effect, because each new order changes them.

    A changed effect makes the preview stale.
    """
    return details_paragraph(f"{level.reserved} reserved.")


def _count(level: StockLevel, by: Actor, answers: dict[str, Any]) -> str:
    before = level.on_hand
    if not level.count(answers["on_hand"], by=by):
        return f"The count of {level.on_hand} is recorded. The number did not change."
    return f"{level.on_hand} on hand; before: {before}."


def _adjust(level: StockLevel, by: Actor, answers: dict[str, Any]) -> str:
    before = level.on_hand
    level.adjust(answers["units"], reason=answers["reason"], by=by)
    return f"{level.on_hand} on hand; before: {before}."


def _count_form(level: StockLevel, sent: dict[str, object] | None) -> forms.Form:
    class CountForm(forms.Form):
        on_hand = WholeNumberField(
            min_value=0,
            max_value=MOST,
            initial=level.on_hand,
            help_text="Count all units in the warehouse, including the reserved units.",
        )

    return CountForm(sent)


def _adjust_form(level: StockLevel, sent: dict[str, object] | None) -> forms.Form:
    class AdjustForm(forms.Form):
        units = WholeNumberField(
            min_value=-level.on_hand,
            max_value=MOST - level.on_hand,
            help_text="Units to add, or with a minus sign to remove (-2): found, broken, given away.",
        )

        def clean_units(self) -> int:
            units: int = self.cleaned_data["units"]
            if not units:
                raise forms.ValidationError("Enter a number other than 0.", code="nothing")
            return units

    return AdjustForm(sent)


ACTIONS = (
    AdminAction[StockLevel](
        "count",
        "Count stock",
        _count,
        lambda level: "",
        _describe,
        form=_count_form,
        details=_reserved,
        help_text="Sets the number on hand to your count. Reserved units do not change.",
        undo="Count again.",
    ),
    AdminAction[StockLevel](
        "adjust",
        "Adjust stock",
        _adjust,
        lambda level: "",
        _describe,
        form=_adjust_form,
        details=_reserved,
        help_text="Adds units to the number on hand, or removes them. This is not a count.",
        reason=Reason.REQUIRED,
        reason_help="The supplier sees this text in its stock movements and events.",
        shares_reason=True,
        undo="Adjust by the same number with the opposite sign.",
    ),
)
