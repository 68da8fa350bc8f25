"""One program under the supervisor: its process, its output and its restarts."""

import os
import signal
import time
from collections.abc import Callable

from tools.launcher.processes.program import Program, signal_group, spawn
from tools.launcher.reaper.client import Reaper

MAX_BACKOFF = 30.0  # seconds between two starts of a program that keeps failing
STABLE_AFTER = 30.0  # seconds of running after which earlier failures are forgotten
MAX_LINE = 64 * 1024
NO_SUCH_PROGRAM = 127  # the exit code of a shell for a missing program


def wait_before_restart(failures: int) -> float:
    """Return the seconds to wait after this many failures in a row: 0.5, 1, 2, 4 … 30."""
    return float(min(MAX_BACKOFF, 0.5 * 2 ** min(failures - 1, 10)))


class Output:
    """The output of a process: lines from a pipe. Children of the process may keep the pipe open."""

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        self.open = True
        self._on_line = on_line
        self._partial = b""

    def read(self) -> bool:
        """Pass on the new lines. Return False if nothing can be read now, or at the end of the pipe."""
        try:
            chunk = os.read(self.read_end, MAX_LINE)
        except BlockingIOError:
            return False
        self.open = bool(chunk)
        *lines, self._partial = (self._partial + chunk).split(b"\n")
        if self._partial and (not chunk or len(self._partial) > MAX_LINE):
            lines, self._partial = [*lines, self._partial], b""
        for line in lines:
            self._on_line(line.decode(errors="replace"))
        return self.open


class ManagedProcess:
    """A program under the supervisor, which starts it, reads its output, and may start it again."""

    def __init__(self, program: Program, reaper: Reaper, on_line: Callable[[str], None]) -> None:
        self.program = program
        self.code: int | None = None  # the exit code, or None while the program runs
        self.start_at: float | None = None
        self._reaper = reaper
        self._on_line = on_line
        self._failures = 0

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self) -> Output:
        """Start the program and return its output. Raises OSError if the program does not exist."""
        self.code = self.start_at = None
        self._started_at = time.monotonic()
        self._output = Output(self._show)
        try:
            self._process = spawn(self.program, self._output.write_end)
        except OSError:
            self.code = NO_SUCH_PROGRAM
            raise
        finally:
            os.close(self._output.write_end)
        self._reaper.watch(self.pid, self.program)
        return self._output

    def _show(self, line: str) -> None:
        if not any(text in line for text in self.program.hidden):
            self._on_line(line)

    def has_ended(self) -> bool:
        """Return whether the program has ended since the last call.

        If the program has ended, kill its children and pass on its remaining output.
        """
        if self.code is not None or self._process.poll() is None:
            return False
        signal_group(self.pid, signal.SIGKILL)
        self._reaper.release(self.pid)
        self.code = self._process.returncode
        while self._output.open and self._output.read():
            pass
        return True

    def plan_restart(self) -> float:
        """Set the time of the next start and return the seconds until then."""
        was_stable = time.monotonic() - self._started_at > STABLE_AFTER
        self._failures = 1 if was_stable else self._failures + 1
        wait = wait_before_restart(self._failures)
        self.start_at = time.monotonic() + wait
        return wait

    def terminate(self) -> None:
        """Send the program its stop signal."""
        self.start_at = None
        if self.code is None and self._process.poll() is None:
            self._process.send_signal(self.program.stop_signal)

    def kill(self) -> None:
        """Kill the program and its children."""
        if self.code is None:
            signal_group(self.pid, signal.SIGKILL)


def describe_exit(code: int) -> str:
    """Return an exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
