"""Rates such as `6000/min`, counted exactly in Redis; without Redis nothing is counted, and nothing waits."""

from __future__ import annotations

import functools
import logging
import math
import re
import time
from dataclasses import dataclass

import redis
from django.conf import settings
from django.core.exceptions import ValidationError
from limits import (
    RateLimitItem,
    RateLimitItemPerDay,
    RateLimitItemPerHour,
    RateLimitItemPerMinute,
    RateLimitItemPerSecond,
)
from redis.backoff import NoBackoff
from redis.commands.core import Script
from redis.exceptions import RedisError
from redis.retry import Retry

logger = logging.getLogger(__name__)

RATE = re.compile(r"([1-9][0-9]{0,8})/(?:(s(?:ec(?:ond)?)?)|(m(?:in(?:ute)?)?)|(h(?:our)?)|(d(?:ay)?))")
UNITS = (RateLimitItemPerSecond, RateLimitItemPerMinute, RateLimitItemPerHour, RateLimitItemPerDay)
# An answer from Redis takes well under a millisecond. One that takes this long is not worth an order's wait.
TIMEOUT = 0.5
# For so many seconds after a failure Redis is not asked again, so that its absence costs one request in many.
PAUSE = 2.0


@dataclass(frozen=True)
class Count:
    """What a rate has left; `reset` and `window` in whole seconds."""

    allowed: bool
    limit: int
    remaining: int
    reset: int
    window: int


@functools.lru_cache(maxsize=1000)
def parse_rate(text: str) -> RateLimitItem | None:
    """`6000/min` as a rate, `off` as none. Raises ValueError for what is neither."""
    plain = text.strip().lower().replace(" ", "")
    if plain == "off":
        return None
    found = RATE.fullmatch(plain)
    if found is None:
        raise ValueError(f"{text!r} is not a rate such as 6000/min or 100/s, nor off")
    amount, *units = found.groups()
    kind = next(kind for kind, unit in zip(UNITS, units, strict=True) if unit)
    return kind(int(amount))


def validate_rate(value: str) -> None:
    """Refuse what is no rate, where an operator types one."""
    try:
        parse_rate(value)
    except ValueError as error:
        raise ValidationError(f"{error}.") from error


# A window begins with its first hit, and ends by itself. One round trip: this is asked at every request.
HIT = """
local count = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
    left = tonumber(ARGV[1])
end
return {count, left}
"""
LOOK = """
return {tonumber(redis.call('GET', KEYS[1]) or '0') + 1, redis.call('PTTL', KEYS[1])}
"""


class Counter:
    """Counts hits against rates; answers None while Redis does not answer."""

    def __init__(self, url: str) -> None:
        # Scripts and windows live in Redis: any number of processes admit exactly the rate, together.
        client = redis.Redis.from_url(
            url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT, retry=Retry(NoBackoff(), 0)
        )
        self._hit, self._look = client.register_script(HIT), client.register_script(LOOK)
        self._paused_until = 0.0

    def hit(self, rate: RateLimitItem, name: str) -> Count | None:
        """Count one more; whether it was still allowed."""
        return self._ask(self._hit, rate, name)

    def look(self, rate: RateLimitItem, name: str) -> Count | None:
        """Whether one more would be allowed."""
        return self._ask(self._look, rate, name)

    def _ask(self, script: Script, rate: RateLimitItem, name: str) -> Count | None:
        if time.monotonic() < self._paused_until:
            return None
        window = rate.get_expiry()
        try:
            number, left = script(keys=[f"exchange:rate:{name}:{rate.amount}/{window}"], args=[window * 1000])
        except RedisError as error:
            self._paused_until = time.monotonic() + PAUSE
            logger.warning("requests are not counted: Redis does not answer (%s)", type(error).__name__)
            return None
        reset = max(1, math.ceil(left / 1000))
        return Count(number <= rate.amount, rate.amount, max(0, rate.amount - number), reset, window)


@functools.cache
def counter() -> Counter:
    """This process's counter in the configured Redis."""
    return Counter(settings.REDIS_URL)
