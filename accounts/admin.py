"""Admin pages for access tokens and idempotency keys. Operators can only read them.

Parties, partnerships and API keys are registered in `backoffice.admin`: their changes are recorded as events,
and this app may not import `events`.
"""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Q

from accounts.models import AccessToken, ApiKey, IdempotencyKey
from accounts.operating.admin_base import ReadOnlyAdmin


@admin.register(AccessToken)
class AccessTokenAdmin(ReadOnlyAdmin[AccessToken]):
    list_display = ("prefix", "key", "scopes", "expires_at", "created_at")
    fields = ("prefix", "key", "scopes", "expires_at", "created_at")
    list_select_related = ("key",)
    search_help_text = "The prefix of a token or of its key, up to the second underscore."

    def search_condition(self, term: str) -> Q:
        # Run two queries: a single query with an OR and a subquery would read all tokens.
        keys = [*ApiKey.objects.filter(prefix=term).values_list("pk", flat=True)]
        return Q(prefix=term) | Q(key__in=keys)


@admin.register(IdempotencyKey)
class IdempotencyKeyAdmin(ReadOnlyAdmin[IdempotencyKey]):
    """The admin of idempotency keys. It hides the stored responses, because they contain the party's data."""

    list_display = ("party", "key", "status", "created_at")
    fields = ("party", "key", "status", "created_at")
    search_help_text = "A party such as retailer:7, optionally followed by a space and the key."

    def search_condition(self, term: str) -> Q:
        party, _, key = term.partition(" ")
        return Q(party=party, key=key.strip()) if key else Q(party=party)
