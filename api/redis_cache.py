"""Django's Redis cache with the service's own Redis client, which also works with Sentinels."""

from __future__ import annotations

import functools

import redis
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from django.utils.functional import cached_property

from api.redis_clients import redis_client

ANSWER_WITHIN = 1.0  # seconds until a call to Redis fails


class Client(RedisCacheClient):
    """A cache client that uses the Redis client which all caches of this process share."""

    def __init__(self, url: str) -> None:
        super().__init__([url])
        self._url = url

    def get_client(self, key: object = None, *, write: bool = False) -> redis.Redis:
        return _client(self._url)


class Cache(RedisCache):
    """Django's Redis cache with a LOCATION of a single URL, which may contain commas between Sentinels."""

    def __init__(self, server: list[str], params: dict[str, object]) -> None:
        super().__init__(server, params)
        self._url = server[0]

    @cached_property
    def _cache(self) -> Client:
        return Client(self._url)


@functools.cache
def _client(url: str) -> redis.Redis:
    return redis_client(url, seconds=ANSWER_WITHIN)
