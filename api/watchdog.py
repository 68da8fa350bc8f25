"""A program that runs a part of the service and kills the part when it freezes.

Usage: `python -m api.watchdog COMMAND`. `python -m api.watchdog --check` is the health check of a container.

A container runtime restarts a program that ends, but not a program that hangs. A part gives a sign of life
every few seconds. When the signs stop, the watchdog kills the part and ends, and the runtime restarts both.
systemd needs no watchdog: it receives the same signs itself. This module imports only the standard library,
because each health check starts it.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

FROZEN_AFTER = 60.0
"""Seconds without a sign after which a part counts as frozen. The watch begins with the first sign."""
LOOK_SECONDS = 1.0
FROZEN = 70
"""The exit code of the watchdog after it killed a frozen part."""


def reassure() -> None:
    """Report to the watchdog or to systemd that this process is alive."""
    if name := os.environ.get("SIGN_FILE"):
        with suppress(OSError):
            Path(name).touch()
    if address := os.environ.get("NOTIFY_SOCKET"):
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            # A leading @ stands for the null byte of an abstract address.
            sock.connect(f"\0{address[1:]}" if address.startswith("@") else address)
            sock.send(b"WATCHDOG=1")


def run(command: Sequence[str], sign: Path, frozen_after: float = FROZEN_AFTER) -> int:
    """Run a command until it ends or freezes; return its exit code or FROZEN. Pass on SIGTERM and SIGINT."""
    sign.unlink(missing_ok=True)
    environment = {**os.environ, "SIGN_FILE": str(sign)}
    early: list[int] = []
    _on_stop(early.append)
    process = subprocess.Popen(command, env=environment, start_new_session=True)  # noqa: S603 - from the image
    _on_stop(process.send_signal)
    for number in early:  # signals that arrived while the part was starting
        process.send_signal(number)
    newest, seen_at = None, time.monotonic()
    while True:
        with suppress(subprocess.TimeoutExpired):
            code = process.wait(min(LOOK_SECONDS, frozen_after))
            return code if code >= 0 else 128 - code
        if (found := _given_at(sign)) != newest:
            newest, seen_at = found, time.monotonic()
        elif newest is not None and time.monotonic() - seen_at > frozen_after:
            sys.stderr.write(f"No sign of life for {frozen_after:.0f} s. Killing {' '.join(command)}.\n")
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return FROZEN


def _on_stop(react: Callable[[int], None]) -> None:
    """Call `react` with the number of each signal that stops the process."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: react(number))


def check(sign: Path, frozen_after: float = FROZEN_AFTER) -> int:
    """Return 0 if the part gave a sign lately, else 1."""
    given_at = _given_at(sign)
    return int(given_at is None or time.time() - given_at > frozen_after)


def _given_at(sign: Path) -> float | None:
    with suppress(OSError):
        return sign.stat().st_mtime
    return None


if __name__ == "__main__":
    found = Path(os.environ.get("SIGN_FILE", f"/tmp/exchange-sign-{os.getuid()}"))  # noqa: S108 - see tmpfs
    sys.exit(check(found) if sys.argv[1:] == ["--check"] else run(sys.argv[1:], found))
