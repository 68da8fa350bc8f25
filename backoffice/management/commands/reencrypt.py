"""`manage.py reencrypt`: encrypt all stored secrets with the current SECRET_KEY (docs/running.md)."""

from __future__ import annotations

from contextlib import suppress

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from accounts.encryption import renew
from accounts.models import IdempotencyKey
from events.models import Webhook
from sftp_ingest.models import RemoteHost

# Names of the encrypted values of a second factor: `secret` for an authenticator app, `seed` for
# recovery codes.
OF_FACTORS = ("secret", "seed")


class Command(BaseCommand):
    help = "Encrypt every stored secret with the current SECRET_KEY. Then empty SECRET_KEY_FALLBACKS."

    def handle(self, *args: object, **options: object) -> None:
        unreadable: list[str] = []
        renewed = _renew_hosts(unreadable) + _renew_factors(unreadable) + _renew_webhooks(unreadable)
        renewed += _renew_answers()
        self.stdout.write(f"{renewed} secrets are now encrypted with SECRET_KEY.")
        if unreadable:
            raise CommandError(f"No key decrypts the secrets of: {', '.join(unreadable)}. Enter them again.")


@transaction.atomic
def _renew_hosts(unreadable: list[str]) -> int:
    """Encrypt the passwords of remote hosts again, and return the number of renewed secrets."""
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
    """Encrypt the secrets of operators' second factors again."""
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
    """Encrypt the signing secrets of webhooks again, including old secrets that are still valid."""
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
    """Encrypt the stored responses with secrets again. Ignore unreadable responses: they soon expire."""
    renewed = 0
    for stored in IdempotencyKey.objects.filter(encrypted=True).select_for_update().order_by("pk"):
        with suppress(ValueError):
            stored.with_body(stored.read_body(), secret=True).save(update_fields=["body"])
            renewed += 1
    return renewed
