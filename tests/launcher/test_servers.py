"""The embedded servers: they start, need their password, survive a crash, and leave nothing behind."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
import redis

from tests.launcher.waiting import eventually, eventually_gone
from tools.launcher.embedded.data_home import persistent_home, temporary_home
from tools.launcher.embedded.postgres import Postgres
from tools.launcher.embedded.servers import missing_servers, temporary_servers
from tools.launcher.processes.account import Account, unprivileged_account
from tools.launcher.processes.command_line import command_of
from tools.launcher.processes.program import Program, spawn, stop

pytestmark = pytest.mark.program

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers under another account")

SCRIPT = """
import json, os, sys, time
from tools.launcher.embedded.servers import temporary_servers

with temporary_servers(os.environ) as urls:
    print(json.dumps(urls), flush=True)
    time.sleep(600)  # until the test ends it
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Make a folder that the servers' account can read. Only this process's account can read `tmp_path`."""
    folder = temporary_home(unprivileged_account())
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def urls() -> Iterator[dict[str, str]]:
    with temporary_servers({}) as urls:
        yield urls


def test_postgres_answers_in_utf8_and_utc(urls: dict[str, str]) -> None:
    with psycopg.connect(urls["DATABASE_URL"]) as connection:
        settings = "SELECT current_setting('server_encoding'), current_setting('TimeZone')"
        assert connection.execute(settings).fetchone() == ("UTF8", "UTC")


@pytest.mark.parametrize("user", ["exchange", "postgres"])
def test_no_client_connects_without_the_password(urls: dict[str, str], user: str) -> None:
    port = psycopg.conninfo.conninfo_to_dict(urls["DATABASE_URL"])["port"]
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(host="127.0.0.1", port=port, user=user, password="guessed", dbname="postgres")


def test_redis_answers_only_with_the_password(urls: dict[str, str]) -> None:
    with redis.Redis.from_url(urls["REDIS_URL"]) as client:
        assert client.ping()
        port = client.connection_pool.connection_kwargs["port"]
    with redis.Redis(port=port) as other_program, pytest.raises(redis.AuthenticationError):
        other_program.ping()


def test_a_given_url_needs_no_server(tmp_path: Path) -> None:
    given = {"DATABASE_URL": "postgresql://elsewhere/exchange"}
    assert [server.name for server in missing_servers(given, tmp_path, None)] == ["redis"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_temporary_servers_leave_no_file_and_no_process(open_folder: Path, number: signal.Signals) -> None:
    environment = {**os.environ, "DATABASE_URL": "", "REDIS_URL": "", "TMPDIR": str(open_folder)}
    command = [sys.executable, "-c", SCRIPT]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as owner:
        assert owner.stdout
        assert "DATABASE_URL" in json.loads(owner.stdout.readline())
        (home,) = open_folder.glob("exchange-*")
        pids = [int((home / "postgres" / "postmaster.pid").read_text().split()[0]), *children_of(owner.pid)]
        assert len(pids) >= 4  # PostgreSQL's main process (twice), Redis and the reaper
        owner.send_signal(number)
    eventually_gone(pids)
    eventually(lambda: not home.exists(), "the folder is gone")


@pytest.mark.fault
def test_data_outlives_a_crash_and_a_stale_lock(open_folder: Path) -> None:
    with running_postgres(open_folder) as (postgres, process):
        with psycopg.connect(postgres.url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        process.kill()
        process.wait()
    other_program = Program("other_program", ("sleep", "600"), folder=open_folder, account=postgres.account)
    sleeping = spawn(other_program, subprocess.DEVNULL)
    try:
        # Simulate a restart of the machine: the id in the lock now belongs to another process.
        lock = postgres.data / "postmaster.pid"
        lock.write_text(lock.read_text().replace(str(process.pid), str(sleeping.pid), 1))
        with running_postgres(open_folder) as (postgres, _), psycopg.connect(postgres.url) as connection:
            assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)
        assert sleeping.poll() is None
    finally:
        stop(other_program, sleeping)


@pytest.mark.fault
def test_a_server_that_lost_its_supervisor_is_stopped_before_the_next_starts(open_folder: Path) -> None:
    with running_postgres(open_folder) as (_, orphan), running_postgres(open_folder) as (postgres, _):
        assert orphan.wait() is not None
        psycopg.connect(postgres.url).close()


@only_root
def test_data_of_an_unreadable_folder_is_kept_elsewhere_and_found_again(tmp_path: Path) -> None:
    account = unprivileged_account()
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    assert account
    assert not account.can_enter(closed)
    with ExitStack() as cleanup:
        home = persistent_home(closed / "var", account)
        cleanup.callback(home.rmdir)
        assert closed not in home.parents
        assert account.can_enter(home)
        assert persistent_home(closed / "var", account) == home


@only_root
def test_a_readable_folder_keeps_the_data(open_folder: Path) -> None:
    assert persistent_home(open_folder / "var", unprivileged_account()) == open_folder / "var" / "embedded"
    assert persistent_home(open_folder / "mine", None) == open_folder / "mine" / "embedded"


def children_of(pid: int) -> list[int]:
    listing = subprocess.run(["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, text=True)
    return [int(line) for line in listing.stdout.split() if command_of(int(line))]


@contextmanager
def running_postgres(home: Path) -> Iterator[tuple[Postgres, subprocess.Popen[bytes]]]:
    account: Account | None = unprivileged_account()
    postgres = Postgres(home, account, testing=False)
    postgres.prepare()
    program = postgres.program()
    process = spawn(program, subprocess.DEVNULL)
    try:
        eventually(lambda: process.poll() is not None or postgres.ready(process.pid), "PostgreSQL is up")
        assert process.poll() is None
        yield postgres, process
    finally:
        stop(program, process)
