"""`python -m tools.launcher`, which runs the Exchange. `make run` calls it in `.venv`."""

import os
import sys

from config.settings import DATA_DIR
from tools.launcher import programs
from tools.launcher.demo_json import hide_keys
from tools.launcher.embedded.address_file import publish
from tools.launcher.embedded.data_home import persistent_home
from tools.launcher.embedded.ports import obstacle
from tools.launcher.embedded.servers import EmbeddedServer, missing_servers, start_with_retries
from tools.launcher.lock import holder, is_launcher, lock_when_free, try_lock, write_holder
from tools.launcher.managed_process import ManagedProcess
from tools.launcher.processes import CannotStart
from tools.launcher.processes.account import unprivileged_account
from tools.launcher.processes.program import Program
from tools.launcher.reaper.client import Reaper
from tools.launcher.screen import standard_screen
from tools.launcher.supervisor import StopRequested, Supervisor

SERVER_START_TIMEOUT = 120.0  # seconds; PostgreSQL's recovery after a crash may be slow


def main() -> None:
    """Run all parts of the Exchange until a stop is requested. Exit with code 1 if a part cannot start."""
    lock = lock_or_exit()
    if reason := programs.shared_port():
        sys.exit(reason)
    for host, port, variable in programs.listening():
        if reason := obstacle(host, port, variable):
            sys.exit(reason)
    screen = standard_screen(dict(os.environ))
    reaper = Reaper(keep_open=(lock,))
    try:
        with Supervisor(screen, reaper) as supervisor:
            run(supervisor)
    except StopRequested as reason:
        screen.say("exchange", f"All processes have ended ({reason}).")
    except CannotStart as error:
        screen.say("exchange", str(error))
        sys.exit(1)
    finally:
        reaper.close()
        screen.close()


def lock_or_exit() -> int:
    """Lock this DATA_DIR and return the lock's descriptor. Exit if another run has the lock."""
    try:
        lock = try_lock(DATA_DIR)
    except OSError as error:
        sys.exit(f"The folder {DATA_DIR} (DATA_DIR) cannot be used: {error.strerror}.")
    if lock is None:
        pid = holder(DATA_DIR)
        if pid and is_launcher(pid):
            sys.exit(
                f"The Exchange already runs in {DATA_DIR} (process {pid}): `make down`, or set DATA_DIR."
            )
        lock = lock_when_free(DATA_DIR)  # the earlier run was killed, and its reaper still cleans up
    if lock is None:
        sys.exit(f"{DATA_DIR} stays locked: a process of an earlier run has not ended.")
    write_holder(lock)
    return lock


def run(supervisor: Supervisor) -> None:
    """Start the servers and the services in order, and keep them running."""
    urls = start_servers(supervisor)
    environment = programs.service_environment(urls)
    prepare(supervisor, environment)
    for process in supervisor.start(*programs.services(environment)):
        supervisor.keep_running(process)
    supervisor.run_to_end(programs.welcome(environment))
    build_documents(supervisor, environment)
    supervisor.run_until(lambda: False)


def build_documents(supervisor: Supervisor, environment: dict[str, str]) -> None:
    """Build the documents' site, if its sources changed. The service already runs and shows plain pages."""
    state = programs.docs_state()
    if programs.DOCS_STAMP.exists() and programs.DOCS_STAMP.read_text() == state:
        return
    if supervisor.run_to_end(programs.documents(environment)) == [0]:
        programs.DOCS_STAMP.write_text(state)


def start_servers(supervisor: Supervisor) -> dict[str, str]:
    """Start each server whose URL is not set, publish the URLs for other commands, and return them."""
    account = unprivileged_account()
    servers: list[EmbeddedServer] = []
    if not (os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL")):
        servers = missing_servers(os.environ, persistent_home(DATA_DIR, account), account)
    for server in servers:
        start_server(supervisor, server)
    urls = {server.variable: server.url for server in servers}
    supervisor.reaper.remove_at_end(publish(DATA_DIR, urls))
    return urls


def start_server(supervisor: Supervisor, server: EmbeddedServer) -> None:
    """Start one server, wait until it accepts connections, and keep it running."""

    def launch(program: Program) -> ManagedProcess:
        return supervisor.start(program)[0]

    def came_up(process: ManagedProcess) -> bool:
        decided = lambda: process.code is not None or server.ready(process.pid)  # noqa: E731
        return supervisor.run_until(decided, SERVER_START_TIMEOUT, step=0.05) and process.code is None

    process = start_with_retries(server, launch, came_up)
    supervisor.keep_running(process, before_restart=server.clean_up_after_crash)


def prepare(supervisor: Supervisor, environment: dict[str, str]) -> None:
    """Update the tables, the static files and the demo's parties."""
    hide_keys(DATA_DIR)
    run_or_fail(supervisor, *programs.preparations(environment))
    programs.STATIC_STAMP.write_text(programs.static_state())


def run_or_fail(supervisor: Supervisor, *to_run: Program) -> None:
    """Run programs to their end. Raises CannotStart if a program fails."""
    for program, code in zip(to_run, supervisor.run_to_end(*to_run), strict=True):
        if code != 0:
            raise CannotStart(f"{program.name} failed (exit code {code}): see its lines above.")


if __name__ == "__main__":
    main()
