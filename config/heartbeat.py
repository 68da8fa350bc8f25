"""The sign of life that a worker gives, and that /readyz looks for."""

from __future__ import annotations

from typing import Any

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

# A worker beats every 2 seconds; one that has been silent for this long answers to nobody.
SILENCE = 15
BEAT = "exchange:worker:heartbeat"


def client() -> redis.Redis:
    """Redis with little patience: who asks for its health wants to know now."""
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=1.0, socket_connect_timeout=1.0, retry=Retry(NoBackoff(), 0)
    )


def note_heartbeat(**_: Any) -> None:
    """Called in a Celery worker, every 2 seconds while it is connected to its broker and takes work."""
    try:
        with client() as line:
            line.set(BEAT, "1", ex=SILENCE)
    except RedisError:
        return  # the worker itself reports a broker that is gone


def heard() -> bool:
    """Whether any worker has given a sign of late. Raises RedisError."""
    with client() as line:
        return bool(line.exists(BEAT))
