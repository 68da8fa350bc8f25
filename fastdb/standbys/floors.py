"""The floor of a client: the position of the client's last change or answer in the write-ahead log.

The client must not read a state before this position. Redis keeps the position until every standby that may
answer has passed the position. If Redis does not answer, the client reads from the primary.
"""

from __future__ import annotations

import functools
import logging
import math
import time

import redis
from django.conf import settings
from django.db import DatabaseError, InterfaceError

from api.redis_clients import redis_client
from fastdb.standbys.states import primary_position

logger = logging.getLogger(__name__)

ANSWER_WITHIN = 0.5
PAUSE = 2.0
"""Seconds for which Redis is not asked again after a failure."""
MARGIN = 1
"""Seconds that a position is kept beyond REPLICA_MAX_LAG."""
MEMBER = "position"


class _Doubt:
    """The time until which this process does not know the positions of clients."""

    until = 0.0


def floor_of(client: str) -> int | None:
    """Return the position that a standby must have replayed before this client may read from it.

    0 allows every position. None means that the position is unknown.
    """
    if not client:
        return 0
    if time.monotonic() < _Doubt.until:
        return None
    try:
        score = _redis().zscore(_key(client), MEMBER)
    except redis.RedisError as error:
        _doubt(PAUSE, error)
        return None
    return int(score) if score is not None else 0


def raise_floor(client: str, position: int | None = None) -> None:
    """Keep this client from reading a state before this position in the write-ahead log.

    The default is the primary's position.
    """
    if not client:
        return
    try:
        reached = primary_position() if position is None else position
        pipeline = _redis().pipeline(transaction=False)
        # `gt` keeps the later position of two concurrent requests. Redis scores are exact up to 9 PB of log.
        pipeline.zadd(_key(client), {MEMBER: reached}, gt=True)
        pipeline.expire(_key(client), math.ceil(settings.REPLICA_MAX_LAG) + MARGIN)
        pipeline.execute()
    except (redis.RedisError, DatabaseError, InterfaceError) as error:
        _doubt(settings.REPLICA_MAX_LAG + MARGIN, error)


def _doubt(seconds: float, error: Exception) -> None:
    _Doubt.until = max(_Doubt.until, time.monotonic() + seconds)
    logger.warning("For %.0f seconds, no client reads from a standby: %s", seconds, type(error).__name__)


def _key(client: str) -> str:
    return f"exchange:read-floor:{client}"


@functools.cache
def _redis() -> redis.Redis:
    return redis_client(settings.REDIS_URL, seconds=ANSWER_WITHIN)
