"""Each process says now and then that it is alive, and how it fares: in Redis, where /metrics finds it."""

from __future__ import annotations

import functools
import json
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

logger = logging.getLogger(__name__)

KEY = "exchange:signs-of-life"
EVERY = 5.0  # seconds
ALIVE_FOR = 30.0
"""Seconds after its last sign for which a process counts."""
FORGOTTEN_AFTER = 86_400.0
"""Seconds after which nobody misses a part any more that was never heard of again."""
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Sign:
    """A process's last sign: `age` in seconds, `memory` in bytes, and what else its part has to say."""

    part: str
    host: str
    age: float
    memory: int
    facts: Mapping[str, float]

    @property
    def alive(self) -> bool:
        return self.age < ALIVE_FOR


def give(part: str, **facts: float) -> None:
    """Say that this process is alive as this part of the service. Without Redis nobody hears it."""
    host = socket.gethostname()
    said = {"part": part, "host": host, "at": time.time(), "memory": memory_of(os.getpid()), "facts": facts}
    try:
        _client().hset(KEY, f"{part}@{host}#{os.getpid()}", json.dumps(said))
    except RedisError:
        return  # what waits for Redis says so itself


def keep_giving(part: str, facts: Callable[[], Mapping[str, float]] = dict) -> None:
    """Give a sign every few seconds for as long as this process lives, from a thread of its own."""

    def go_on() -> None:
        never = threading.Event()
        give(part, **facts())
        while not never.wait(EVERY):
            give(part, **facts())

    threading.Thread(target=go_on, name=f"signs of {part}", daemon=True).start()


def all_signs() -> list[Sign]:
    """The last sign of every process that was heard of within a day. Raises RedisError."""
    client, now, signs, forgotten = _client(), time.time(), [], []
    for field, text in client.hgetall(KEY).items():
        said = json.loads(text)
        age = max(0.0, now - said["at"])
        if age > FORGOTTEN_AFTER:
            forgotten.append(field)
        else:
            signs.append(Sign(said["part"], said["host"], age, said["memory"], said["facts"]))
    if forgotten:
        client.hdel(KEY, *forgotten)
    return signs


def memory_of(process: int) -> int:
    """The resident memory of a process and of those that it has started, in bytes; 0 where none can say."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except (OSError, IndexError, ValueError):
        return 0
    return pages * PAGE + sum(memory_of(int(child)) for child in children)


@functools.cache
def _client() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=1.0,
        socket_connect_timeout=1.0,
        retry=Retry(NoBackoff(), 0),
        decode_responses=True,
    )
