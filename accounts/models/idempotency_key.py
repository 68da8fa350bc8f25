"""Stored responses to requests with an Idempotency-Key."""

from __future__ import annotations

from typing import Self

from django.db import models
from django.db.models import F
from django.db.models.functions import Now

from accounts.encryption import decrypt, encrypt


class IdempotencyKey(models.Model):
    """The first response to a request with an Idempotency-Key (contract 2 and 12)."""

    party = models.CharField(max_length=30, help_text="Such as supplier:1")
    key = models.CharField(max_length=255)
    request_digest = models.CharField(max_length=64, help_text="A digest of method, path and body.")
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField(default=dict)
    body = models.BinaryField()
    encrypted = models.BooleanField(
        default=False, db_default=False, help_text="The body holds a secret, so it is stored encrypted."
    )
    created_at = models.DateTimeField(db_default=Now(), db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(F("party"), F("key"), name="idempotency_key_once")]

    def __str__(self) -> str:
        return f"{self.party} {self.key}"

    def with_body(self, body: bytes, *, secret: bool) -> Self:
        """Set the stored body, encrypted if it holds a secret."""
        self.body = encrypt(body.decode()).encode() if secret else body
        self.encrypted = secret
        return self

    def read_body(self) -> bytes:
        """Return the body of the response. Raises ValueError if no SECRET_KEY can decrypt it."""
        body = bytes(self.body)
        return decrypt(body.decode()).encode() if self.encrypted else body
