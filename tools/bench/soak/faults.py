"""The faults of a soak: one after another, each with time to recover."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from threading import Event

import redis

from tools.bench.soak.damages import Damages
from tools.bench.soak.hosts import Host
from tools.bench.soak.processes import Process
from tools.bench.soak.servers import SoakServer

FROZEN_SECONDS = 3.0
EVERY = (3.0, 7.0)
"""Seconds between the end of a fault and the next fault."""
PACED = (15.0, 35.0)
"""Seconds between two faults in a run with a pace: more, because a host's restart needs 15 CPU seconds."""


class Faults:
    """The faults of a run, and their counts."""

    def __init__(
        self,
        hosts: Sequence[Host],
        database: SoakServer,
        broker: SoakServer,
        damages: Damages,
        *,
        hosts_only: bool,
        paced: bool,
    ) -> None:
        """Prepare the faults. With `hosts_only`, PostgreSQL, Redis and stored values stay undisturbed."""
        self.hosts, self.database, self.broker, self.hosts_only = hosts, database, broker, hosts_only
        self.damages = damages
        self.every = PACED if paced else EVERY
        self.thrown: Counter[str] = Counter()
        self.restarts: Counter[str] = Counter()

    def throw_until(self, stop: Event) -> None:
        """Throw each fault once in random order, then again, until the event is set."""
        kinds: dict[str, Callable[[Event], object]] = {
            "a host was killed (kill -9 of every part)": self._kill_host,
            "one part was killed": lambda _: self._part().kill(),
            "one part was frozen": lambda stop: freeze(self._part(), 2 * FROZEN_SECONDS, stop),
            "a host was restarted in order": self._restart_host,
        }
        if not self.hosts_only:
            kinds |= {
                "Redis was frozen": lambda stop: freeze(self.broker.process, FROZEN_SECONDS, stop),
                "Redis was flushed": self._flush_redis,
                "Redis was restarted, empty": lambda _: self.broker.restart(killed=True),
                "PostgreSQL was restarted": lambda _: self.database.restart(killed=False),
                "PostgreSQL was killed": lambda _: self.database.restart(killed=True),
                "a value was damaged, and reconcile --fix repaired it": self.damages.damage,
            }
        turn: list[str] = []
        while not stop.wait(random.uniform(*self.every)):
            turn = turn or random.sample([*kinds], len(kinds))
            name = turn.pop()
            kinds[name](stop)
            self.thrown[name] += 1
            for host in self.hosts:
                self.restarts.update(host.revive())

    def _part(self) -> Process:
        return random.choice(list(random.choice(self.hosts).parts.values()))

    def _kill_host(self, stop: Event) -> None:
        host = random.choice(self.hosts)
        host.kill()
        stop.wait(FROZEN_SECONDS)
        host.start()

    def _restart_host(self, stop: Event) -> None:
        host = random.choice(self.hosts)
        host.stop()
        host.start()

    def _flush_redis(self, stop: Event) -> None:
        with redis.Redis.from_url(self.broker.url) as client:
            client.flushall()


def freeze(process: Process, seconds: float, stop: Event) -> None:
    """Freeze a process for this many seconds, or until the event is set."""
    process.freeze()
    try:
        stop.wait(seconds)
    finally:
        process.thaw()
