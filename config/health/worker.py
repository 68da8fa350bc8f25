"""The heartbeat that Celery workers write to Redis and /statusz reads."""

from __future__ import annotations

import redis
from django.conf import settings
from redis.exceptions import RedisError

from api import redis_clients

# A worker writes a heartbeat every 2 seconds. After this many seconds without a heartbeat it counts as dead.
HEARTBEAT_TTL = 15
HEARTBEAT_KEY = "exchange:worker:heartbeat"


def redis_client() -> redis.Redis:
    """Return a client with short timeouts and no retries, because a health check must answer soon."""
    return redis_clients.redis_client(settings.REDIS_URL, seconds=1.0)


def write_heartbeat(**_: object) -> None:
    """Write the heartbeat.

    A Celery worker calls this every 2 seconds while it can take work from its broker.
    """
    try:
        with redis_client() as client:
            client.set(HEARTBEAT_KEY, "1", ex=HEARTBEAT_TTL)
    except RedisError:
        return  # the worker itself logs that the broker is unreachable


def has_heartbeat() -> bool:
    """Return whether any worker wrote a heartbeat lately. Raises RedisError."""
    with redis_client() as client:
        return bool(client.exists(HEARTBEAT_KEY))
