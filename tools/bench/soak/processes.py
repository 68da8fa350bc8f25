"""Programs that the soak starts, kills, freezes and starts again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tools.launcher.processes.program import Program, signal_group, spawn, stop
from tools.launcher.reaper.client import Reaper

PAGE = os.sysconf("SC_PAGE_SIZE")


class Process:
    """A running program. The reaper ends it if the soak is killed."""

    def __init__(self, program: Program, log: Path, reaper: Reaper) -> None:
        self.program, self.log, self.reaper = program, log, reaper
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = spawn(self.program, log)
        self.reaper.watch(self._process.pid, self.program)

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """Send the stop signal, wait, then kill."""
        if self._process is not None:
            stop(self.program, self._process)
            self._ended()

    def kill(self) -> None:
        """Kill the program and its children at once, as a power failure does."""
        if self._process is not None:
            signal_group(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._ended()

    def freeze(self) -> None:
        signal_group(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        signal_group(self.pid, signal.SIGCONT)

    def memory(self) -> int:
        """Return the resident bytes of the program and its children."""
        return _memory(self.pid) if self.alive() else 0

    def _ended(self) -> None:
        self.reaper.release(self.pid)
        self._process = None


def _memory(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (OSError, IndexError):
        return 0
    return pages * PAGE + sum(_memory(int(child)) for child in children)


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Wait until a condition holds. Raise TimeoutError if the condition does not hold in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:g} s")
        time.sleep(0.05)  # another process does not announce its state, so poll
