"""The start of the servers whose URLs are not set."""

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from tools.launcher.embedded.data_home import temporary_home
from tools.launcher.embedded.postgres import Postgres
from tools.launcher.embedded.redis_server import Redis
from tools.launcher.processes import CannotStart
from tools.launcher.processes.account import Account, unprivileged_account
from tools.launcher.processes.program import Program, spawn, stop
from tools.launcher.reaper.client import Reaper

ATTEMPTS = 5  # another program may take the free port before the server does
START_TIMEOUT = 60.0  # seconds until a server must accept connections; a recovery after a crash may be slow

Running = TypeVar("Running")


class EmbeddedServer(Protocol):
    """The common interface of Postgres and Redis."""

    name: str
    variable: str

    @property
    def url(self) -> str: ...
    def prepare(self) -> None: ...
    def clean_up_after_crash(self) -> None: ...
    def program(self) -> Program: ...
    def ready(self, pid: int) -> bool: ...


def missing_servers(
    environment: Mapping[str, str], home: Path, account: Account | None, *, testing: bool = False
) -> list[EmbeddedServer]:
    """Return one server for each URL that is not in the environment."""
    servers: list[EmbeddedServer] = []
    if not environment.get(Postgres.variable):
        servers.append(Postgres(home, account, testing=testing))
    if not environment.get(Redis.variable):
        servers.append(Redis(home, account))
    return servers


@contextmanager
def temporary_servers(environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Run servers for tests and yield their URLs. Stop the servers and remove their data afterwards."""
    with ExitStack() as cleanup:
        reaper = Reaper()
        cleanup.callback(reaper.close)
        account = unprivileged_account()
        home = temporary_home(account)
        reaper.remove_at_end(home)
        servers = missing_servers(environment, home, account, testing=True)
        for server in servers:
            _start(server, reaper, home / f"{server.name}.log", cleanup)
        yield {server.variable: server.url for server in servers}


def start_with_retries(
    server: EmbeddedServer, launch: Callable[[Program], Running], came_up: Callable[[Running], bool]
) -> Running:
    """Start a server, and return the result of `launch`. Choose another port after a failure.

    Raises CannotStart.
    """
    for _ in range(ATTEMPTS):
        server.prepare()
        running = launch(server.program())
        if came_up(running):
            return running
    raise CannotStart(f"{server.name} does not start.")


def _start(server: EmbeddedServer, reaper: Reaper, log: Path, cleanup: ExitStack) -> None:
    def launch(program: Program) -> subprocess.Popen[bytes]:
        with log.open("wb") as output:
            process = spawn(program, output)
        reaper.watch(process.pid, program)
        cleanup.callback(_stop, program, process, reaper)
        return process

    try:
        start_with_retries(server, launch, lambda process: _came_up(server, process))
    except CannotStart as error:
        raise CannotStart(f"{error} It said:\n{log.read_text(errors='replace').strip()}") from error


def _came_up(server: EmbeddedServer, process: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + START_TIMEOUT
    while process.poll() is None and time.monotonic() < deadline:
        if server.ready(process.pid):
            return True
        time.sleep(0.02)  # a server does not announce that it is ready, so poll
    return False


def _stop(program: Program, process: subprocess.Popen[bytes], reaper: Reaper) -> None:
    stop(program, process)
    reaper.release(process.pid)
