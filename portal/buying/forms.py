"""The forms of a retailer's actions."""

from __future__ import annotations

from typing import Self

from django import forms

from fulfillments.admin.unit_forms import UnitsForm
from orders.cancelable_units import CancelableUnits
from orders.models import Order


class CancelUnitsForm(UnitsForm):
    """The form of the units to cancel in each line. Each field is 0 at first."""

    why_not = ""

    @classmethod
    def of(cls, order: Order, sent: dict[str, object] | None) -> Self:
        form, units = cls(sent), CancelableUnits(order)
        left = [(line, units.left(line)) for line in units.lines]
        form.add_fields([(line.pk, line.name, line.title, most) for line, most in left if most])
        for field in form.fields.values():
            field.initial = 0
        if not form.fields:
            form.why_not = _nothing_to_enter(any(most for _, most in left))
        return form


class DeadlineForm(forms.Form):
    """The form that changes the last day for shipping an order."""

    ship_until = forms.DateField(
        required=False, widget=forms.DateInput(attrs={"type": "date"}), help_text="Empty: no date."
    )

    @classmethod
    def of(cls, order: Order, sent: dict[str, object] | None) -> Self:
        return cls(sent, initial={"ship_until": order.ship_until})


def _nothing_to_enter(units_are_left: bool) -> str:
    if units_are_left:
        return "The order has too many lines for this form. Cancel the whole order, or use the API."
    return "All units are shipped, canceled, or already requested from their suppliers."
