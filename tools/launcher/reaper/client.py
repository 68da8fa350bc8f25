"""The launcher's side of the pipe to the reaper. The reaper ends all programs when the launcher has ended."""

import subprocess
import sys
from pathlib import Path

from tools.launcher.processes.program import Program

STOP_TIMEOUT = 5.0  # seconds between the stop signal and SIGKILL
PROCESS = Path(__file__).with_name("process.py")


class Reaper:
    """The client of the reaper. It tells the reaper the process groups of all running programs."""

    def __init__(self, *, keep_open: tuple[int, ...] = (), stop_timeout: float = STOP_TIMEOUT) -> None:
        """Start the reaper. It keeps the descriptors `keep_open`, such as a lock, until it has cleaned up."""
        self._keep_open, self._stop_timeout = keep_open, stop_timeout
        self._commands: dict[str, str] = {}
        self._process = self._start()

    def watch(self, group: int, program: Program) -> None:
        """Make the reaper end this process group when the launcher has ended."""
        self._command(str(group), f"+ {group} {int(program.stop_signal)}")

    def release(self, group: int) -> None:
        """Make the reaper forget a group that has ended, because the system may reuse its number."""
        if self._commands.pop(str(group), None):
            self._send(f"- {group}")

    def remove_at_end(self, path: Path) -> None:
        """Make the reaper remove this folder or file when the launcher has ended."""
        self._command(str(path), f"! {path}")

    def close(self) -> None:
        """Let the reaper clean up, and wait for it."""
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait()

    @property
    def pid(self) -> int:
        """Return the reaper's process id."""
        return self._process.pid

    def restart_if_dead(self) -> None:
        """Start a new reaper if the reaper was killed, and send it all commands again."""
        if self._process.poll() is not None:
            self._process = self._start()
            for command in self._commands.values():
                self._send(command)

    def _command(self, key: str, command: str) -> None:
        self._commands[key] = command
        self._send(command)

    def _send(self, line: str) -> None:
        pipe = self._process.stdin
        try:
            print(line, file=pipe, flush=True)
        except BrokenPipeError:
            self.restart_if_dead()

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(PROCESS), str(self._stop_timeout)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=self._keep_open,
            cwd="/",
            text=True,
        )
