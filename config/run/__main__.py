"""`python -m config.run`: what `make run` does once the environment is there."""

import os
import sys

from config.embedded.home import lasting_home
from config.embedded.ports import taken
from config.embedded.published import publish
from config.embedded.servers import Server, bring_up, missing_servers
from config.processes import CannotStart
from config.processes.account import lesser_account
from config.processes.leash import Leash
from config.processes.listing import command_of
from config.processes.program import Program
from config.run import plan
from config.run.keys import hide_keys
from config.run.lines import standard_screen
from config.run.lock import holder, lock_when_free, try_lock, write_holder
from config.run.part import Part
from config.run.supervisor import Ended, Supervisor
from config.settings import DATA_DIR

SERVER_PATIENCE = 120.0  # seconds for a server to come up: recovery after a crash takes its time


def main() -> None:
    """Run everything until somebody ends it. Exit code 1 when it could not begin."""
    lock = lock_or_leave()
    for host, port, variable in plan.listening():
        if taken(host, port):
            sys.exit(f"Port {port} on {host} is taken: free it, or choose another one with {variable}=…")
    screen = standard_screen(dict(os.environ))
    leash = Leash(keeps_open=(lock,))
    try:
        with Supervisor(screen, leash) as supervisor:
            run(supervisor)
    except Ended as asked:
        screen.say("exchange", f"All parts have ended ({asked}).")
    except CannotStart as error:
        screen.say("exchange", str(error))
        sys.exit(1)
    finally:
        leash.close()
        screen.close()


def lock_or_leave() -> int:
    """Take this DATA_DIR for ourselves; the lock's descriptor."""
    lock = try_lock(DATA_DIR)
    if lock is None:
        pid = holder(DATA_DIR)
        if pid and "config.run" in command_of(pid):
            sys.exit(
                f"The Exchange already runs in {DATA_DIR} (process {pid}): `make down`, or set DATA_DIR."
            )
        lock = lock_when_free(DATA_DIR)  # it was killed, and its guardian still cleans up
    if lock is None:
        sys.exit(f"{DATA_DIR} stays locked: something of an earlier run has not ended.")
    write_holder(lock)
    return lock


def run(supervisor: Supervisor) -> None:
    """Start everything in order, then keep it running."""
    urls = start_servers(supervisor)
    environment = plan.environment_of_parts(urls)
    prepare(supervisor, environment)
    for part in supervisor.start(*plan.services(environment)):
        supervisor.keep(part)
    supervisor.start(plan.opening(environment))
    supervisor.pump(lambda: False)


def start_servers(supervisor: Supervisor) -> dict[str, str]:
    """Start what no address was given for, and publish where it is."""
    account = lesser_account()
    servers: list[Server] = []
    if not (os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL")):
        servers = missing_servers(os.environ, lasting_home(DATA_DIR, account), account)
    for server in servers:
        start_server(supervisor, server)
    urls = {server.variable: server.url for server in servers}
    supervisor.leash.remove_at_end(publish(DATA_DIR, urls))
    return urls


def start_server(supervisor: Supervisor, server: Server) -> None:
    """Start one server, wait until it takes connections, and keep it."""

    def launch(program: Program) -> Part:
        return supervisor.start(program)[0]

    def came_up(part: Part) -> bool:
        settled = lambda: part.code is not None or server.ready(part.process.pid)  # noqa: E731
        return supervisor.pump(settled, SERVER_PATIENCE, step=0.05) and part.code is None

    supervisor.keep(bring_up(server, launch, came_up), before=server.tidy)


def prepare(supervisor: Supervisor, environment: dict[str, str]) -> None:
    """Bring the tables, the static files and the demo's cast up to date."""
    must_end_well(supervisor, *plan.preparations(environment))
    plan.STATIC_STAMP.write_text(plan.static_state())
    if plan.DEMO:
        hide_keys(DATA_DIR)
        must_end_well(supervisor, plan.demo_data(environment))


def must_end_well(supervisor: Supervisor, *programs: Program) -> None:
    """Run programs to their end. Raises CannotStart when one fails."""
    for program, code in zip(programs, supervisor.run(*programs), strict=True):
        if code != 0:
            raise CannotStart(f"{program.name} failed (exit code {code}): the lines above tell why.")


if __name__ == "__main__":
    main()
