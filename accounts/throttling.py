"""The rate limit of each key (contract 2 and 12)."""

from __future__ import annotations

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from accounts.models import ApiKey
from accounts.rates import Count, counter, parse_rate


class KeyThrottle(BaseThrottle):
    """A throttle that counts the requests of each key, and reports the remaining requests in headers.

    Without Redis, requests pass without a count, because orders matter more than the limit.
    """

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        self._count: Count | None = None

    def allow_request(self, request: Request, view: object) -> bool:
        return self.allow_key(request.auth.key)

    def allow_key(self, key: ApiKey) -> bool:
        """Count one request of this key. Return whether the request is within the key's rate."""
        rate = parse_rate(key.rate_limit or settings.RATE_LIMIT)
        count = counter().hit(rate, f"key:{key.prefix}") if rate else None
        if count is None:
            return True
        self._count, self.headers = count, count.headers("key")
        return count.allowed

    def wait(self) -> float | None:
        return float(self._count.reset) if self._count else None
