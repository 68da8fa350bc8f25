"""So many requests a minute for each key, counted exactly in Redis."""

from __future__ import annotations

import functools
import logging
import math
import time

from django.conf import settings
from limits import RateLimitItem, parse
from limits.storage import storage_from_string
from limits.strategies import FixedWindowRateLimiter, RateLimiter
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

logger = logging.getLogger(__name__)


@functools.cache
def limiter() -> RateLimiter:
    return FixedWindowRateLimiter(storage_from_string(settings.REDIS_URL, socket_timeout=1.0))


@functools.lru_cache(maxsize=1000)
def limit_of(text: str) -> RateLimitItem | None:
    """`6000/min` as a limit; `off` as none."""
    return None if text.lower() == "off" else parse(text)


class KeyThrottle(BaseThrottle):
    """Counts a request against its key, and tells how many are left.

    Without Redis requests pass uncounted: orders matter more than the limit.
    """

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        self._wait: float | None = None

    def allow_request(self, request: Request, view: object) -> bool:
        limit = limit_of(request.auth.key.rate_limit or settings.RATE_LIMIT)
        if limit is None:
            return True
        try:
            return self._count(limit, f"key:{request.auth.key.pk}")
        except RedisError:
            logger.warning("requests are not counted: Redis does not answer")
            return True

    def wait(self) -> float | None:
        return self._wait

    def _count(self, limit: RateLimitItem, name: str) -> bool:
        allowed = limiter().hit(limit, name)
        window = limiter().get_window_stats(limit, name)
        self._wait = max(1.0, window.reset_time - time.time())
        self.headers = {
            "RateLimit-Limit": str(limit.amount),
            "RateLimit-Remaining": str(window.remaining),
            "RateLimit-Reset": str(math.ceil(self._wait)),
        }
        return allowed
