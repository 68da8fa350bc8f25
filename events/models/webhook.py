"""Webhooks: URLs of parties to which the service sends their events."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import HashIndex
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from accounts.encryption import decrypt, encrypt
from accounts.models import OfOneParty, Retailer, Supplier, of_one_party
from events.models.relay import Sender

LONGEST_URL = 2000


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def present(self) -> Self:
        """Return the webhooks that were not removed. The rows of removed webhooks are deleted later."""
        return self.filter(removed_at=None)

    def for_party(self, party: Supplier | Retailer) -> Self:
        return self.filter(**{party.role.value: party})

    def in_areas(self, areas: Iterable[str]) -> Self:
        """Return the webhooks that send only events of these areas."""
        return self.filter(areas__contained_by=sorted(areas))


class Webhook(OfOneParty):
    """A party's URL for events, the wanted types of events, and the recent answers of the receiver."""

    OVERLAP = timedelta(hours=24)
    MOST_OLD = 3  # the encrypted text of three secrets fits into the column

    supplier = models.ForeignKey(Supplier, on_delete=models.PROTECT, null=True, related_name="webhooks")
    retailer = models.ForeignKey(Retailer, on_delete=models.PROTECT, null=True, related_name="webhooks")
    url = models.CharField(max_length=LONGEST_URL)
    types = ArrayField(
        models.CharField(max_length=50), default=list, blank=True, help_text="Empty: all types of its areas."
    )
    areas = ArrayField(models.CharField(max_length=20), help_text="The areas that its creating key may see.")
    active = models.BooleanField(default=True)
    secret = models.CharField(max_length=300, editable=False, help_text="Encrypted.")
    old_secret = models.CharField(max_length=300, blank=True, editable=False)
    old_secret_until = models.DateTimeField(null=True, editable=False)
    after = models.BigIntegerField(help_text="The number of the last event before its creation.")
    sender = models.ForeignKey(Sender, on_delete=models.SET_NULL, null=True, related_name="webhooks")
    delivered_at = models.DateTimeField(null=True, help_text="When its receiver last accepted a delivery.")
    failed_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True, help_text="Empty: the last delivery was accepted.")
    last_error = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    removed_at = models.DateTimeField(null=True)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [of_one_party("webhook_of_one_party")]
        indexes = [HashIndex("url", name="webhook_url")]

    def __str__(self) -> str:
        return f"{self.url} of {self.party}"

    def make_secret(self, *, at: datetime | None = None) -> str:
        """Set a new secret and return its text, which is shown once. The older secrets also sign for 24 h.

        A rotation may be repeated because its answer was lost. Therefore the last MOST_OLD secrets are kept.
        """
        now = at or timezone.now()
        if self.secret:
            try:
                older = self.read_secrets(at=now)[: self.MOST_OLD]
                self.old_secret, self.old_secret_until = encrypt(" ".join(older)), now + self.OVERLAP
            except ValueError:  # SECRET_KEY has changed, so no older secret can sign any more
                self.old_secret, self.old_secret_until = "", None
        secret = f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"
        self.secret = encrypt(secret)
        return secret

    def read_secrets(self, *, at: datetime) -> list[str]:
        """Return the secrets that sign deliveries, newest first. Raises ValueError if SECRET_KEY changed."""
        current = [decrypt(self.secret)]
        if self.old_secret and self.old_secret_until and self.old_secret_until > at:
            current += decrypt(self.old_secret).split()
        return current
