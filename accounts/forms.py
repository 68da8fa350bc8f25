"""The form behind an API key's page in the admin."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms

from accounts.models import ApiKey
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
