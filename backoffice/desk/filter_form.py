"""The filters of the desk, as a form."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.models import Retailer, Supplier
from backoffice.desk.gathering import DeskFilter
from backoffice.desk.groups import SORTS
from backoffice.desk.kinds import KINDS

TAKEN = [("", "all"), ("mine", "mine"), ("free", "unassigned"), ("snoozed", "snoozed")]


class DeskForm(forms.Form):
    kind = forms.ChoiceField(
        required=False,
        choices=[("", "all"), *((kind.name, kind.title) for kind in KINDS)],
        widget=forms.HiddenInput,  # the tabs choose the kind
    )
    supplier = forms.ModelChoiceField(Supplier.objects.order_by("name"), required=False, empty_label="all")
    retailer = forms.ModelChoiceField(Retailer.objects.order_by("name"), required=False, empty_label="all")
    hours = forms.IntegerField(required=False, min_value=1, max_value=100_000, label="Older than (hours)")
    taken = forms.ChoiceField(required=False, choices=TAKEN, label="Assigned to")
    by = forms.ChoiceField(required=False, choices=[("", "rows"), ("party", "groups")], label="Show")
    sort = forms.ChoiceField(required=False, choices=[*SORTS.items()], widget=forms.HiddenInput)

    def wanted(self, person: str) -> DeskFilter:
        """Return the filters. Invalid fields are ignored."""
        self.full_clean()
        shown = ("by", "sort")
        given: dict[str, Any] = {
            name: value for name, value in self.cleaned_data.items() if value and name not in shown
        }
        for party in given.keys() & {"supplier", "retailer"}:
            given[party] = given[party].pk
        return DeskFilter(**given, person=person)
