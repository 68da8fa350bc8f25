"""Clocks, ratios with their limits, and the memory of a process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection

from tools.bench.sizes import SMOKE


class Clock:
    seconds = 0.0


@contextmanager
def timed(label: str, rows: int = 0) -> Iterator[Clock]:
    clock, began = Clock(), time.perf_counter()
    yield clock
    clock.seconds = time.perf_counter() - began
    rate = f", {rows / clock.seconds:>10,.0f} rows/s" if rows else ""
    print(f"  {label:<66} {clock.seconds:8.2f} s{rate}", flush=True)


def ratio(label: str, part: float, whole: float, most: float) -> None:
    """Print a ratio, and whether it is within its limit."""
    share = part / whole
    print(f"  {label:<66} {share:8.2f}    (at most {most}: {verdict(share <= most)})", flush=True)


def bare(label: str, part: float, whole: float) -> None:
    """Print a ratio without a limit. It helps to explain the limited ratios."""
    print(f"  {label:<66} {part / whole:8.2f}", flush=True)


def at_least(label: str, measured: float, least: float) -> None:
    """Print a number, and whether it reaches its goal."""
    print(f"  {label:<66} {measured:8.2f}    (at least {least}: {verdict(measured >= least)})", flush=True)


def verdict(is_within: bool) -> str:
    if SMOKE:
        return "not judged"
    return "yes" if is_within else "NO"


def peak_mib(pid: int | str = "self") -> float:
    """Return the largest amount of memory that a process has had, in MiB."""
    return _status_mib(pid, "VmHWM:")


def resident_mib(pid: int) -> float:
    """Return the memory of a process, in MiB."""
    return _status_mib(pid, "VmRSS:")


def _status_mib(pid: int | str, field: str) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    return 0.0


def cpu_seconds() -> float:
    """Return the processor time of this process and of its PostgreSQL process.

    If PostgreSQL runs on another machine, return the time on the clock.
    """
    connection.ensure_connection()
    backend = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
    try:
        return time.process_time() + int(backend.read_text().split()[0]) / 1e9
    except OSError:
        return time.perf_counter()
