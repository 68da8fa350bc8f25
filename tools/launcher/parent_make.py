"""The check whether the `make` that started the launcher has ended or was interrupted."""

import os
import signal
from pathlib import Path

from tools.launcher.processes.command_line import command_of


class ParentMake:
    """The parent process, if it is make. The end of another parent process has no effect."""

    def __init__(self) -> None:
        self._pid = os.getppid() if "make" in command_of(os.getppid()).split(" ")[0] else None
        self._handled_sigint = self._handles_sigint()

    def stop_reason(self) -> str | None:
        """Return the reason to stop, or None. An interrupted make may not end before the launcher ends."""
        if self._pid is None:
            return None
        if os.getppid() != self._pid:
            return "make is gone"
        # On Ctrl-C, the terminal signals make and the launcher. GNU make does not pass on a SIGINT that only
        # make gets: it removes its handler, waits for its children, and then sends itself the signal again.
        if self._handled_sigint and not self._handles_sigint():
            return "make was interrupted"
        return None

    def _handles_sigint(self) -> bool:
        """Return whether make has a handler for SIGINT. Without /proc, return False."""
        try:
            status = Path(f"/proc/{self._pid}/status").read_text()
        except OSError:
            return False
        caught = next((line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")), "0")
        return bool(int(caught, 16) >> (signal.SIGINT - 1) & 1)
