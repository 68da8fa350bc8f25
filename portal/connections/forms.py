"""Forms of a party's connections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.contrib.postgres.forms import SimpleArrayField
from django.core.exceptions import ValidationError

from accounts.models import Retailer, Supplier, validate_network
from accounts.scopes import Scope, scopes_of
from api.form_fields import WholeNumberField
from events.models import Webhook, areas_of
from events.models.webhook import LONGEST_URL
from events.webhooks.targets import WrongWebhookUrl, parse_url
from events.webhooks.types import types_of, unknown_type
from imports.kinds import all_kinds, kind_of
from imports.models import SavedMapping
from imports.shop_exports import BUILT_IN
from inventory.models import Warehouse
from sftp_ingest.keys import parse_public_keys
from sftp_ingest.models import SftpLogin

Party = Supplier | Retailer


class KeyForm(forms.Form):
    """The form of a new API key: its name, scopes and networks."""

    name = forms.CharField(max_length=100, help_text="For example, the name of your shop system.")

    def __init__(self, party: Party, sent: dict[str, object] | None) -> None:
        super().__init__(sent)
        self.all_scopes = [scope for scope in Scope if scope in scopes_of(party.role)]
        for scope in self.all_scopes:
            area, verb = scope.value.split(":")
            label = f"{verb.capitalize()} {area}"
            self.fields[scope.value] = forms.BooleanField(label=label, required=False, initial=True)
        self.fields["allowed_networks"] = SimpleArrayField(
            forms.CharField(),
            required=False,
            help_text="Separate networks by commas: 192.0.2.0/24, 198.51.100.0/24. Leave empty to allow all.",
        )

    @classmethod
    def of(cls, party: Party, sent: dict[str, object] | None) -> KeyForm:
        return cls(party, sent)

    def clean_allowed_networks(self) -> list[str]:
        networks: list[str] = self.cleaned_data["allowed_networks"]
        for network in networks:
            validate_network(network)
        return networks

    def clean(self) -> dict[str, object]:
        """Collect the chosen scopes. If all scopes of the party's role are chosen, store None for "all"."""
        data = super().clean() or {}
        chosen = [scope.value for scope in self.all_scopes if data.pop(scope.value, False)]
        if not chosen:
            raise ValidationError("The key has no rights. Choose at least one.", code="no_scope")
        return {**data, "scopes": None if len(chosen) == len(self.all_scopes) else chosen}


class WebhookForm(forms.Form):
    """The form of a webhook: its URL and the types of its events."""

    url = forms.CharField(
        label="URL",
        max_length=LONGEST_URL,
        help_text="Begin with https://. Leave out user names and passwords.",
    )
    types = forms.CharField(
        label="Types of events",
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text="Enter one type per line. Leave empty to get all types.",
    )

    def __init__(self, party: Party, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.party = party

    @classmethod
    def of(cls, party: Party, sent: dict[str, object] | None) -> WebhookForm:
        return cls(party, sent)

    @classmethod
    def of_webhook(cls, webhook: Webhook, sent: dict[str, object] | None) -> WebhookForm:
        return cls(webhook.party, sent, initial={"url": webhook.url, "types": "\n".join(webhook.types)})

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        try:
            parse_url(url)
        except WrongWebhookUrl as error:
            raise ValidationError(str(error), code="invalid_url") from error
        return url

    def clean_types(self) -> list[str]:
        names = [*dict.fromkeys(self.cleaned_data["types"].replace(",", " ").split())]
        known = known_types(self.party)
        for name in names:
            if name not in known:
                raise ValidationError(f"{name}: {unknown_type(name, known, self.party.role)}", code="unknown")
        return names


def known_types(party: Party) -> list[str]:
    """Return the types of events that the party can receive."""
    return types_of(party.role, areas_of(scopes_of(party.role)))


class ReplayForm(forms.Form):
    """The form of the range of events to send again."""

    after = WholeNumberField(
        label="After event", min_value=0, help_text="The id of the last event that your system has."
    )
    until = WholeNumberField(
        label="Until event", min_value=0, required=False, help_text="Leave empty to send all events after it."
    )


class PublicKeysForm(forms.Form):
    """The form of the public keys of an SFTP login."""

    public_keys = forms.CharField(
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text="Enter one key per line: ssh-ed25519 AAAA… comment. Leave empty to allow no key.",
    )

    @classmethod
    def of(cls, login: SftpLogin, sent: dict[str, object] | None) -> PublicKeysForm:
        return cls(sent, initial={"public_keys": login.public_keys})

    def clean_public_keys(self) -> str:
        text: str = self.cleaned_data["public_keys"]
        try:
            parse_public_keys(text)
        except ValueError as error:
            raise ValidationError(str(error), code="invalid_key") from error
        return text


class LoginForm(PublicKeysForm):
    """The form of a new SFTP login: its username, and its keys or a password."""

    username = forms.SlugField(max_length=50, help_text="Letters, digits, hyphens and underscores.")
    wants_password = forms.BooleanField(
        label="Make a password", required=False, help_text="The next page shows it once."
    )
    field_order = ("username", "public_keys", "wants_password")

    @classmethod
    def of(cls, supplier: object, sent: dict[str, object] | None) -> LoginForm:
        return cls(sent)

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        if SftpLogin.objects.filter(username=username).exists():
            raise ValidationError("This username is taken. Choose another one.", code="taken")
        return username

    def clean(self) -> dict[str, object]:
        data = super().clean() or {}
        if not self.errors and not data["public_keys"].strip() and not data["wants_password"]:
            self.add_error("public_keys", "Enter a public key, or let the service make a password.")
        return data


class AutoImportForm(forms.Form):
    """The form of an automatic import: the kind of the files, their format, and the warehouse of stock."""

    kind = forms.ChoiceField(
        label="Content", choices=lambda: [(each.name, each.name.capitalize()) for each in _settable()]
    )
    mapping = forms.ChoiceField(label="Format of the files", required=False)
    warehouse_id = forms.TypedChoiceField(
        label="Warehouse", required=False, coerce=int, empty_value=None, help_text="Only for stock."
    )

    def __init__(self, supplier: Supplier, sent: dict[str, object] | None) -> None:
        super().__init__(sent)
        own = SavedMapping.objects.filter(supplier=supplier).values_list("name", flat=True)
        formats = [("", "Columns of the template"), *((each.name, each.title) for each in BUILT_IN.values())]
        self.fields["mapping"].choices = [*formats, *((name, name) for name in own)]  # type: ignore[attr-defined]
        warehouses = Warehouse.objects.filter(supplier=supplier).order_by("-is_default", "name")
        named = [*warehouses.values_list("pk", "name")]
        self.fields["warehouse_id"].choices = [("", "–"), *named]  # type: ignore[attr-defined]
        self.initial["warehouse_id"] = named[0][0] if named else ""

    @classmethod
    def of(cls, supplier: Supplier, sent: dict[str, object] | None) -> AutoImportForm:
        return cls(supplier, sent)

    def clean(self) -> dict[str, object]:
        """Check the settings of the import with the same rules as the API."""
        data = super().clean() or {}
        if "kind" not in data:
            return data
        kind = kind_of(data["kind"])
        given = {name: data[name] for name in ("mapping", "warehouse_id") if data.get(name)}
        if kind.has_saved_mappings:
            given.pop("warehouse_id", None)
        assert kind.api is not None  # `_settable` returns only kinds with `api`
        body = kind.api.settings_body(data=given)
        if not body.is_valid():
            raise ValidationError(_in_words(body.errors), code="settings")
        return {**data, "body": body}


def _in_words(errors: Mapping[str, Iterable[object]]) -> str:
    """Return the errors of the settings. The API's text about the warehouse names fields of the API."""
    if "warehouse_id" in errors:
        return "A stock file needs a warehouse. Choose one."
    return " ".join(str(text) for texts in errors.values() for text in texts)


def _settable() -> list[Any]:
    """Return the kinds for which a supplier may set up automatic imports."""
    return [kind for kind in all_kinds() if kind.api is not None]
