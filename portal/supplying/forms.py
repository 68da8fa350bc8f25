"""Forms of a supplier's moves."""

from __future__ import annotations

from datetime import date
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from fulfillments.admin.unit_forms import ReturnForm, ShipForm, UnitsForm
from fulfillments.models import Fulfillment, Shipment
from fulfillments.tracking import identify
from inventory.expecting import PAST_ON_PAGE, is_past


class RejectionForm(UnitsForm):
    """The form of the rejected units of each line."""

    @classmethod
    def of(cls, fulfillment: Fulfillment, sent: dict[str, object] | None) -> RejectionForm:
        form = cls(sent)
        form.add_lines(fulfillment, lambda line: line.open)
        return form


class OutOfStockForm(RejectionForm):
    """The form of the rejected units, and of the day on which the supplier expects new stock."""

    expected_at = forms.DateField(
        label="Restock date",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="When you expect new stock. Leave it empty if you do not know.",
    )

    def clean_expected_at(self) -> date | None:
        day: date | None = self.cleaned_data["expected_at"]
        if day is not None and is_past(day):
            raise ValidationError(PAST_ON_PAGE, code="invalid_date")
        return day


class OwnReturnForm(ReturnForm):
    """The form of a return, with help texts for the supplier that reports it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].help_text = "The retailer sees the reason."
        self.fields["return_id"].help_text = "Your own number, if you have one."


class ParcelCorrectionForm(forms.Form):
    """The form of a parcel's correct tracking number and carrier."""

    tracking_number = forms.CharField(max_length=100)
    carrier = forms.CharField(
        max_length=100, required=False, help_text="Empty: derived from the tracking number."
    )

    @classmethod
    def of(cls, parcel: Shipment, sent: dict[str, object] | None) -> ParcelCorrectionForm:
        named = parcel.carrier if parcel.is_carrier_named else ""
        return cls(sent, initial={"tracking_number": parcel.tracking_number, "carrier": named})


class ConfirmedShipForm(ShipForm):
    """The form of a parcel. A tracking number with a wrong check digit needs a confirmation."""

    @classmethod
    def of(cls, fulfillment: Fulfillment, sent: dict[str, object] | None) -> ShipForm:
        form = cls(sent)
        form.add_lines(fulfillment, lambda line: line.open)
        form.fields["carrier"].help_text = "Leave it empty: the tracking number tells the carrier."
        warning = form.warning()
        if warning:
            form.fields["is_right"] = forms.BooleanField(
                label="The number is right",
                help_text=warning,
                error_messages={"required": f"{warning} Correct the number, or confirm that it is right."},
            )
        return form

    def warning(self) -> str:
        """Return a warning if the sent tracking number is doubtful, else an empty text."""
        sent = {name: str(self.data.get(name, ""))[:100] for name in ("tracking_number", "carrier")}
        return identify(**sent).warning
