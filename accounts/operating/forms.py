"""The form behind an API key's page in the admin."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.contrib.postgres.forms import SimpleArrayField

from accounts.models import ApiKey, validate_network
from accounts.scopes import Role, Scope, scopes_of


class ApiKeyForm(forms.ModelForm[ApiKey]):
    """A key belongs to one party, and its scopes to that party's role."""

    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen: all that the party's role allows.",
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

    # Django's own error for a wrong item of a list names its place, but not what is wrong with it.
    allowed_networks = SimpleArrayField(
        forms.CharField(), required=False, help_text="CIDR networks, comma-separated. Empty: from anywhere."
    )

    def clean_allowed_networks(self) -> list[str]:
        networks: list[str] = self.cleaned_data["allowed_networks"]
        for network in networks:
            validate_network(network)
        return networks

    def clean_scopes(self) -> list[str] | None:
        return self.cleaned_data["scopes"] or None

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        supplier = cleaned.get("supplier", self.instance.supplier)
        retailer = cleaned.get("retailer", self.instance.retailer)
        if (supplier is None) == (retailer is None):
            raise forms.ValidationError("A key belongs to one supplier or to one retailer.")
        role = Role.SUPPLIER if supplier else Role.RETAILER
        beyond = sorted(set(cleaned.get("scopes") or []) - scopes_of(role))
        if beyond:
            self.add_error("scopes", f"A {role} cannot have {', '.join(beyond)}.")
        return cleaned
