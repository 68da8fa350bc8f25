"""Clocks, and the memory of a process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
    found = part / whole
    print(f"  {label:<66} {found:8.2f}    (at most {most}: {'yes' if found <= most else 'NO'})", flush=True)


def bare(label: str, part: float, whole: float) -> None:
    """A ratio that explains others, and is asked to be nothing."""
    print(f"  {label:<66} {part / whole:8.2f}", flush=True)


def at_least(label: str, found: float, least: float) -> None:
    verdict = "yes" if found >= least else "NO"
    print(f"  {label:<66} {found:8.2f}    (at least {least}: {verdict})", flush=True)


def peak_mib(pid: int | str = "self") -> float:
    """The most memory that a process has had, in MiB."""
    return _status_mib(pid, "VmHWM:")


def resident_mib(pid: int) -> float:
    """The memory that a process has now, in MiB."""
    return _status_mib(pid, "VmRSS:")


def _status_mib(pid: int | str, field: str) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    return 0.0
