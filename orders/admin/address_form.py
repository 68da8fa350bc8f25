"""The form of the action *Correct address*. It does not overwrite a correction that the user has not seen."""

from __future__ import annotations

from typing import Any, Self

from django import forms

from accounts.models import member_names
from api.bodies import reader
from events.models import Event
from events.timeline import actor_name
from fulfillments.states import State
from orders.addresses.addresses import fingerprint, unknown_country
from orders.addresses.countries import country_code
from orders.models import Order
from orders.push_body import AddressBody
from orders.services import refused_for_address

PUSHED = reader(AddressBody).fields


def _part(name: str, **options: Any) -> forms.CharField:
    """Return the form field for a part of the address, with the length limit of an order push."""
    return forms.CharField(max_length=PUSHED[name].max_length, **options)


class AddressForm(forms.Form):
    """A shipping address, with the required fields of an order push."""

    first_name = _part("first_name", required=False)
    last_name = _part("last_name", required=False)
    company_name = _part("company_name", required=False)
    address1 = _part("address1", label="Address line 1")
    address2 = _part("address2", required=False, label="Address line 2")
    zip_code = _part("zip_code", required=False, label="ZIP code")
    city = _part("city", required=False)
    state = _part("state", required=False)
    country = _part("country")
    phone_number = _part("phone_number", required=False)
    email = _part("email", required=False)
    order: Order

    # The fingerprint of the address that the operator saw, because another operator may correct the address
    # first. A script that sends the form without opening the page has no fingerprint, and corrects the
    # present address.
    shown = forms.CharField(widget=forms.HiddenInput, required=False)

    @classmethod
    def of(cls, order: Order, sent: dict[str, object] | None) -> Self:
        address = order.shipping_address
        form = cls(sent, initial={**address, "shown": fingerprint(address)})
        form.order = order
        return form

    def clean(self) -> dict[str, object]:
        """Refuse to overwrite a correction that the user has not seen."""
        data = super().clean() or {}
        if data.get("shown") and data["shown"] != fingerprint(self.order.shipping_address):
            self._show_correction()
        return data

    def _show_correction(self) -> None:
        """Show the corrected values beside the values that the user typed."""
        present = self.order.shipping_address
        for part in PARTS:
            if self.data.get(part, "") != present.get(part, ""):
                self[part].help_text = f"Now: {present.get(part) or 'empty'}"
        self.data = {**self.data, "shown": fingerprint(present)}
        message = f"{self.last_correction()}, so nothing was changed."
        self.add_error(None, f"{message} Compare your text with the new values, then send it again.")

    def last_correction(self) -> str:
        """Return the beginning of a sentence that reports the last correction."""
        return "Someone corrected this address"

    def clean_country(self) -> str:
        country: str = self.cleaned_data["country"]
        code = country_code(country)
        if code is None:
            raise forms.ValidationError(unknown_country(country))
        return code


PARTS = [name for name in AddressForm.base_fields if name != "shown"]


class CorrectionForm(AddressForm):
    """The form for operators. Operators may also confirm an address that a supplier refused."""

    reason = forms.CharField(
        max_length=500,
        required=False,
        help_text="Required if the address is correct. The fulfillments then go back to their suppliers.",
    )

    def clean(self) -> dict[str, object]:
        """Require a correction or a reason if a supplier has refused the address."""
        data = super().clean()
        unchanged = not self.errors and not data["reason"] and not changed_parts(self.order, data)
        waits = any(work.state == State.WRONG_ADDRESS for work in self.order.fulfillments.all())
        if unchanged and (waits or refused_for_address(self.order)):
            message = "The supplier has refused this address. Correct it, or give the reason why it is right."
            self.add_error("reason", message)
        return data

    def last_correction(self) -> str:
        """Return the beginning of a sentence, with the person and the time of the last correction."""
        events = Event.objects.filter(order_id=self.order.pk, type="order.address_corrected")
        last = events.order_by("-id").first()
        if last is None:
            return super().last_correction()
        name, _ = actor_name(last.actor, member_names({last.actor}))
        return f"{name} corrected this address on {last.occurred_at:%-d %b %Y at %H:%M} UTC"


def changed_parts(order: Order, answers: dict[str, Any]) -> dict[str, str]:
    """Return the parts of the form's address that differ from the order's address."""
    known = order.shipping_address
    return {part: answers[part] for part in PARTS if part in answers and answers[part] != known.get(part, "")}
