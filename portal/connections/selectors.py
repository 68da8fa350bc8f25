"""Queries of a party's connections for its pages. The pages show no stored secret."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import ApiKey, Retailer, Supplier
from accounts.operating.operator_actions import AdminAction
from events.models import Delivery, Webhook
from events.webhooks.selectors import WebhookBacklog, backlogs
from imports.kinds import kind_of
from imports.models import AutoImport
from portal.connections import import_actions, login_actions
from sftp_ingest.keys import fingerprints
from sftp_ingest.models import SftpLogin

SHOWN = 100
NEWEST = 50


@dataclass(frozen=True)
class ShownLogin:
    """An SFTP login with the fingerprints of its keys and its possible actions."""

    record: SftpLogin
    fingerprints: list[str]
    actions: list[AdminAction[SftpLogin]]


@dataclass(frozen=True)
class ShownAutoImport:
    """An automatic import with its folder, its format and its possible actions."""

    record: AutoImport
    folder: str
    format: str
    actions: list[AdminAction[AutoImport]]


def keys_of(party: Supplier | Retailer) -> QuerySet[ApiKey]:
    return ApiKey.objects.of_party(party).select_related("supplier", "retailer")


def usable_keys(party: Supplier | Retailer) -> QuerySet[ApiKey]:
    return keys_of(party).usable(at=timezone.now())[:SHOWN]  # type: ignore[attr-defined,no-any-return]


def webhooks_of(party: Supplier | Retailer) -> QuerySet[Webhook]:
    return Webhook.objects.present().for_party(party).select_related("supplier", "retailer")


def webhooks_with_backlog(party: Supplier | Retailer) -> list[tuple[Webhook, WebhookBacklog]]:
    webhooks = list(webhooks_of(party))
    waiting = backlogs([webhook.pk for webhook in webhooks])
    return [(webhook, waiting[webhook.pk]) for webhook in webhooks]


def newest_deliveries(webhook: Webhook) -> QuerySet[Delivery]:
    return Delivery.objects.filter(webhook=webhook).select_related("event").order_by("-event_id")[:NEWEST]


def shown_login(supplier: Supplier) -> ShownLogin | None:
    login = SftpLogin.objects.filter(supplier=supplier).first()
    if login is None:
        return None
    possible = [action for action in login_actions.OF_MEMBERS if action.is_possible(login)]
    return ShownLogin(login, fingerprints(login.public_keys), possible)


def shown_imports(supplier: Supplier) -> list[ShownAutoImport]:
    return [
        ShownAutoImport(
            automatic,
            kind_of(automatic.kind).folder,
            automatic.options.get("mapping") or "columns of the template",
            [action for action in import_actions.OF_MEMBERS if action.is_possible(automatic)],
        )
        for automatic in AutoImport.objects.filter(supplier=supplier).order_by("kind")
    ]
