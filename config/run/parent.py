"""Whether `make`, which started us, still wants us to go on."""

import os
import signal
from pathlib import Path

from config.processes.listing import command_of


class Make:
    """Our parent, when that is make. Anything else that started us may come and go."""

    def __init__(self) -> None:
        self._pid = os.getppid() if "make" in command_of(os.getppid()).split(" ")[0] else None
        self._minded = self._minds_interrupts()

    def ended(self) -> str | None:
        """Why we should end: make is gone, or was interrupted and now waits for us; else None."""
        if self._pid is None:
            return None
        if os.getppid() != self._pid:
            return "make is gone"
        # On Ctrl-C the terminal signals both of us. On a SIGINT to make alone, GNU make tells nobody:
        # it takes its handler away, waits for its children, and then sends itself the signal again.
        if self._minded and not self._minds_interrupts():
            return "make was interrupted"
        return None

    def _minds_interrupts(self) -> bool:
        """Whether make has a handler for SIGINT; never known where there is no /proc."""
        try:
            status = Path(f"/proc/{self._pid}/status").read_text()
        except OSError:
            return False
        caught = next((line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")), "0")
        return bool(int(caught, 16) >> (signal.SIGINT - 1) & 1)
