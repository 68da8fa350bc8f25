"""Forms with numbers of units for a fulfillment's lines, for a parcel, a return or a reassignment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django import forms

from api.form_fields import WholeNumberField
from fulfillments.models import Fulfillment, FulfillmentLine
from fulfillments.models.kept_parcel import all_left, unsent_units
from fulfillments.reassigning import find_alternatives

MOST_LINES = 50
"""The largest number of lines for which a form has fields.

For a longer fulfillment, the form concerns all units, and asks for a confirmation.
"""


class UnitsForm(forms.Form):
    """A form with a field for the units of each line. A request without these fields means all units."""

    def add_lines(self, fulfillment: Fulfillment, room: Callable[[FulfillmentLine], int]) -> None:
        lines = [(line, room(line)) for line in fulfillment.lines.all()]
        known = [(line.pk, line.sku, line.title, most) for line, most in lines if most]
        if len(known) > MOST_LINES:
            self.fields["all_units"] = forms.BooleanField(
                label=f"All units of {len(known)} lines",
                help_text="This form has no fields for so many lines. Use the API or a file for some units.",
                error_messages={"required": "Confirm that you mean all units of all lines."},
            )
        self.add_fields(known)

    def add_fields(self, lines: Sequence[tuple[int, str, str, int]]) -> None:
        """Add a field for each line: its id, name and title, and the largest number of units."""
        for pk, name, title, most in lines if len(lines) <= MOST_LINES else ():
            self.fields[f"line_{pk}"] = WholeNumberField(
                label=f"Units of {name}",
                min_value=0,
                max_value=most,
                initial=most,
                required=False,
                help_text=f"{title or name}: at most {most}. 0 leaves the line out.",
            )

    def clean(self) -> dict[str, object]:
        """Refuse a form in which all lines have 0 units, or that has units of a line without a field.

        A line has no field if its last unit was shipped or canceled while the page was open.

        A request without any line, for example from a script, is allowed and means all units.
        """
        data = super().clean() or {}
        if any(name.startswith("line_") and name not in self.fields for name in self.data):
            self.add_error(
                None, "A line was changed while the page was open. Check the units, then send again."
            )
        names = [name for name in self.fields if name.startswith("line_")]
        sent = [name for name in names if name in self.data]
        if sent and not self.errors and not any(data.get(name) for name in names):
            self.add_error(sent[0], "All lines have 0 units. Enter the units of at least one line.")
        return data


def units_in(answers: dict[str, Any]) -> dict[int, int] | None:
    """Return the chosen units by line id, or None for all units."""
    chosen = {
        int(name.removeprefix("line_")): units
        for name, units in answers.items()
        if name.startswith("line_") and units
    }
    return chosen or None


class ShipForm(UnitsForm):
    tracking_number = forms.CharField(max_length=100, help_text="One parcel with the units below.")
    carrier = forms.CharField(max_length=100, required=False)

    @classmethod
    def of(cls, fulfillment: Fulfillment, sent: dict[str, object] | None) -> ShipForm:
        form = cls(sent)
        form.add_lines(fulfillment, lambda line: line.open)
        return form


class ReturnForm(UnitsForm):
    reason = forms.CharField(max_length=500, help_text="The retailer and the supplier see the reason.")
    return_id = forms.CharField(
        max_length=100, required=False, label="Return number", help_text="The supplier's own number, if any."
    )
    restock = forms.BooleanField(required=False, label="Put the units back into stock")

    @classmethod
    def of(cls, fulfillment: Fulfillment, sent: dict[str, object] | None) -> ReturnForm:
        form = cls(sent)
        form.add_lines(fulfillment, lambda line: line.returnable)
        return form


class ReassignForm(UnitsForm):
    """A form that reassigns open units of a fulfillment.

    The operator lets routing choose the supplier, or selects a supplier that has all or some of the units.
    """

    supplier = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    why_not = ""

    @classmethod
    def of(cls, fulfillment: Fulfillment, sent: dict[str, object] | None) -> ReassignForm:
        form, alternatives = cls(sent), find_alternatives(fulfillment)
        form.add_lines(fulfillment, unsent_units(fulfillment))
        if not alternatives.lines:
            form.why_not = all_left(fulfillment)
        elif not (alternatives.chosen or alternatives.able or alternatives.partly):
            form.why_not = "The other suppliers do not have any of the units."
        elif not (alternatives.chosen or alternatives.able):
            form.fields["supplier"].help_text = "No supplier has all units: send fewer units or fewer lines."
        routed = alternatives.chosen or (alternatives.partly and "the suppliers that have the units")
        first = [("", f"choice of routing: {routed}")] if routed else []
        others = {pk: f"{name} (has a part)" for pk, name in alternatives.partly.items()}
        field = form.fields["supplier"]
        field.choices = [*first, *alternatives.able.items(), *others.items()]  # type: ignore[attr-defined]
        field.required = not first
        return form
