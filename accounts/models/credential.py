"""The common base of API keys and access tokens."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from accounts.scopes import Scope


def hash_secret(secret: str) -> str:
    """Return the stored form of a secret. A fast hash is enough, because the secret has 256 random bits."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Credential(models.Model):
    """A bearer secret. It is shown once, stored as a digest, and looked up by its public prefix."""

    PREFIX_MARK: ClassVar[str]

    prefix = models.CharField(max_length=20, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    scopes = ArrayField(
        models.CharField(max_length=30, choices=Scope.choices),
        null=True,
        blank=True,
        help_text="Empty: all scopes of the party's role.",
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        abstract = True

    def make_secret(self) -> str:
        """Give this unsaved credential a new secret and return the secret. It cannot be read again later."""
        self.prefix = f"{self.PREFIX_MARK}_{secrets.token_hex(6)}"
        secret = f"{self.prefix}_{secrets.token_urlsafe(32)}"
        self.digest = hash_secret(secret)
        return secret

    def matches(self, secret: str) -> bool:
        return hmac.compare_digest(self.digest, hash_secret(secret))

    @staticmethod
    def prefix_of(secret: str) -> str:
        """Return the public part of a secret: the text before its second underscore."""
        return "_".join(secret.split("_")[:2])
