"""The servers that no address was given for: which they are, and how they are started."""

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from config.embedded.home import passing_home
from config.embedded.postgres import Postgres
from config.embedded.redis_server import Redis
from config.processes import CannotStart
from config.processes.account import Account, lesser_account
from config.processes.leash import Leash
from config.processes.program import Program, end, spawn

TRIES = 5  # a port found free may be gone a moment later
PATIENCE = 60.0  # seconds for a server to take connections; recovery after a crash takes its time

Running = TypeVar("Running")


class Server(Protocol):
    """What a server of ours can do."""

    name: str
    variable: str

    @property
    def url(self) -> str: ...
    def prepare(self) -> None: ...
    def tidy(self) -> None: ...
    def program(self) -> Program: ...
    def ready(self, pid: int) -> bool: ...


def missing_servers(
    environment: Mapping[str, str], home: Path, account: Account | None, *, testing: bool = False
) -> list[Server]:
    """One server for each address that the environment does not give."""
    servers: list[Server] = []
    if not environment.get(Postgres.variable):
        servers.append(Postgres(home, account, testing=testing))
    if not environment.get(Redis.variable):
        servers.append(Redis(home, account))
    return servers


@contextmanager
def passing_servers(environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Servers for a test run, gone with all their data afterwards; yields their addresses."""
    with ExitStack() as cleanup:
        leash = Leash()
        cleanup.callback(leash.close)
        account = lesser_account()
        home = passing_home(account)
        leash.remove_at_end(home)
        servers = missing_servers(environment, home, account, testing=True)
        for server in servers:
            _start(server, leash, home / f"{server.name}.log", cleanup)
        yield {server.variable: server.url for server in servers}


def bring_up(
    server: Server, launch: Callable[[Program], Running], came_up: Callable[[Running], bool]
) -> Running:
    """Start a server on a free port, on another one when it fails; returns what `launch` gave."""
    for _ in range(TRIES):
        server.prepare()
        running = launch(server.program())
        if came_up(running):
            return running
    raise CannotStart(f"{server.name} does not start.")


def _start(server: Server, leash: Leash, log: Path, cleanup: ExitStack) -> None:
    def launch(program: Program) -> subprocess.Popen[bytes]:
        with log.open("wb") as output:
            process = spawn(program, output)
        leash.hold(process.pid, program)
        cleanup.callback(_stop, program, process, leash)
        return process

    try:
        bring_up(server, launch, lambda process: _came_up(server, process))
    except CannotStart as error:
        raise CannotStart(f"{error} It said:\n{log.read_text(errors='replace').strip()}") from error


def _came_up(server: Server, process: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        if server.ready(process.pid):
            return True
        time.sleep(0.02)  # a server that starts tells nobody; it is asked
    return False


def _stop(program: Program, process: subprocess.Popen[bytes], leash: Leash) -> None:
    end(program, process)
    leash.release(process.pid)
