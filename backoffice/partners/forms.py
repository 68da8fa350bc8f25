"""Forms that onboard a supplier or a retailer."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django import forms

from accounts.models import Partnership, Retailer, ServiceType, Supplier, default_currency
from accounts.models.partnership import all_service_types
from accounts.scopes import Role
from api.currencies import CURRENCIES
from backoffice.partners.onboarding import OnboardingAnswers
from sftp_ingest.models import SftpLogin

MOST_WAREHOUSES = 50


BASICS = ("retailer", "supplier", "service_types", "is_active")
MORE = {
    "Time limits": ("hours_to_capture", "hours_to_accept", "hours_to_ship", "hours_to_answer"),
    "Short stock": ("when_short", "max_wait_days", "refuse_short_orders"),
    "Cancellations": ("cancelation_default", "cancel_before_capture"),
    "Orders and accounts": (
        *("retailer_erp_id", "retailer_shipper_account"),
        *("max_units_per_line", "strict_addresses"),
    ),
}


class PartnershipForm(forms.ModelForm[Partnership]):
    """The form of a partnership, with a checkbox for each service type."""

    service_types = forms.MultipleChoiceField(
        choices=ServiceType.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=all_service_types,
        help_text="The channels in which the retailer sells the supplier's variants.",
    )

    class Meta:
        model = Partnership
        fields = (*BASICS, *(name for names in MORE.values() for name in names))

    fieldsets: Any = (
        ("", {"fields": BASICS}),
        *((title, {"classes": ("collapse",), "fields": names}) for title, names in MORE.items()),
    )


class OnboardingForm(forms.Form):
    """The form of a new party: name, partners and first key."""

    name = forms.CharField(max_length=200)
    partners = forms.ModelMultipleChoiceField(
        Supplier.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Partners",
        help_text="Terms and time limits can be set on the partnership's page afterwards.",
    )
    key_name = forms.CharField(
        max_length=100,
        initial="ERP",
        label="Key name",
        help_text="The system that will use the key, such as ERP.",
    )
    currency = forms.ChoiceField(
        choices=[(code, code) for code in sorted(CURRENCIES)],
        initial=default_currency,
        help_text="The currency of prices, or of orders without a currency of their own.",
    )
    form_id = forms.UUIDField(required=False, widget=forms.HiddenInput, initial=uuid4)
    """The name of the secrets. A form that is sent twice shows the secrets of its first answer again."""

    role = Role.RETAILER

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        others: Any = Retailer if self.role is Role.SUPPLIER else Supplier
        self.fields["partners"].queryset = others.objects.all()  # type: ignore[attr-defined]

    def clean_name(self) -> str:
        own: Any = Supplier if self.role is Role.SUPPLIER else Retailer
        name: str = self.cleaned_data["name"]
        if own.objects.filter(name=name).exists():
            raise forms.ValidationError(f"A {self.role} with this name already exists. Enter another name.")
        return name

    def answers(self) -> OnboardingAnswers:
        """Return the answers of a valid form."""
        cleaned = self.cleaned_data
        return OnboardingAnswers(
            cleaned["name"], list(cleaned["partners"]), cleaned["key_name"], cleaned["currency"]
        )


class SupplierOnboardingForm(OnboardingForm):
    """The form of a new supplier, with warehouses and an SFTP login."""

    role = Role.SUPPLIER
    warehouses = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3, "cols": 40}),
        help_text="One name per line. The first is the default, which also gets orders without stock.",
    )
    sftp_username = forms.SlugField(
        max_length=50,
        required=False,
        label="SFTP user name",
        help_text="The upload area's login. The next page shows its password once. Leave empty for none.",
    )
    field_order = ("name", "currency", "warehouses", "partners", "key_name", "sftp_username")

    def clean_warehouses(self) -> list[str]:
        names = [line.strip() for line in self.cleaned_data["warehouses"].splitlines() if line.strip()]
        if not names:
            raise forms.ValidationError("A supplier needs a warehouse. Enter at least one name.")
        if len(names) != len(set(names)) or len(names) > MOST_WAREHOUSES:
            raise forms.ValidationError(f"Enter each name once, and at most {MOST_WAREHOUSES} names.")
        if max(map(len, names)) > 100:
            raise forms.ValidationError("A name has more than 100 characters. Shorten it.")
        return names

    def clean_sftp_username(self) -> str:
        username: str = self.cleaned_data["sftp_username"]
        if username and SftpLogin.objects.filter(username=username).exists():
            raise forms.ValidationError("Another login has this name. Enter another name.")
        return username

    def answers(self) -> OnboardingAnswers:
        cleaned = self.cleaned_data
        return OnboardingAnswers(
            cleaned["name"],
            list(cleaned["partners"]),
            cleaned["key_name"],
            cleaned["currency"],
            cleaned["warehouses"],
            cleaned["sftp_username"],
        )
