"""Encrypt what was encrypted with an older SECRET_KEY with the one of now (docs/running.md)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from accounts.encryption import renew
from accounts.models import IdempotencyKey
from events.models import Webhook
from sftp_ingest.models import RemoteHost

# What an operator's second factor keeps encrypted, of an app and of recovery codes.
OF_FACTORS = ("secret", "seed")


class Command(BaseCommand):
    help = "Encrypts every stored secret with SECRET_KEY anew; then SECRET_KEY_FALLBACKS is needed no more."

    def handle(self, *args: Any, **options: Any) -> None:
        unreadable: list[str] = []
        renewed = _renew_hosts(unreadable) + _renew_factors(unreadable) + _renew_webhooks(unreadable)
        renewed += _renew_answers()
        self.stdout.write(f"{renewed} secrets are encrypted with SECRET_KEY now.")
        if unreadable:
            raise CommandError(f"No key reads those of: {', '.join(unreadable)}. They must be entered anew.")


@transaction.atomic
def _renew_hosts(unreadable: list[str]) -> int:
    """Passwords of suppliers' own hosts."""
    renewed = 0
    for host in RemoteHost.objects.exclude(password="").select_for_update(of=("self",)).order_by("pk"):
        try:
            host.password = renew(host.password)
        except ValueError:
            unreadable.append(str(host))
        else:
            host.save(update_fields=["password"])
            renewed += 1
    return renewed


@transaction.atomic
def _renew_factors(unreadable: list[str]) -> int:
    """Keys of operators' second factors."""
    renewed = 0
    for factor in Authenticator.objects.select_for_update(of=("self",)).order_by("pk"):
        secrets = {name: factor.data[name] for name in OF_FACTORS if name in factor.data}
        try:
            factor.data |= {name: renew(secret) for name, secret in secrets.items()}
        except ValueError:
            unreadable.append(f"{factor.user} ({factor.type})")
        else:
            factor.save(update_fields=["data"])
            renewed += len(secrets)
    return renewed


@transaction.atomic
def _renew_webhooks(unreadable: list[str]) -> int:
    """What deliveries are signed with, the old secrets that still count among them."""
    renewed = 0
    for webhook in Webhook.objects.present().select_for_update(of=("self",)).order_by("pk"):
        try:
            webhook.secret = renew(webhook.secret)
            webhook.old_secret = renew(webhook.old_secret) if webhook.old_secret else ""
        except ValueError:
            unreadable.append(f"webhook {webhook.pk}")
        else:
            webhook.save(update_fields=["secret", "old_secret"])
            renewed += 1 + bool(webhook.old_secret)
    return renewed


@transaction.atomic
def _renew_answers() -> int:
    """Kept answers that show a secret. None is entered anew: what cannot be read is gone within a day."""
    renewed = 0
    for kept in IdempotencyKey.objects.filter(encrypted=True).select_for_update().order_by("pk"):
        with suppress(ValueError):
            kept.with_body(kept.read_body(), secret=True).save(update_fields=["body"])
            renewed += 1
    return renewed
