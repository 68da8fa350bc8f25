"""The heartbeat that Celery workers write to Redis, and that /statusz looks for."""

from __future__ import annotations

from typing import Any

import redis
from django.conf import settings
from redis.exceptions import RedisError

from api import redis_clients

# A worker writes a heartbeat every 2 seconds, and counts as gone after this many seconds without one.
HEARTBEAT_TTL = 15
HEARTBEAT_KEY = "exchange:worker:heartbeat"


def redis_client() -> redis.Redis:
    """A client with short timeouts and no retries: a health check must answer soon."""
    return redis_clients.redis_client(settings.REDIS_URL, seconds=1.0)


def write_heartbeat(**_: Any) -> None:
    """Write the heartbeat.

    A Celery worker calls this every 2 seconds while it can take work from its broker.
    """
    try:
        with redis_client() as client:
            client.set(HEARTBEAT_KEY, "1", ex=HEARTBEAT_TTL)
    except RedisError:
        return  # the worker itself logs that the broker is unreachable


def has_heartbeat() -> bool:
    """Tell whether any worker wrote a heartbeat lately. Raises RedisError."""
    with redis_client() as client:
        return bool(client.exists(HEARTBEAT_KEY))
