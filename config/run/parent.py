"""Whether `make`, which started us, still wants us to go on."""

import os
import signal
from pathlib import Path


class Make:
    """Our parent, when that is make. Anything else that started us may come and go."""

    def __init__(self) -> None:
        self._pid = os.getppid() if os.environ.get("MAKELEVEL") else None
        self._minds_interrupts = not self._blocks_interrupts()

    def ended(self) -> str | None:
        """Why we should end: make is gone, or was interrupted and now waits for us; else None."""
        if self._pid is None:
            return None
        if os.getppid() != self._pid:
            return "make is gone"
        # On Ctrl-C the terminal signals both of us; on a SIGINT to make alone, make tells nobody,
        # blocks the signal, and waits for its children.
        if self._minds_interrupts and self._blocks_interrupts():
            return "make was interrupted"
        return None

    def _blocks_interrupts(self) -> bool:
        """Whether make blocks SIGINT; never known where there is no /proc."""
        try:
            status = Path(f"/proc/{self._pid}/status").read_text()
        except OSError:
            return False
        blocked = next((line.split()[1] for line in status.splitlines() if line.startswith("SigBlk:")), "0")
        return bool(int(blocked, 16) >> (signal.SIGINT - 1) & 1)
