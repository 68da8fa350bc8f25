"""Twenty uploads at once by one login from one address: whether they are fair, and what memory they need."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tools.bench.measuring import at_least, peak_mib, ratio
from tools.bench.uploads.servers import Target, put

AT_ONCE = 20
LATER = 1.0  # seconds after which one more upload begins


def at_once(home: Path, exchange: Target, alone_mib: float) -> None:
    """`alone_mib`: the most memory that the server needed for one upload."""
    pid, (small, larger) = exchange.process.pid, (_size(home, "small"), _size(home, "larger"))
    with _furthest(home) as at_first_end:
        seconds = _put_all(home, exchange, "small")
    _print(f"{AT_ONCE} of {small // 10**6} MB at once: {max(seconds):.2f} s in all")
    ratio("slowest beside fastest", max(seconds), min(seconds), 1.5)
    at_least("how far the slowest was when the first was done", min(at_first_end) / small, 0.3)
    twenty_mib = peak_mib(pid)
    ratio("peak memory of the server, beside that of one upload", twenty_mib, alone_mib, 2.0)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(_put_all, home, exchange, "larger")
        time.sleep(LATER)  # they are all under way by then: this is what is measured, and no wait for it
        newcomer = put(home, exchange, "tiny", "newcomer.bin")
        seconds = running.result()
    _print(f"{AT_ONCE} of {larger // 10**6} MB at once: {max(seconds):.2f} s in all")
    ratio("one of 1 MB that began later, beside the fastest of them", newcomer, min(seconds), 0.2)
    ratio("peak memory, beside that of files a tenth as large", peak_mib(pid), twenty_mib, 1.1)


def _size(home: Path, file: str) -> int:
    return (home / file).stat().st_size


def _put_all(home: Path, exchange: Target, file: str) -> list[float]:
    """The seconds of each."""
    names = [f"{file}-{number}.bin" for number in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda name: put(home, exchange, file, name), names))


@contextmanager
def _furthest(home: Path) -> Iterator[list[int]]:
    """How far the files that are put in this block had come when the first of them was whole, in bytes."""
    blobs, whole, over = home / "data/uploads/blobs", _size(home, "small"), threading.Event()
    known, found = set(blobs.glob("*/*")), [0] * AT_ONCE

    def watch() -> None:
        sizes: dict[Path, int] = {}
        while not over.wait(0.02) and whole not in sizes.values():
            sizes = {path: path.stat().st_size for path in set(blobs.glob("*/*")) - known}
        found[:] = sorted([*sizes.values(), *[0] * AT_ONCE], reverse=True)[:AT_ONCE]

    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watch)
        try:
            yield found
        finally:
            over.set()
            watching.result()


def _print(line: str) -> None:
    print(f"  {line:<66}", flush=True)
