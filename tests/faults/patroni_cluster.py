"""Two PostgreSQL servers under Patroni, with etcd, haproxy and PgBouncer, as processes of one test.

The configurations are the recipe "Fail over with Patroni" in docs/running.md.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.deploy.proxies import needs
from tests.faults.clusters import clusters
from tests.faults.sentinels import wait_until
from tests.faults.web_server import WebServer
from tools.launcher.embedded.binaries import postgres_programs
from tools.launcher.embedded.data_home import accessible_folder
from tools.launcher.embedded.ports import free_port
from tools.launcher.processes.account import unprivileged_account
from tools.launcher.processes.program import Program, signal_group, spawn, stop

PASSWORD = "only-for-this-test"
# Patroni allows no shorter `ttl` and `retry_timeout`.
DCS = {
    "ttl": 20,
    "loop_wait": 1,
    "retry_timeout": 3,
    "synchronous_mode": True,
    "postgresql": {"use_pg_rewind": True},
}
INITDB = [
    {"encoding": "UTF8"},
    {"locale-provider": "builtin"},
    {"builtin-locale": "C.UTF-8"},
    {"locale": "C"},
]
HBA = [
    "host all all 127.0.0.1/32 scram-sha-256",
    "host replication replication 127.0.0.1/32 scram-sha-256",
]
HAPROXY = """\
defaults
    timeout connect 2s

listen primary
    bind 127.0.0.1:{port}
    mode tcp
    timeout client 30m
    timeout server 30m
    option httpchk GET /primary
    http-check expect status 200
    default-server check inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
"""
PGBOUNCER = """\
[databases]
exchange = host=127.0.0.1 port={haproxy}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {folder}/users
pool_mode = transaction
ignore_startup_parameters = options,extra_float_digits
server_login_retry = 1
query_wait_timeout = 10
"""
LIMITS = {"lock_timeout": "5s", "statement_timeout": "30s", "idle_in_transaction_session_timeout": "30s"}
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


@dataclass
class PatroniNode:
    """A Patroni with its PostgreSQL."""

    program: Program
    port: int
    rest: int
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def url(self) -> str:
        """The URL of the Exchange's database, without the proxies."""
        return f"postgresql://exchange:{PASSWORD}@127.0.0.1:{self.port}/exchange"

    def start(self) -> None:
        with (self.program.folder / "log").open("ab") as log:
            self._process = spawn(self.program, log)

    def kill(self) -> None:
        """Kill Patroni and its PostgreSQL at once, like a power failure."""
        if self._process is not None:
            # Kill Patroni first, because it would restart PostgreSQL.
            signal_group(self._process.pid, signal.SIGKILL)
            self._process.wait()
            wait_until(self._postgres_is_killed, "PostgreSQL ends")
            self._process = None

    def has_role(self, role: str) -> bool:
        """Ask Patroni for the role of this node, as haproxy does."""
        with suppress(OSError):
            return WebServer(self.rest).ask("GET", f"/{role}").status == 200
        return False

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement as the superuser, and return the rows."""
        url = f"postgresql://postgres:{PASSWORD}@127.0.0.1:{self.port}/postgres"
        with psycopg.connect(url, autocommit=True) as session:
            done = session.execute(statement)
            return done.fetchall() if done.description else []

    def hold_back_standby(self) -> None:
        """Freeze the process that sends the write-ahead log to the standby."""
        ((sender,),) = self.run("SELECT pid FROM pg_stat_replication")
        os.kill(sender, signal.SIGSTOP)

    def holds_a_commit(self) -> bool:
        """Return whether a commit waits for the standby."""
        return bool(self.run(WAITING)[0][0])

    def _postgres_is_killed(self) -> bool:
        """Kill the processes of the server.

        Return whether all have ended. Find the processes by their folder, because each of them is in its own
        process group.
        """
        found = False
        for link in Path("/proc").glob("[0-9]*/cwd"):
            with suppress(OSError):
                if os.readlink(link) == str(self.program.folder / "data"):
                    os.kill(int(link.parent.name), signal.SIGKILL)
                    found = True
        return not found


class PatroniCluster:
    """Two nodes, the etcd that holds their lock, and the proxies between the Exchange and the primary."""

    def __init__(self, home: Path, cleanup: ExitStack) -> None:
        self.home, self._cleanup, self.account = home, cleanup, unprivileged_account()
        self._bin = accessible_folder(postgres_programs(), home, self.account)
        self._etcd = self._start_etcd()
        self.nodes = [self._start_node(name) for name in ("one", "two")]
        haproxy = self._start_haproxy()
        self.url = self._start_pgbouncer(haproxy)

    @property
    def primary(self) -> PatroniNode:
        """The only node that is the primary.

        Raises KeyError if no node or several nodes say that they are the primary.
        """
        found = [node for node in self.nodes if node.has_role("primary")]
        if len(found) != 1:
            raise KeyError("primary")
        return found[0]

    def standby_of(self, primary: PatroniNode) -> PatroniNode:
        return next(node for node in self.nodes if node is not primary)

    def create_database(self) -> None:
        """Wait for both nodes, and create the role and the database of the Exchange."""
        wait_until(lambda: self.standby_of(self.primary).has_role("sync"), "the standby is synchronous")
        primary = self.primary
        primary.run(f"CREATE ROLE exchange LOGIN PASSWORD '{PASSWORD}'")
        for name, value in LIMITS.items():
            primary.run(f"ALTER ROLE exchange SET {name} = '{value}'")
        primary.run("CREATE DATABASE exchange OWNER exchange")

    def logs(self) -> str:
        """Return the end of each log."""
        return "\n".join(f"{path}:\n{path.read_text()[-6000:]}" for path in self.home.glob("*/log"))

    def _start_etcd(self) -> int:
        folder, port = self._folder("etcd"), free_port()
        clients, peers = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{free_port()}"
        addresses = {
            "--listen-client-urls": clients,
            "--advertise-client-urls": clients,
            "--listen-peer-urls": peers,
            "--initial-advertise-peer-urls": peers,
            "--initial-cluster": f"default={peers}",
        }
        options = [word for option in addresses.items() for word in option]
        self._start("etcd", folder, "--data-dir", str(folder / "data"), *options)
        return port

    def _start_node(self, name: str) -> PatroniNode:
        folder, port, rest = self._folder(name), free_port(), free_port()
        configuration = {
            "scope": "exchange",
            "name": name,
            "etcd3": {"hosts": f"127.0.0.1:{self._etcd}"},
            "restapi": {"listen": f"127.0.0.1:{rest}", "connect_address": f"127.0.0.1:{rest}"},
            "bootstrap": {"dcs": DCS, "initdb": [*INITDB, "data-checksums"]},
            "postgresql": {
                "listen": f"127.0.0.1:{port}",
                "connect_address": f"127.0.0.1:{port}",
                "bin_dir": str(self._bin),
                "data_dir": str(folder / "data"),
                "pgpass": str(folder / "pgpass"),
                "authentication": {
                    "superuser": {"username": "postgres", "password": PASSWORD},
                    "replication": {"username": "replication", "password": PASSWORD},
                },
                "parameters": {"unix_socket_directories": "", "password_encryption": "scram-sha-256"},
                "pg_hba": HBA,
            },
            "watchdog": {"mode": "off"},
        }
        (folder / "patroni.yml").write_text(json.dumps(configuration))
        node = PatroniNode(self._program("patroni", folder, str(folder / "patroni.yml")), port, rest)
        self._cleanup.callback(node.kill)
        node.start()
        return node

    def _start_haproxy(self) -> int:
        folder, port = self._folder("haproxy"), free_port()
        servers = [
            f"    server node-{number} 127.0.0.1:{node.port} check port {node.rest}\n"
            for number, node in enumerate(self.nodes, start=1)
        ]
        (folder / "cfg").write_text(HAPROXY.format(port=port) + "".join(servers))
        self._start("haproxy", folder, "-db", "-f", str(folder / "cfg"))
        return port

    def _start_pgbouncer(self, haproxy: int) -> str:
        """Start the pooler, and return the value of DATABASE_URL."""
        folder, port = self._folder("pgbouncer"), free_port()
        (folder / "users").write_text(f'"exchange" "{PASSWORD}"\n')
        (folder / "ini").write_text(PGBOUNCER.format(haproxy=haproxy, port=port, folder=folder))
        self._start("pgbouncer", folder, str(folder / "ini"))
        return f"postgresql://exchange:{PASSWORD}@127.0.0.1:{port}/exchange"

    def _folder(self, name: str) -> Path:
        folder = self.home / name
        folder.mkdir(mode=0o755)
        if self.account:
            self.account.take_ownership(folder)
        return folder

    def _program(self, name: str, folder: Path, *arguments: str) -> Program:
        environment = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": str(folder)}
        return Program(name, (needs(name), *arguments), folder, environment, self.account)

    def _start(self, name: str, folder: Path, *arguments: str) -> None:
        program = self._program(name, folder, *arguments)
        with (folder / "log").open("ab") as log:
            process = spawn(program, log)
        self._cleanup.callback(stop, program, process)


@contextmanager
def failing_over() -> Iterator[PatroniCluster]:
    """Run two nodes and the programs around them during the block."""
    for program in ("patroni", "etcd", "pgbouncer", "haproxy"):
        needs(program)
    with clusters() as home, ExitStack() as cleanup:
        cluster = PatroniCluster(home, cleanup)
        try:
            cluster.create_database()
            yield cluster
        finally:
            sys.stdout.write(cluster.logs())  # pytest shows the output of a test that fails
