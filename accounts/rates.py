"""Rate limits such as `6000/min`. A hit is a counted request or try, and Redis counts the hits.

While Redis does not answer, nothing is limited.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import math
import os
import re
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from django.conf import settings
from django.core.exceptions import ValidationError
from limits import (
    RateLimitItem,
    RateLimitItemPerDay,
    RateLimitItemPerHour,
    RateLimitItemPerMinute,
    RateLimitItemPerSecond,
)
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import NoScriptError, RedisError

from api.redis_clients import redis_client

logger = logging.getLogger(__name__)

RATE = re.compile(r"([1-9][0-9]{0,8})/(?:(s(?:ec(?:ond)?)?)|(m(?:in(?:ute)?)?)|(h(?:our)?)|(d(?:ay)?))")
UNITS = (RateLimitItemPerSecond, RateLimitItemPerMinute, RateLimitItemPerHour, RateLimitItemPerDay)
# Redis usually answers in under a millisecond. A request must not wait longer only to be counted.
TIMEOUT = 0.5
# Seconds after a failure in which Redis is not called again, so that few requests wait for the timeout.
PAUSE = 2.0


@dataclass(frozen=True)
class Count:
    """The hits that a rate still allows in its time window. `reset` and `window` are whole seconds."""

    allowed: bool
    limit: int
    remaining: int
    reset: int
    window: int

    def headers(self, counted: str) -> dict[str, str]:
        """Return the headers that show this count. `counted` is the limited object, such as `key`."""
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(self.reset),
            # Repeat the values in the headers of draft-ietf-httpapi-ratelimit-headers, a draft of the IETF.
            "RateLimit-Policy": f'"{counted}";q={self.limit};w={self.window}',
            "RateLimit": f'"{counted}";r={self.remaining};t={self.reset}',
        }


@functools.lru_cache(maxsize=1000)
def parse_rate(text: str) -> RateLimitItem | None:
    """Return the rate of a text such as `6000/min`; None for `off`. Raises ValueError."""
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
    """Check the rate that an operator typed. Raises ValidationError."""
    try:
        parse_rate(value)
    except ValueError as error:
        raise ValidationError(f"{error}.") from error


# A time window begins with its first hit, and Redis deletes the counter when the window ends. The script runs
# for each request: it takes one round trip, and separate commands would take several.
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
return {tonumber(redis.call('GET', KEYS[1]) or '0'), redis.call('PTTL', KEYS[1])}
"""


class RedisConnection(Protocol):
    """The methods of a redis-py connection that are used here."""

    @property
    def is_connected(self) -> bool: ...
    def connect(self) -> None: ...
    def send_command(self, *args: str | int) -> None: ...
    def read_response(self, *, disconnect_on_error: bool) -> Any: ...


class Connections:
    """One connection to Redis for each thread."""

    def __init__(self, url: str) -> None:
        self._pool: Any = redis_client(url, seconds=TIMEOUT).connection_pool
        self._threads = threading.local()

    def current(self) -> RedisConnection:
        """Return this thread's connection, which may not be connected yet. The thread's end closes it."""
        process, found = getattr(self._threads, "connection", (0, None))
        if found is None or process != os.getpid():  # a fork needs its own connection
            found = self._pool.connection_class(**self._pool.connection_kwargs)
            self._threads.connection = os.getpid(), found
        connection: RedisConnection = found
        return connection


class Script:
    """A Lua script stored in Redis, called over this thread's connection.

    The scripts of redis-py use its connection pool. They would take twice the time of this class in each
    request.
    """

    def __init__(self, text: str, connections: Connections) -> None:
        self._text, self._connections = text, connections
        # Redis finds a script by its SHA-1.
        self._digest = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()

    def run(self, key: str, argument: int) -> list[int]:
        """Run the script and return its answer. Raises RedisError."""
        connection = self._connections.current()
        if connection.is_connected:
            with suppress(ConnectionLost):  # Redis may have restarted and dropped the connection
                return self._ask(connection, key, argument)
        connection.connect()
        return self._ask(connection, key, argument)

    def _ask(self, connection: RedisConnection, key: str, argument: int) -> list[int]:
        try:
            connection.send_command("EVALSHA", self._digest, 1, key, argument)
            answer: list[int] = connection.read_response(disconnect_on_error=True)
        except NoScriptError:
            connection.send_command("EVAL", self._text, 1, key, argument)
            answer = connection.read_response(disconnect_on_error=True)
        return answer


class Counter:
    """A counter of hits for rate limits, in Redis. Its methods return None while Redis does not answer."""

    def __init__(self, url: str) -> None:
        # Redis counts for all processes, so all processes together allow exactly the rate.
        connections = Connections(url)
        self._hit, self._look = Script(HIT, connections), Script(LOOK, connections)
        self._paused_until = 0.0

    def hit(self, rate: RateLimitItem, name: str) -> Count | None:
        """Count one hit. The result says whether the hit was allowed."""
        return self._ask(self._hit, rate, name, most=rate.amount)

    def look(self, rate: RateLimitItem, name: str) -> Count | None:
        """Read the count without a hit. The result says whether one more hit would be allowed."""
        return self._ask(self._look, rate, name, most=rate.amount - 1)

    def _ask(self, script: Script, rate: RateLimitItem, name: str, *, most: int) -> Count | None:
        """Run a script. More hits than `most` are not allowed."""
        if time.monotonic() < self._paused_until:
            return None
        window = rate.get_expiry()
        try:
            number, left = script.run(f"exchange:rate:{name}:{rate.amount}/{window}", window * 1000)
        except RedisError as error:
            self._paused_until = time.monotonic() + PAUSE
            logger.warning("requests are not counted: Redis does not answer (%s)", type(error).__name__)
            return None
        reset = max(1, math.ceil(left / 1000)) if left >= 0 else window  # no window has begun
        return Count(number <= most, rate.amount, max(0, rate.amount - number), reset, window)


@functools.cache
def counter() -> Counter:
    """Return the counter of this process."""
    return Counter(settings.REDIS_URL)
