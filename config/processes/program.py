"""One program to start: its command, how it is asked to end, and for how long one waits."""

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from config.processes.account import Account


@dataclass(frozen=True)
class Program:
    """What stands between a name and a running process."""

    name: str
    command: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    account: Account | None = None
    first_input: str = ""  # what must not stand on a command line that everybody can read
    stop_signal: signal.Signals = signal.SIGTERM
    patience: float = 10.0  # seconds between the polite signal and SIGKILL


def spawn(program: Program, output: int | IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own, so that a Ctrl-C in the terminal reaches only us."""
    process = subprocess.Popen(
        program.command,
        cwd=program.folder,
        env=dict(program.environment) or None,
        stdin=subprocess.PIPE if program.first_input else subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        **(program.account.popen_options() if program.account else {}),
    )
    if process.stdin:
        with suppress(BrokenPipeError), process.stdin as pipe:
            pipe.write(program.first_input.encode())
    return process


def signal_group(group: int, number: signal.Signals) -> bool:
    """Signal a program and its children; whether there was any of them left."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):  # PermissionError: macOS, of a group of zombies
        return False
    return True


def end(program: Program, process: subprocess.Popen[bytes]) -> int:
    """Ask a program to end, insist after its patience, and return its exit code."""
    if process.poll() is None:
        process.send_signal(program.stop_signal)
    try:
        process.wait(program.patience)
    except subprocess.TimeoutExpired:
        process.kill()
    signal_group(process.pid, signal.SIGKILL)
    return process.wait()
