"""Two hosts behind a proxy. Each runs every part by the commands of deploy/."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from tools.bench.soak import commands
from tools.bench.soak.processes import Process, wait_until
from tools.launcher.embedded.ports import free_port
from tools.launcher.processes.program import Program
from tools.launcher.reaper.client import Reaper

STOP_SECONDS = 20.0


class Host:
    """A machine that runs all parts of the Exchange."""

    def __init__(self, name: str, home: Path, root: Path, shared: Mapping[str, str], reaper: Reaper) -> None:
        """Prepare a host with the code in `root`: the current code or another version."""
        self.name, self.root, self.port, self.sftp_port = name, root, free_port(), free_port()
        folder = home / name
        folder.mkdir()
        self.environment = {
            **os.environ,
            **shared,
            "DATA_DIR": str(folder),
            "PROMETHEUS_MULTIPROC_DIR": str(folder / "metrics"),
            "PORT": str(self.port),
            "SFTP_PORT": str(self.sftp_port),
            "WEB_WORKERS": "1",
            "LOG_LEVEL": "WARNING",
        }
        command = {"one": commands.of_compose, "two": commands.of_unit}[name]
        self.parts = {
            part: Process(self._program(part, command(part, root)), folder / f"{part}.log", reaper)
            for part in commands.parts_of(root)
        }

    def _program(self, part: str, arguments: Sequence[str]) -> Program:
        # The hosts share one machine, so each has its own name and its own schedule file for beat.
        own = [word.replace("@%h", f"@{self.name}") for word in arguments]
        own = [f"{self.environment['DATA_DIR']}/beat" if "beat-schedule" in word else word for word in own]
        if part == "worker":
            own += ["-n", f"celery@{self.name}"]
        return Program(part, (sys.executable, *own), self.root, self.environment, stop_timeout=STOP_SECONDS)

    def start(self) -> None:
        for process in self.parts.values():
            if not process.alive():
                process.start()
        wait_until(self.ready, f"host {self.name} is ready", 180)

    def kill(self) -> None:
        for process in self.parts.values():
            process.kill()

    def stop(self) -> None:
        for process in self.parts.values():
            process.stop()

    def revive(self) -> list[str]:
        """Restart parts that have ended, as systemd does, and return their names."""
        ended = [part for part, process in self.parts.items() if not process.alive()]
        for part in ended:
            self.parts[part].start()
        return ended

    def ready(self) -> bool:
        return answers(self.port, "/readyz") and listens(self.sftp_port)

    def memory(self) -> dict[str, int]:
        return {part: process.memory() for part, process in self.parts.items()}


class Proxy:
    """haproxy with the configuration in deploy/haproxy.cfg."""

    def __init__(self, hosts: Sequence[Host], log: Path, reaper: Reaper) -> None:
        program = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin")
        if program is None:
            raise SystemExit("The soak needs haproxy: apt-get install haproxy.")
        self.port = free_port()
        one, two = (f"127.0.0.1:{host.port}" for host in hosts)
        environment = {
            "EXCHANGE_BIND": f"127.0.0.1:{self.port}",
            "EXCHANGE_HOST": "127.0.0.1",
            "EXCHANGE_ONE": one,
            "EXCHANGE_TWO": two,
        }
        command = (program, "-db", "-f", str(commands.DEPLOY / "haproxy.cfg"))
        folder = Path(tempfile.gettempdir())
        self.process = Process(Program("proxy", command, folder, environment), log, reaper)
        self.process.start()
        wait_until(lambda: listens(self.port), "haproxy listens")


def listens(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


def answers(port: int, path: str) -> bool:
    """Return whether this path answers 200."""
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
