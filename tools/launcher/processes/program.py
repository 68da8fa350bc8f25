"""Programs: their settings, and functions that start and stop them."""

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tools.launcher.processes.account import Account


@dataclass(frozen=True)
class Program:
    """The settings to start and stop a program."""

    name: str
    command: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    account: Account | None = None
    stdin: str = ""  # for secrets, because all users can read a command line
    stop_signal: signal.Signals = signal.SIGTERM
    stop_timeout: float = 10.0  # seconds between the stop signal and SIGKILL
    hidden: tuple[str, ...] = ()  # lines that contain one of these texts are not shown


def spawn(program: Program, output: int | IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a program in its own session, so that Ctrl-C in the terminal reaches only the launcher."""
    process = subprocess.Popen(
        program.command,
        cwd=program.folder,
        env=dict(program.environment) or None,
        stdin=subprocess.PIPE if program.stdin else subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        **(program.account.popen_options() if program.account else {}),
    )
    if process.stdin:
        with suppress(BrokenPipeError), process.stdin as pipe:
            pipe.write(program.stdin.encode())
    return process


def signal_group(group: int, number: signal.Signals) -> bool:
    """Send a signal to a program and its children. Return whether any of them was still running."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):  # macOS raises PermissionError for a group of zombies
        return False
    return True


def stop(program: Program, process: subprocess.Popen[bytes]) -> int:
    """Send the stop signal, kill after the timeout, and return the exit code."""
    if process.poll() is None:
        process.send_signal(program.stop_signal)
    try:
        process.wait(program.stop_timeout)
    except subprocess.TimeoutExpired:
        process.kill()
    signal_group(process.pid, signal.SIGKILL)
    return process.wait()
