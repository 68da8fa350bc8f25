"""Django's cache in Redis, that comes there as everything else does: by Sentinels, too."""

from __future__ import annotations

import functools
from typing import Any

import redis
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from django.utils.functional import cached_property

from api.redis_clients import redis_client

ANSWER_WITHIN = 1.0  # seconds


class Client(RedisCacheClient):
    """Asks by the one client of this process."""

    def __init__(self, url: str) -> None:
        super().__init__([url])
        self._url = url

    def get_client(self, key: Any = None, *, write: bool = False) -> redis.Redis:
        return _client(self._url)


class Cache(RedisCache):
    """As Django's. Its LOCATION is a list of one URL, which may itself have commas."""

    def __init__(self, server: list[str], params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._url = server[0]

    @cached_property
    def _cache(self) -> Client:
        return Client(self._url)


@functools.cache
def _client(url: str) -> redis.Redis:
    return redis_client(url, seconds=ANSWER_WITHIN)
