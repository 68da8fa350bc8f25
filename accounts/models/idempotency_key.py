"""Kept answers to requests with an Idempotency-Key."""

from __future__ import annotations

from django.db import models
from django.db.models import F
from django.db.models.functions import Now


class IdempotencyKey(models.Model):
    """The first answer to a request that carried an Idempotency-Key (contract 2 and 12)."""

    party = models.CharField(max_length=30, help_text="Such as supplier:1")
    key = models.CharField(max_length=255)
    request_digest = models.CharField(max_length=64, help_text="Of method, path and body.")
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField(default=dict)
    body = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now(), db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(F("party"), F("key"), name="idempotency_key_once")]

    def __str__(self) -> str:
        return f"{self.party} {self.key}"
