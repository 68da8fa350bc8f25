"""The form of a row of the stock grid."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from django import forms

from accounts.operating.shown_values import ShownValuesForm
from api.form_fields import WholeNumberField
from catalog.models import Variant
from inventory.elements import MOST
from inventory.expecting import PAST_ON_PAGE, is_past
from portal.row_forms import RowForm
from portal.stock.selectors import expected_on, level_of


class StockRowForm(RowForm, ShownValuesForm, forms.Form):
    """The form of a row: the count of a product, and the day on which the supplier expects new stock."""

    on_hand = WholeNumberField(
        min_value=0,
        max_value=MOST,
        required=False,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
    )
    expected_at = forms.DateField(
        required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )

    def __init__(self, variant: Variant, sent: Mapping[str, object] | None = None) -> None:
        self.variant, level = variant, level_of(variant)
        initial = {"on_hand": level.on_hand if level else None, "expected_at": expected_on(variant)}
        super().__init__(sent, initial=initial, prefix=str(variant.pk))
        self.leave_out_hidden()
        self.send_shown_values()
        labels = {
            "on_hand": f"On hand of {variant.sku}",
            "expected_at": f"Restock of {variant.sku} expected on",
        }
        for name, field in self.fields.items():
            field.widget.attrs["aria-label"] = labels[name]

    def clean_on_hand(self) -> int | None:
        """Refuse an emptied number: an empty count could mean 0 or no change."""
        count: int | None = self.cleaned_data["on_hand"]
        if count is None and self.initial["on_hand"] is not None:
            raise forms.ValidationError("Enter a number. Enter 0 if nothing is left.", code="required")
        return count

    def clean_expected_at(self) -> date | None:
        day: date | None = self.cleaned_data["expected_at"]
        if day and is_past(day) and "expected_at" in self.changed_data:
            raise forms.ValidationError(PAST_ON_PAGE, code="past")
        return day
