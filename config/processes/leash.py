"""Our end of the guardian's pipe: tells it which process groups must not outlive us."""

import subprocess
import sys
from pathlib import Path

from config.processes.program import Program

GUARDIAN = Path(__file__).with_name("guardian.py")


class Leash:
    """Holds every program that was started; lets go of what ended in order."""

    def __init__(self, *, keeps_open: tuple[int, ...] = ()) -> None:
        """`keeps_open`: file descriptors, such as a lock's, that stay open until all is cleaned up."""
        self._keeps_open = keeps_open
        self._orders: dict[str, str] = {}
        self._guardian = self._start()

    def hold(self, group: int, program: Program) -> None:
        """From now on this group ends with us."""
        self._order(str(group), f"+ {group} {int(program.stop_signal)}")

    def release(self, group: int) -> None:
        """This group has ended; its number may come to mean somebody else."""
        if self._orders.pop(str(group), None):
            self._say(f"- {group}")

    def remove_at_end(self, path: Path) -> None:
        """This folder or file goes when we go."""
        self._order(str(path), f"! {path}")

    def close(self) -> None:
        """Let the guardian finish, and wait for it."""
        if self._guardian.stdin:
            self._guardian.stdin.close()
        self._guardian.wait()

    @property
    def guardian(self) -> int:
        """The guardian's process number."""
        return self._guardian.pid

    def check(self) -> None:
        """Replace a guardian that somebody ended."""
        if self._guardian.poll() is not None:
            self._guardian = self._start()
            for order in self._orders.values():
                self._say(order)

    def _order(self, key: str, order: str) -> None:
        self._orders[key] = order
        self._say(order)

    def _say(self, line: str) -> None:
        pipe = self._guardian.stdin
        try:
            print(line, file=pipe, flush=True)  # noqa: T201 - it speaks to the guardian
        except BrokenPipeError:
            self.check()

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(GUARDIAN)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=self._keeps_open,
            cwd="/",
            text=True,
        )
