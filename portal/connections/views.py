"""The page of a party's keys, webhooks, SFTP logins and automatic imports, and the pages of their actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import reverse

from accounts.member_roles import Right
from accounts.models import ApiKey, Supplier
from accounts.operating.operator_actions import AdminAction
from events.models import Webhook
from imports.models import AutoImport
from portal.acting import PortalActionPage
from portal.connections import import_actions, key_actions, login_actions, webhook_actions
from portal.connections.selectors import (
    keys_of,
    newest_deliveries,
    shown_imports,
    shown_login,
    usable_keys,
    webhooks_of,
    webhooks_with_backlog,
)
from portal.connections.shown_once import secrets_of
from portal.navigation import ONLY_SUPPLIERS
from portal.pages import PortalPage, PortalRecordPage
from sftp_ingest.models import SftpLogin


class ConnectionsPage(PortalPage):
    """The page of a party's API keys and webhooks.

    For a supplier, the page also has the SFTP login and the automatic imports.
    """

    template = "portal/connections/connections.html"
    section = title = "Connections"
    right = Right.CONNECTIONS

    def context(self) -> dict[str, Any]:
        party = self.party
        own = {"keys": usable_keys(party), "webhooks": webhooks_with_backlog(party)}
        if not isinstance(party, Supplier):
            return own
        return {
            **own,
            "sends_files": True,
            "login": shown_login(party),
            "imports": shown_imports(party),
            "may_set_up_imports": self.visitor.may(Right.CATALOG),
        }


class WebhookPage(PortalRecordPage):
    """A webhook, its newest deliveries, and its possible actions."""

    template = "portal/connections/webhook.html"
    section = "Connections"
    right = Right.CONNECTIONS
    record: Webhook

    def of_party(self) -> QuerySet[Webhook]:
        return webhooks_of(self.party)

    def context(self) -> dict[str, object]:
        actions = [each for each in webhook_actions.OF_MEMBERS if each.is_possible(self.record)]
        return {
            "title": f"Webhook {self.record.pk}",
            "webhook": self.record,
            "deliveries": newest_deliveries(self.record),
            "actions": actions if self.may_change else [],
        }


class ConnectionActionPage(PortalActionPage):
    """The page of an action on a connection. A new secret is shown once, in the response to the action."""

    section = "Connections"
    right = Right.CONNECTIONS

    def back(self) -> str:
        return reverse("portal:connections")

    def record_name(self) -> str:
        return "Connections"

    def after_action(self) -> HttpResponse:
        secrets = secrets_of(self.record)
        if not secrets:
            return super().after_action()
        return self.show_secrets(secrets)

    def show_secrets(self, secrets: tuple[tuple[str, str], ...]) -> HttpResponse:
        """Show the secrets in this response: a message would store them in a cookie or in the session."""
        response = self.render({"title": self.action.label, "secrets": secrets, "back": self.back()})
        response.template_name = "portal/connections/secret.html"
        response.headers["Cache-Control"] = "no-store"
        return response


class PartyConnectionPage(ConnectionActionPage):
    """The page of an action that creates a connection for the party, such as a key."""

    actions: ClassVar[Sequence[AdminAction[Any]]] = (key_actions.CREATE_KEY, webhook_actions.CREATE_WEBHOOK)

    def of_party(self) -> QuerySet[Any]:
        return type(self.party).objects.filter(pk=self.party.pk)

    def find(self, pk: int = 0, action: str = "", **kwargs: Any) -> None:
        super().find(pk=self.party.pk, action=action)


class CreateLoginPage(PartyConnectionPage):
    """The page that creates the SFTP login of a supplier."""

    sides = ONLY_SUPPLIERS
    actions = (login_actions.CREATE_LOGIN,)


class SetUpImportPage(PartyConnectionPage):
    """The page that sets up an automatic import of a supplier."""

    sides = ONLY_SUPPLIERS
    right = Right.CATALOG
    actions = (import_actions.SET_UP,)


class KeyActionPage(ConnectionActionPage):
    actions = key_actions.OF_MEMBERS

    def of_party(self) -> QuerySet[ApiKey]:
        return keys_of(self.party)


class WebhookActionPage(ConnectionActionPage):
    actions = webhook_actions.OF_MEMBERS

    def of_party(self) -> QuerySet[Webhook]:
        return webhooks_of(self.party)

    def back(self) -> str:
        if self.record.removed_at or self.action.name == "remove":
            return super().back()
        return reverse("portal:webhook", args=[self.record.pk])

    def record_name(self) -> str:
        return f"Webhook {self.record.pk}"


class LoginActionPage(ConnectionActionPage):
    sides = ONLY_SUPPLIERS
    actions = login_actions.OF_MEMBERS

    def of_party(self) -> QuerySet[SftpLogin]:
        return SftpLogin.objects.filter(supplier=self.supplier).select_related("supplier")


class AutoImportActionPage(ConnectionActionPage):
    sides = ONLY_SUPPLIERS
    right = Right.CATALOG
    actions = import_actions.OF_MEMBERS

    def of_party(self) -> QuerySet[AutoImport]:
        return AutoImport.objects.filter(supplier=self.supplier).select_related("supplier")
