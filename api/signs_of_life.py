"""Each process says now and then that it is alive, and how it fares: in Redis, where /metrics finds it."""

from __future__ import annotations

import atexit
import functools
import json
import logging
import os
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import redis
from django.conf import settings
from redis.exceptions import RedisError

from api.redis_clients import redis_client

logger = logging.getLogger(__name__)

KEY = "exchange:signs-of-life"
EVERY = 5.0  # seconds
ANSWER_WITHIN = 1.0  # seconds that Redis has
ALIVE_FOR = 30.0
"""Seconds after its last sign for which a process counts."""
MISSED_FOR = 3600.0
"""Seconds for which a part is missed on a host where it ended without a word; then that host is gone."""
FORGOTTEN_AFTER = 86_400.0
"""Seconds after which such a part is not even remembered."""
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


@dataclass(frozen=True)
class Place:
    """A part on a host: its processes that live, and the age of the last sign of any."""

    part: str
    host: str
    alive: Sequence[Sign]
    age: float

    @property
    def missed(self) -> bool:
        """Whether it ended without a word, not long ago."""
        return not self.alive and self.age < MISSED_FOR

    @property
    def memory(self) -> int:
        return sum(sign.memory for sign in self.alive)

    @property
    def facts(self) -> dict[str, float]:
        """What its processes say, added up."""
        total: defaultdict[str, float] = defaultdict(float)
        for sign in self.alive:
            for name, value in sign.facts.items():
                total[name] += value
        return dict(total)


_given: dict[str, int] = {}
"""The parts that this process is, with its own number: one that was forked says nothing at its end."""
_one_at_a_time = threading.Lock()


def give(part: str, **facts: float) -> None:
    """Say that this process is alive as this part of the service. Without Redis nobody hears it."""
    host = socket.gethostname()
    said = {"part": part, "host": host, "at": time.time(), "memory": memory_of(os.getpid()), "facts": facts}
    with _one_at_a_time:
        if _given.get(part) == 0:
            return  # it has taken its leave
        _given[part] = os.getpid()
        try:
            _client().hset(KEY, _field(part), json.dumps(said))
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


@atexit.register
def leave() -> None:
    """A process that ends in order is missed by nobody."""
    mine = [part for part, process in _given.items() if process == os.getpid()]
    if not mine or not _one_at_a_time.acquire(timeout=2 * ANSWER_WITHIN):
        return
    try:
        _given.update(dict.fromkeys(mine, 0))
        with suppress(RedisError):
            _client().hdel(KEY, *map(_field, mine))
    finally:
        _one_at_a_time.release()


def _field(part: str) -> str:
    return f"{part}@{socket.gethostname()}#{os.getpid()}"


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


def places(signs: Iterable[Sign]) -> list[Place]:
    """The parts on their hosts, in the order of their names."""
    found: defaultdict[tuple[str, str], list[Sign]] = defaultdict(list)
    for sign in signs:
        found[sign.part, sign.host].append(sign)
    return [
        Place(part, host, [sign for sign in each if sign.alive], min(sign.age for sign in each))
        for (part, host), each in sorted(found.items())
    ]


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
    return redis_client(settings.REDIS_URL, seconds=ANSWER_WITHIN, decode_responses=True)
