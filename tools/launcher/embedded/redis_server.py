"""The embedded Redis. It stores nothing on disk, because PostgreSQL has all lasting data (docs/adr/0001)."""

import os
import socket
from pathlib import Path

from tools.launcher.embedded.binaries import redis_programs
from tools.launcher.embedded.data_home import accessible_folder
from tools.launcher.embedded.passwords import new_password
from tools.launcher.embedded.ports import free_port
from tools.launcher.processes.account import Account
from tools.launcher.processes.program import Program

CONFIGURATION = """\
bind 127.0.0.1
port {port}
requirepass {password}
save ""
appendonly no
daemonize no
loglevel warning
"""
HIDDEN = ("Memory overcommit must be enabled",)
"""A warning that is not shown, because it concerns saving to disk, and this Redis saves nothing."""


class Redis:
    """A Redis server with a new password for each run."""

    name = "redis"
    variable = "REDIS_URL"

    def __init__(self, home: Path, account: Account | None) -> None:
        found, name = redis_programs()
        self.binary = accessible_folder(found, home, account) / name
        self.home = home
        self.account = account
        self.password = new_password()
        self.port = 0

    @property
    def url(self) -> str:
        """Return the URL for clients, with the password."""
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def prepare(self) -> None:
        """Choose a port."""
        self.port = free_port()

    def clean_up_after_crash(self) -> None:
        """Do nothing, because a crash of Redis leaves no files."""

    def program(self) -> Program:
        """Return the program that starts the server on the chosen port."""
        return Program(
            name=self.name,
            command=(str(self.binary), "-"),  # "-": read the configuration from standard input
            folder=self.home,
            environment={"PATH": os.defpath, "LC_ALL": "C"},
            account=self.account,
            stdin=CONFIGURATION.format(port=self.port, password=self.password),
            hidden=HIDDEN,
        )

    def ready(self, pid: int) -> bool:
        """Return whether Redis accepts the password and answers. `pid` is for other servers."""
        del pid
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as line:
                line.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
                return self._answer(line).endswith(b"+PONG\r\n")
        except OSError:
            return False

    @staticmethod
    def _answer(line: socket.socket) -> bytes:
        answer = b""
        while answer.count(b"\r\n") < 2 and (more := line.recv(200)):
            answer += more
        return answer
