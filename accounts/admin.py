"""Rows that keys leave behind, for operators to read.

The parties, their partnerships and their keys are in `backoffice.admin`: what operators change of them is
recorded as events, which this app cannot see.
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
    search_help_text = "The beginning of a token or of its key, up to the second underscore."

    def search_condition(self, term: str) -> Q:
        # In steps: an OR with a subquery would read all tokens.
        keys = [*ApiKey.objects.filter(prefix=term).values_list("pk", flat=True)]
        return Q(prefix=term) | Q(key__in=keys)


@admin.register(IdempotencyKey)
class IdempotencyKeyAdmin(ReadOnlyAdmin[IdempotencyKey]):
    """Without the kept answers: they hold what their party received."""

    list_display = ("party", "key", "status", "created_at")
    fields = ("party", "key", "status", "created_at")
    search_help_text = "A party such as retailer:7; behind a space the key, too."

    def search_condition(self, term: str) -> Q:
        party, _, key = term.partition(" ")
        return Q(party=party, key=key.strip()) if key else Q(party=party)
