"""Heartbeats: each process writes a sign of life with some facts to Redis, and /metrics reads the signs."""

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
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import redis
from django.conf import settings
from redis.exceptions import RedisError

from api import watchdog
from api.main_loop import STUCK_AFTER, MainLoop
from api.redis_clients import redis_client

logger = logging.getLogger(__name__)

KEY = "exchange:signs-of-life"
EVERY = 5.0  # the seconds between two signs of life of the same part
ANSWER_WITHIN = 1.0  # seconds until a call to Redis fails
ALIVE_FOR = 30.0
"""Seconds for which a process counts as alive after its last sign."""
MISSED_FOR = 3600.0
"""Seconds for which a silent part counts as missing on its host. Later, the host counts as removed."""
FORGOTTEN_AFTER = 86_400.0
"""Seconds after which the sign of a silent part is deleted."""
PAGE = os.sysconf("SC_PAGE_SIZE")


class Age(float):
    """A fact that is an age in seconds. Of several processes, the smallest age counts instead of the sum."""


@dataclass(frozen=True)
class Sign:
    """The last sign of a process: `age` in seconds, `memory` in bytes, and the facts of its part."""

    part: str
    host: str
    age: float
    memory: int
    facts: Mapping[str, float]

    @property
    def alive(self) -> bool:
        return self.age < ALIVE_FOR


@dataclass(frozen=True)
class PartOnHost:
    """A part of the service on one host: its living processes, and the age of its newest sign."""

    part: str
    host: str
    alive: Sequence[Sign]
    age: float

    @property
    def missed(self) -> bool:
        """Whether the part became silent within the last hour without signing off."""
        return not self.alive and self.age < MISSED_FOR

    @property
    def memory(self) -> int:
        return sum(sign.memory for sign in self.alive)

    @property
    def facts(self) -> dict[str, float]:
        """The sum of each fact over all living processes, or the smallest age."""
        values: defaultdict[str, list[float]] = defaultdict(list)
        for sign in self.alive:
            for name, value in sign.facts.items():
                values[name].append(value)
        return {name: (min if isinstance(found[0], Age) else sum)(found) for name, found in values.items()}


_given: dict[str, int] = {}
"""The parts of this process, each with its process id (0 after it signed off).

The process ids keep a forked child from signing off for its parent.
"""
_stuck: set[str] = set()
"""The parts of this process whose main loop hangs. Several parts may share a process (docs/adr/0096)."""
_one_at_a_time = threading.Lock()


def give(part: str, **facts: float) -> None:
    """Report to the watchdog and to Redis that this part is alive. Errors of Redis are ignored.

    While another part of this process hangs, the watchdog gets no report. The watchdog then kills the
    process.
    """
    if not _stuck:
        watchdog.reassure()
    host, process = socket.gethostname(), os.getpid()
    with _one_at_a_time:
        if _given.get(part) == 0:
            return  # the process has signed off
        _given[part] = process
        memory = memory_of(process) // [*_given.values()].count(process)
        ages = [name for name, value in facts.items() if isinstance(value, Age)]
        sign = {"part": part, "host": host, "at": time.time(), "memory": memory, "facts": facts, "ages": ages}
        try:
            _client().hset(KEY, _field(part), json.dumps(sign))
        except RedisError:
            return  # report nothing: a caller that needs Redis detects and reports the failure


def broker_is_away() -> bool:
    """Tell whether Redis gives no answer."""
    try:
        _client().ping()
    except RedisError:
        return True
    return False


def keep_giving(
    part: str, facts: Callable[[], Mapping[str, float]] = dict, *, main_loop: MainLoop | None = None
) -> None:
    """Write a sign every few seconds, from a separate thread, while the main loop turns.

    Web processes pass no `main_loop`, because gunicorn watches their loops. The backup process passes no
    `main_loop`, because a backup may take hours.
    """

    def go_on() -> None:
        never = threading.Event()
        give(part, **_read(part, facts))
        while not never.wait(EVERY):
            give_if_turning(part, facts, main_loop)

    threading.Thread(target=go_on, name=f"signs of {part}", daemon=True).start()


def give_if_turning(part: str, facts: Callable[[], Mapping[str, float]], main_loop: MainLoop | None) -> None:
    """Write a sign, unless the part has a main loop that hangs."""
    if main_loop is None or main_loop.is_turning():
        _stuck.discard(part)
        give(part, **_read(part, facts))
    else:
        _stuck.add(part)
        logger.error("the main loop of %s has not turned for %.0f s", part, STUCK_AFTER)


def _read(part: str, facts: Callable[[], Mapping[str, float]]) -> Mapping[str, float]:
    """Return the facts of a part. If they cannot be read, log the error and return no facts."""
    try:
        return facts()
    except Exception:  # the part is alive: write its sign, even without facts
        logger.exception("the facts of %s cannot be read", part)
        return {}


@atexit.register
def leave() -> None:
    """Delete the signs of a process that ends normally, so that the part is not reported as silent."""
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
    """Return the last sign of each process of the past day. Raises RedisError."""
    client, now, signs, forgotten = _client(), time.time(), [], []
    for field, text in client.hgetall(KEY).items():
        sign = json.loads(text)
        age = max(0.0, now - sign["at"])
        if age > FORGOTTEN_AFTER:
            forgotten.append(field)
        else:
            facts = _with_ages(sign["facts"], sign.get("ages", ()))  # an older version sends no ages
            signs.append(Sign(sign["part"], sign["host"], age, sign["memory"], facts))
    if forgotten:
        client.hdel(KEY, *forgotten)
    return signs


def _with_ages(facts: Mapping[str, float], ages: Collection[str]) -> dict[str, float]:
    return {name: Age(value) if name in ages else value for name, value in facts.items()}


def parts_on_hosts(signs: Iterable[Sign]) -> list[PartOnHost]:
    """Group signs by part and host, sorted by name."""
    groups: defaultdict[tuple[str, str], list[Sign]] = defaultdict(list)
    for sign in signs:
        groups[sign.part, sign.host].append(sign)
    return [
        PartOnHost(part, host, [sign for sign in group if sign.alive], min(sign.age for sign in group))
        for (part, host), group in sorted(groups.items())
    ]


def memory_of(process: int) -> int:
    """Return the resident memory of a process and its children in bytes, or 0 if it is unknown."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except (OSError, IndexError, ValueError):
        return 0
    return pages * PAGE + sum(memory_of(int(child)) for child in children)


@functools.cache
def _client() -> redis.Redis:
    return redis_client(settings.REDIS_URL, seconds=ANSWER_WITHIN, decode_responses=True)
