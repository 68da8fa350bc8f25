"""Clocks, the rows of the printed tables, and the memory and processor time of processes."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Sequence
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
    show(label, clock.seconds, unit=f"s, {rows / clock.seconds:>10,.0f} rows/s" if rows else "s")


def show(label: str, *numbers: float, unit: str = "", digits: int = 2) -> None:
    """Print a row of numbers."""
    print(f"  {label:<66} {' '.join(f'{each:8,.{digits}f}' for each in numbers)} {unit}".rstrip(), flush=True)


def at_most(label: str, measured: float, most: float) -> None:
    """Print a number, and whether it is within its limit."""
    show(label, measured, unit=f"   (at most {most}{verdict(measured <= most)})")


def at_least(label: str, measured: float, least: float) -> None:
    """Print a number, and whether it reaches its goal."""
    show(label, measured, unit=f"   (at least {least}{verdict(measured >= least)})")


def verdict(is_within: bool) -> str:
    return "" if SMOKE else ": yes" if is_within else ": NO"


def p95(seconds: Sequence[float]) -> float:
    """Return the 95th percentile in milliseconds."""
    return sorted(seconds)[math.ceil(len(seconds) * 0.95) - 1] * 1000


def resident_mib(pid: int) -> float:
    """Return the memory of a process, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def cpu_seconds(pid: int) -> float:
    """Return the seconds of CPU that all threads of a process have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_with_database() -> float:
    """Return the processor time of this process and of its PostgreSQL process.

    If PostgreSQL runs on another machine, return the elapsed time.
    """
    connection.ensure_connection()
    backend = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
    try:
        return time.process_time() + int(backend.read_text().split()[0]) / 1e9
    except OSError:
        return time.perf_counter()
