"""The faults of a soak: one after another, each with time to recover."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from threading import Event

import redis

from tools.bench.soak.damages import Damages
from tools.bench.soak.hosts import Host
from tools.bench.soak.servers import SoakServer

FROZEN_SECONDS = 3.0
EVERY = (3.0, 7.0)
"""Seconds between the end of a fault and the next fault."""
PACED = (15.0, 35.0)
"""The same for a run with a pace: each restart of a host costs a core about 15 seconds."""


class Faults:
    """Injects faults until it is stopped, and counts them."""

    def __init__(
        self,
        hosts: Sequence[Host],
        database: SoakServer,
        broker: SoakServer,
        *,
        hosts_only: bool = False,
        paced: bool = False,
        damages: Damages | None = None,
    ) -> None:
        """Prepare the faults. With `hosts_only`, PostgreSQL and Redis have none, and no value is damaged."""
        self.hosts, self.database, self.broker, self.hosts_only = hosts, database, broker, hosts_only
        self.damages = damages
        self.every = PACED if paced else EVERY
        self.thrown: Counter[str] = Counter()
        self.restarts: Counter[str] = Counter()

    def throw_until(self, stop: Event) -> None:
        kinds: list[tuple[str, Callable[[Event], None]]] = [
            ("a host was killed (kill -9 of every part)", self._kill_host),
            ("one part was killed", self._kill_part),
            ("one part was frozen", self._freeze_part),
            ("a host was restarted in order", self._restart_host),
        ]
        if not self.hosts_only:
            kinds += self._of_servers()
            if self.damages is not None:
                kinds.append(("a value was damaged, and reconcile --fix repaired it", self.damages.damage))
        self._throw(kinds, stop)

    def _of_servers(self) -> list[tuple[str, Callable[[Event], None]]]:
        return [
            ("Redis was frozen", self._freeze_redis),
            ("Redis was flushed", self._flush_redis),
            ("Redis was restarted, empty", self._restart_redis),
            ("PostgreSQL was restarted", self._restart_postgres),
            ("PostgreSQL was killed", self._kill_postgres),
        ]

    def _throw(self, kinds: list[tuple[str, Callable[[Event], None]]], stop: Event) -> None:
        turn: list[tuple[str, Callable[[Event], None]]] = []
        while not stop.wait(random.uniform(*self.every)):
            if not turn:  # each fault once in random order, then again
                turn = random.sample(kinds, len(kinds))
            name, throw = turn.pop()
            throw(stop)
            self.thrown[name] += 1
            self.revive()

    def revive(self) -> None:
        """Restart parts that have ended, as systemd does."""
        for host in self.hosts:
            for part in host.revive():
                self.restarts[part] += 1

    def _host(self) -> Host:
        return random.choice(self.hosts)

    def _kill_host(self, stop: Event) -> None:
        host = self._host()
        host.kill()
        stop.wait(FROZEN_SECONDS)
        host.start()

    def _restart_host(self, stop: Event) -> None:
        host = self._host()
        host.stop()
        host.start()

    def _kill_part(self, stop: Event) -> None:
        random.choice(list(self._host().parts.values())).kill()

    def _freeze_part(self, stop: Event) -> None:
        part = random.choice(list(self._host().parts.values()))
        part.freeze()
        try:
            stop.wait(2 * FROZEN_SECONDS)
        finally:
            part.thaw()

    def _freeze_redis(self, stop: Event) -> None:
        self.broker.process.freeze()
        try:
            stop.wait(FROZEN_SECONDS)
        finally:
            self.broker.process.thaw()

    def _flush_redis(self, stop: Event) -> None:
        with redis.Redis.from_url(self.broker.url) as client:
            client.flushall()

    def _restart_redis(self, stop: Event) -> None:
        self.broker.restart(killed=True)

    def _restart_postgres(self, stop: Event) -> None:
        self.database.restart(killed=False)

    def _kill_postgres(self, stop: Event) -> None:
        self.database.restart(killed=True)
