"""Forms of the admin's own pages."""

from __future__ import annotations

from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm

from accounts.sign_in import LimitedSignInForm
from backoffice.activity import ActivityFilter


class DayInput(forms.DateInput):
    """A date field with the browser's own date picker."""

    input_type = "date"

    def format_value(self, value: object) -> str | None:
        return str(value) if value else None


class ActivityForm(forms.Form):
    """The filters of the audit log."""

    person = forms.CharField(required=False, max_length=150)
    since = forms.DateField(required=False, widget=DayInput())
    until = forms.DateField(required=False, widget=DayInput())
    about = forms.CharField(
        required=False,
        max_length=40,
        help_text="About: an order's number in the Exchange, fulfillment:7 or import:7.",
    )
    after = forms.CharField(required=False, widget=forms.HiddenInput)

    def filters(self) -> ActivityFilter:
        """Return the filters. Invalid fields are ignored."""
        self.full_clean()
        return ActivityFilter(**{name: value for name, value in self.cleaned_data.items() if value})


class SignInForm(LimitedSignInForm, AdminAuthenticationForm):
    """The admin's sign-in form: only for operators, and with limited tries."""
