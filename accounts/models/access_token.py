"""OAuth access tokens."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Self

from django.db import models
from django.utils import timezone

from accounts.models.api_key import ApiKey
from accounts.models.credential import Credential
from accounts.scopes import Scope


class AccessToken(Credential):
    """An OAuth access token, issued for an API key at /oauth/token. The token ends when the key ends."""

    PREFIX_MARK = "fxt"

    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="tokens")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.prefix}…"

    @classmethod
    def issue(cls, key: ApiKey, scopes: frozenset[Scope], lifetime: timedelta) -> tuple[Self, str]:
        """Issue a token for a key and return it with its secret. The token never outlives the key."""
        end = timezone.now() + lifetime
        if key.expires_at is not None:
            end = min(end, key.expires_at)
        token = cls(key=key, scopes=sorted(scope.value for scope in scopes), expires_at=end)
        secret = token.make_secret()
        token.save()
        return token, secret

    @property
    def seconds_left(self) -> int:
        """Return the whole seconds until the token ends."""
        assert self.expires_at is not None  # `issue` sets the end of every token
        return max(0, math.floor((self.expires_at - timezone.now()).total_seconds()))
