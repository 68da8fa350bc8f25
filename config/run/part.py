"""One program under supervision: its process, its output, and when it starts again."""

import os
import signal
import time
from collections.abc import Callable

from config.processes.leash import Leash
from config.processes.program import Program, signal_group, spawn

LONGEST_WAIT = 30.0  # seconds between two starts of a part that keeps failing
SETTLED = 30.0  # seconds after which a part's earlier failures are forgotten
LONGEST_LINE = 64 * 1024
NO_SUCH_PROGRAM = 127  # as a shell says it


def wait_before_restart(failures: int) -> float:
    """Seconds to wait after this many failures in a row: 0.5, 1, 2, 4 … 30."""
    return float(min(LONGEST_WAIT, 0.5 * 2 ** min(failures - 1, 10)))


class Output:
    """What one process says: lines from a pipe, which may outlast the process a little."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.pipe, self.theirs = os.pipe()
        os.set_blocking(self.pipe, False)
        self.open = True
        self._say = say
        self._partial = b""

    def read(self) -> bool:
        """Pass on what came since; whether there was anything."""
        try:
            said = os.read(self.pipe, LONGEST_LINE)
        except BlockingIOError:
            return False
        self.open = bool(said)
        *lines, self._partial = (self._partial + said).split(b"\n")
        if self._partial and (not said or len(self._partial) > LONGEST_LINE):
            lines, self._partial = [*lines, self._partial], b""
        for line in lines:
            self._say(line.decode(errors="replace"))
        return self.open


class Part:
    """A program that is started, read, and when it is meant to stay, started again."""

    def __init__(self, program: Program, leash: Leash, say: Callable[[str], None]) -> None:
        self.program = program
        self.code: int | None = None  # its exit code while it is not running
        self.start_at: float | None = None
        self._leash = leash
        self._say = say
        self._failures = 0

    def start(self) -> Output:
        """Start the program; returns what it says. Raises OSError when there is no such program."""
        self.code = self.start_at = None
        self.started = time.monotonic()
        self.output = Output(self._say)
        try:
            self.process = spawn(self.program, self.output.theirs)
        except OSError:
            self.code = NO_SUCH_PROGRAM
            raise
        finally:
            os.close(self.output.theirs)
        self._leash.hold(self.process.pid, self.program)
        return self.output

    def ended(self) -> bool:
        """Whether it ended just now: then what it left behind is gone too."""
        if self.code is not None or self.process.poll() is None:
            return False
        signal_group(self.process.pid, signal.SIGKILL)
        self._leash.release(self.process.pid)
        self.code = self.process.returncode
        while self.output.open and self.output.read():
            pass
        return True

    def plan_restart(self) -> float:
        """Decide when to start again; the seconds until then."""
        settled = time.monotonic() - self.started > SETTLED
        self._failures = 1 if settled else self._failures + 1
        wait = wait_before_restart(self._failures)
        self.start_at = time.monotonic() + wait
        return wait

    def ask_to_end(self) -> None:
        """Send the program its polite signal."""
        self.start_at = None
        if self.code is None and self.process.poll() is None:
            self.process.send_signal(self.program.stop_signal)

    def insist(self) -> None:
        """End the program and its children at once."""
        if self.code is None:
            signal_group(self.process.pid, signal.SIGKILL)


def how_it_ended(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
