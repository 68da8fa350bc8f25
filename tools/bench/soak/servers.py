"""PostgreSQL and Redis of the soak's own, which it may restart and freeze."""

from __future__ import annotations

from pathlib import Path

from tools.bench.soak.processes import Process, wait_until
from tools.launcher.embedded.postgres import Postgres
from tools.launcher.embedded.redis_server import Redis
from tools.launcher.processes.account import unprivileged_account
from tools.launcher.reaper.client import Reaper

RECOVERED_WITHIN = 300.0  # seconds


class Server:
    """One of them, on one port for as long as the soak lasts."""

    def __init__(self, server: Postgres | Redis, home: Path, reaper: Reaper) -> None:
        self.server = server
        server.prepare()
        self.process = Process(server.program(), home / f"{server.name}.log", reaper)
        self.start()

    @property
    def url(self) -> str:
        return self.server.url

    def start(self) -> None:
        """Recovery takes its time. One that ended is begun anew: killed children may have lived longer."""
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


def postgres(home: Path, reaper: Reaper) -> Server:
    """With the settings of a service: what it has acknowledged must survive."""
    return Server(Postgres(home, unprivileged_account(), testing=False), home, reaper)


def redis(home: Path, reaper: Reaper) -> Server:
    return Server(Redis(home, unprivileged_account()), home, reaper)
