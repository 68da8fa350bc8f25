"""A Redis master, its replica and three Sentinels that watch the two servers, as processes of one test."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import redis
from redis.exceptions import RedisError

from tools.launcher.embedded.binaries import redis_programs
from tools.launcher.embedded.ports import free_port

NAME, PASSWORD, THEIR_PASSWORD = "exchange-master", "p@ss/word", "another&one"
SERVER = """
bind 127.0.0.1
port {port}
requirepass "{password}"
masterauth "{password}"
save ""
repl-diskless-sync yes
repl-diskless-sync-delay 0
"""
SENTINEL = """
bind 127.0.0.1
port {port}
requirepass {own}
sentinel sentinel-pass {own}
sentinel monitor {name} 127.0.0.1 {master} 2
sentinel auth-pass {name} "{password}"
sentinel down-after-milliseconds {name} 1000
sentinel failover-timeout {name} 5000
"""


class Watched:
    """A Redis master, its replica and three Sentinels."""

    def __init__(self, folder: Path, cleanup: ExitStack) -> None:
        self.folder, self._cleanup = folder, cleanup
        self.ports = [free_port() for _ in range(2)]
        first = SERVER.format(port=self.ports[0], password=PASSWORD)
        self._master = self._start("one", first)
        second = SERVER.format(port=self.ports[1], password=PASSWORD)
        self._start("two", f"{second}replicaof 127.0.0.1 {self.ports[0]}\n")
        wait_until(lambda: self._info(1)["master_link_status"] == "up", "the replica follows")
        self.sentinels = [free_port() for _ in range(3)]
        for port in self.sentinels:
            text = SENTINEL.format(
                port=port, own=THEIR_PASSWORD, name=NAME, master=self.ports[0], password=PASSWORD
            )
            self._start(f"sentinel-{port}", text, "--sentinel")
        wait_until(self._all_know_each_other, "the Sentinels know each other and the replica")

    @property
    def url(self) -> str:
        """The value of REDIS_URL for these Sentinels, in the form of docs/running.md."""
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.sentinels)
        login, theirs = ":p%40ss%2Fword", "another%26one"
        return f"redis+sentinel://{login}@{hosts}/{NAME}/1?sentinel_password={theirs}"

    def kill_master(self) -> None:
        self._master.kill()
        self._master.wait()

    def wait_for_failover(self) -> None:
        """Wait until all Sentinels name the replica as the master, and the replica accepts writes."""
        wait_until(lambda: all(self._named(port) == self.ports[1] for port in self.sentinels), "failover")
        wait_until(lambda: self._info(1)["role"] == "master", "the replica is the master")

    def _start(self, name: str, configuration: str, *options: str) -> subprocess.Popen[bytes]:
        programs, program = redis_programs()
        home = self.folder / name
        home.mkdir()
        (home / "conf").write_text(configuration)
        command = [str(programs.folder / program), str(home / "conf"), *options]
        process = subprocess.Popen(command, cwd=home, stdout=subprocess.DEVNULL)
        self._cleanup.callback(process.wait)
        self._cleanup.callback(process.kill)
        return process

    def _info(self, server: int) -> dict[str, str]:
        session: Any = redis.Redis(port=self.ports[server], password=PASSWORD)
        with session as client:
            return dict(client.info("replication"))

    def _all_know_each_other(self) -> bool:
        states = [self._state(port) for port in self.sentinels]
        return all(each["num-other-sentinels"] == 2 and each["num-slaves"] == 1 for each in states)

    def _named(self, port: int) -> int:
        return int(self._state(port)["port"])

    def _state(self, port: int) -> dict[str, int]:
        session: Any = redis.Redis(port=port, password=THEIR_PASSWORD)
        with session as client:
            return dict(client.sentinel_masters()[NAME])


def wait_until(holds: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Poll until the condition holds. A server that does not answer yet counts as not ready."""
    deadline = time.monotonic() + seconds
    while True:
        with suppress(RedisError, KeyError):
            if holds():
                return
        assert time.monotonic() < deadline, what
        time.sleep(0.05)  # other processes do not announce their state, so poll


@contextmanager
def watched(folder: Path) -> Iterator[Watched]:
    """Run a master, a replica and three Sentinels during the block."""
    with ExitStack() as cleanup:
        yield Watched(folder, cleanup)
