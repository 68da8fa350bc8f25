"""What pages of the operators' own ask to be narrowed by."""

from __future__ import annotations

from typing import Any

from django import forms

from backoffice.activity import Question


class DayInput(forms.DateInput):
    """A day, as browsers ask for it."""

    input_type = "date"

    def format_value(self, value: Any) -> str | None:
        return str(value) if value else None


class ActivityForm(forms.Form):
    """Whose work, of which days, on what."""

    person = forms.CharField(required=False, max_length=150)
    since = forms.DateField(required=False, widget=DayInput())
    until = forms.DateField(required=False, widget=DayInput())
    about = forms.CharField(
        required=False, max_length=40, help_text="An order's number here, fulfillment:7, or import:7."
    )
    after = forms.CharField(required=False, widget=forms.HiddenInput)

    def question(self) -> Question:
        """What is asked for; what cannot be read asks for nothing."""
        self.full_clean()
        return Question(**{name: value for name, value in self.cleaned_data.items() if value})
