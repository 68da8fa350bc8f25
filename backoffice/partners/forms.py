"""What the wizard asks of somebody who is let in."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.models import Retailer, Supplier
from accounts.scopes import Role
from backoffice.partners.letting_in import Answers
from sftp_ingest.models import SftpLogin

MOST_WAREHOUSES = 50


class LetInForm(forms.Form):
    """A party's name, whom it trades with, and the name of its first key."""

    name = forms.CharField(max_length=200)
    partners = forms.ModelMultipleChoiceField(
        Supplier.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Trades with",
        help_text="Terms and time limits can be set on the partnership's page afterwards.",
    )
    key_name = forms.CharField(
        max_length=100, initial="ERP", label="Key for", help_text="The system that will come in with the key."
    )
    role = Role.RETAILER

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        others: Any = Retailer if self.role is Role.SUPPLIER else Supplier
        self.fields["partners"].queryset = others.objects.all()  # type: ignore[attr-defined]

    def clean_name(self) -> str:
        own: Any = Supplier if self.role is Role.SUPPLIER else Retailer
        name: str = self.cleaned_data["name"]
        if own.objects.filter(name=name).exists():
            raise forms.ValidationError(f"There is a {self.role} of this name already.")
        return name

    def answers(self) -> Answers:
        """What was answered, when it is valid."""
        cleaned = self.cleaned_data
        return Answers(cleaned["name"], list(cleaned["partners"]), cleaned["key_name"])


class LetSupplierInForm(LetInForm):
    """Also where it ships from, and how it comes into its upload area."""

    role = Role.SUPPLIER
    warehouses = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3, "cols": 40}),
        help_text="One name a line; the first is the default, which also takes what none has in stock.",
    )
    sftp_username = forms.SlugField(
        max_length=50,
        required=False,
        label="SFTP user name",
        help_text="For its upload area; a password is made and shown once. Empty: no files.",
    )
    field_order = ("name", "warehouses", "partners", "key_name", "sftp_username")

    def clean_warehouses(self) -> list[str]:
        names = [line.strip() for line in self.cleaned_data["warehouses"].splitlines() if line.strip()]
        if not names:
            raise forms.ValidationError("Name at least one.")
        if len(names) != len(set(names)) or len(names) > MOST_WAREHOUSES:
            raise forms.ValidationError(f"Each name once, and at most {MOST_WAREHOUSES}.")
        if max(map(len, names)) > 100:
            raise forms.ValidationError("A name has at most 100 letters.")
        return names

    def clean_sftp_username(self) -> str:
        username: str = self.cleaned_data["sftp_username"]
        if username and SftpLogin.objects.filter(username=username).exists():
            raise forms.ValidationError("Another login has this name.")
        return username

    def answers(self) -> Answers:
        cleaned = self.cleaned_data
        return Answers(
            cleaned["name"],
            list(cleaned["partners"]),
            cleaned["key_name"],
            cleaned["warehouses"],
            cleaned["sftp_username"],
        )
