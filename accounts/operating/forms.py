"""The form of an API key's page in the admin."""

from __future__ import annotations

from typing import ClassVar

from django import forms
from django.contrib.postgres.forms import SimpleArrayField

from accounts.models import ApiKey, validate_network
from accounts.scopes import Role, Scope, scopes_of


class ApiKeyForm(forms.ModelForm[ApiKey]):
    """The form of an API key. It requires one party, and only scopes that this party's role may have."""

    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Nothing chosen: all scopes of the party's role.",
    )

    class Meta:
        model = ApiKey
        fields: ClassVar = [
            "name",
            "supplier",
            "retailer",
            "scopes",
            "allowed_networks",
            "rate_limit",
            "expires_at",
        ]

    # `clean_allowed_networks` checks the items: Django's error for a wrong item lacks the reason.
    allowed_networks = SimpleArrayField(
        forms.CharField(), required=False, help_text="CIDR networks, comma-separated. Empty: any address."
    )

    def clean_allowed_networks(self) -> list[str]:
        networks: list[str] = self.cleaned_data["allowed_networks"]
        for network in networks:
            validate_network(network)
        return networks

    def clean_scopes(self) -> list[str] | None:
        return self.cleaned_data["scopes"] or None

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or self.cleaned_data
        supplier = cleaned.get("supplier", self.instance.supplier)
        retailer = cleaned.get("retailer", self.instance.retailer)
        if (supplier is None) == (retailer is None):
            raise forms.ValidationError("Choose one supplier or one retailer.")
        role = Role.SUPPLIER if supplier else Role.RETAILER
        beyond = sorted(set(cleaned.get("scopes") or []) - scopes_of(role))
        if beyond:
            self.add_error("scopes", f"A {role} cannot have {', '.join(beyond)}.")
        return cleaned
