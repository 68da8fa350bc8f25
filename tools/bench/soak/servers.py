"""The PostgreSQL and the Redis of the soak. Faults restart and freeze these servers."""

from __future__ import annotations

from pathlib import Path

from tools.bench.soak.processes import Process, wait_until
from tools.launcher.embedded.postgres import Postgres
from tools.launcher.embedded.redis_server import Redis
from tools.launcher.processes.account import unprivileged_account
from tools.launcher.reaper.client import Reaper

RECOVERED_WITHIN = 300.0  # seconds


class SoakServer:
    """A server that keeps its port during the soak."""

    def __init__(self, server: Postgres | Redis, home: Path, reaper: Reaper) -> None:
        self.server = server
        server.prepare()
        self.process = Process(server.program(), home / f"{server.name}.log", reaper)
        self.start()

    @property
    def url(self) -> str:
        return self.server.url

    def start(self) -> None:
        """Start the server and wait for its recovery. If it ends before it is ready, start it again."""
        self.process.start()
        wait_until(self._takes_connections, f"{self.server.name} takes connections", RECOVERED_WITHIN)

    def _takes_connections(self) -> bool:
        if not self.process.alive():
            self.process.stop()
            self.server.clean_up_after_crash()
            self.process.start()
        return self.server.ready(self.process.pid)

    def restart(self, *, killed: bool) -> None:
        if killed:
            self.process.kill()
        else:
            self.process.stop()
        self.server.clean_up_after_crash()
        self.start()


def postgres(home: Path, reaper: Reaper) -> SoakServer:
    """Start PostgreSQL with the settings of a real service, because acknowledged data must survive."""
    return SoakServer(Postgres(home, unprivileged_account(), testing=False), home, reaper)


def redis(home: Path, reaper: Reaper) -> SoakServer:
    return SoakServer(Redis(home, unprivileged_account()), home, reaper)
