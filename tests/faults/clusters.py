"""PostgreSQL servers that belong to one test, for a restore of a dump and for standbys."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import dj_database_url
import psycopg
from django.db import connection

from tools.launcher.embedded.data_home import temporary_home
from tools.launcher.embedded.postgres import ACCESS, Postgres
from tools.launcher.processes.account import Account, unprivileged_account
from tools.launcher.processes.program import Program, spawn, stop

STANDBYS = {
    "wal_level": "replica",
    "max_wal_senders": "4",
    "hot_standby": "on",
    "synchronous_commit": "on",  # standbys get only data on disk, so each commit must be on disk
}
REPLICATION = "host replication exchange 127.0.0.1/32 scram-sha-256\n"


class Cluster(Postgres):
    """A PostgreSQL server that may have standbys. The test starts and stops the server."""

    def __init__(self, home: Path, account: Account | None) -> None:
        home.mkdir(mode=0o711)
        super().__init__(home, account, testing=True)
        self.settings |= STANDBYS
        self._running: tuple[Program, subprocess.Popen[bytes]] | None = None

    @classmethod
    def made(cls, home: Path, account: Account | None) -> Cluster:
        """Create and start a new cluster."""
        cluster = cls(home, account)
        cluster.prepare()
        (cluster.data / "pg_hba.conf").write_text(ACCESS + REPLICATION)
        role = "ALTER ROLE exchange REPLICATION SUPERUSER"
        cluster._run("postgres", "--single", "-D", str(cluster.data), "postgres", say=f"{role}\n")
        cluster.start()
        return cluster

    def standby(self, home: Path) -> Cluster:
        """Create and start a standby of this cluster."""
        copy = Cluster(home, self.account)
        copy.password = self.password
        home.chmod(0o777)  # the server's own account creates a folder in `home`
        self.tool("pg_basebackup", "-D", str(copy.data), "-R", "-X", "stream", "-c", "fast", "-d", self.url)
        copy.prepare()
        copy.start()
        return copy

    def tool(self, name: str, *arguments: str) -> None:
        """Run one of PostgreSQL's own programs as the server's account."""
        account = self.account.popen_options() if self.account else {}
        environment = {"PATH": os.defpath, "LC_ALL": "C", "PGPASSWORD": self.password}
        subprocess.run(
            [str(self.bin / name), *arguments], check=True, cwd=self.data.parent, env=environment, **account
        )

    def start(self) -> None:
        program = self.program()
        with (self.data.parent / "log").open("ab") as log:
            process = spawn(program, log)
        self._running = program, process
        deadline = time.monotonic() + 60
        while not self.ready(process.pid):
            said = (self.data.parent / "log").read_text()
            assert process.poll() is None, said
            assert time.monotonic() < deadline, said
            time.sleep(0.02)

    def stop(self, *, killed: bool = False) -> None:
        """Stop the server. With `killed`, stop it without a shutdown, like a power failure."""
        if self._running is not None:
            program, process = self._running
            if killed:
                process.kill()
            stop(program, process)
            self._running = None
            self.clean_up_after_crash()

    def promote(self) -> None:
        self.tool("pg_ctl", "promote", "-D", str(self.data), "-w")

    def named(self, url: str) -> str:
        """Return the URL of this cluster with the database name of `url`."""
        return urlsplit(self.url)._replace(path=urlsplit(url).path).geturl()

    def follows(self, written: str) -> bool:
        """Return whether the standby has replayed everything up to this position."""
        with psycopg.connect(self.url) as session:
            answer = session.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [written]).fetchone()
        return bool(answer and answer[0])

    def commit(self) -> str:
        """Commit a message, and return the position after it in the write-ahead log.

        The commit writes all earlier records to disk, because a standby gets only records on disk. A
        standby knows its delay after it has replayed a commit.
        """
        with psycopg.connect(self.url, autocommit=True) as session:
            session.execute("SELECT pg_logical_emit_message(true, 'test', 'all earlier records')")
            answer = session.execute("SELECT pg_current_wal_flush_lsn()::text").fetchone()
        assert answer is not None
        return str(answer[0])

    def wait_until_it_follows(self, primary: Cluster) -> None:
        written = primary.commit()
        deadline = time.monotonic() + 30
        while not self.follows(written):
            assert time.monotonic() < deadline, "the standby does not follow"
            time.sleep(0.02)

    def ready(self, pid: int) -> bool:
        """Return whether the server accepts connections, as a primary or as a standby."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() in ("ready", "standby")


@contextmanager
def clusters() -> Iterator[Path]:
    """Create a folder for clusters, and delete it after the block. The caller stops the servers in it."""
    account = unprivileged_account()
    home = temporary_home(account)
    try:
        yield home
    finally:
        subprocess.run(["rm", "-rf", str(home)], check=True)


@contextmanager
def running(name: str = "primary") -> Iterator[Cluster]:
    """Run a new cluster during the block."""
    with clusters() as home, ExitStack() as cleanup:
        cluster = Cluster.made(home / name, unprivileged_account())
        cleanup.callback(cluster.stop)
        yield cluster


@contextmanager
def connected_to(url: str) -> Iterator[None]:
    """Make Django use this database within the block."""
    mine = dict(connection.settings_dict)
    named = {key: value for key, value in dj_database_url.parse(url).items() if key in ADDRESS}
    connection.close()
    connection.settings_dict.update(named)
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(mine)


ADDRESS = ("HOST", "PORT", "NAME", "USER", "PASSWORD")


def dump(url: str, target: Path, programs: Path) -> None:
    """Dump a database with pg_dump."""
    subprocess.run([programs / "pg_dump", "-Fc", "-f", target, "-d", url], check=True)


def restore(source: Path, url: str, programs: Path) -> None:
    """Restore a dump into an empty database."""
    command = [str(programs / "pg_restore"), "--no-owner", "--exit-on-error", "-d", url, str(source)]
    subprocess.run(command, check=True)


def another_database(cluster: Cluster, name: str) -> str:
    """Create a database of this cluster; return its URL."""
    with psycopg.connect(cluster.url, autocommit=True) as session:
        session.execute(f'CREATE DATABASE "{name}"')
    return urlsplit(cluster.url)._replace(path=f"/{name}").geturl()
