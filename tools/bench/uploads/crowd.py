"""Twenty uploads at once by one login from one address: how equal their times are, and their memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tools.bench.measuring import at_least, peak_mib, ratio
from tools.bench.sizes import size
from tools.bench.uploads.servers import UploadTarget, put

AT_ONCE = size(20, smoke=3)
LATER = size(1.0, smoke=0.1)  # seconds until one more upload begins


def at_once(home: Path, exchange: UploadTarget, alone_mib: float) -> None:
    """Upload many files at once; `alone_mib` is the peak memory of the server for one upload."""
    pid, (small, larger) = exchange.process.pid, (_size(home, "small"), _size(home, "larger"))
    with _furthest(home) as at_first_end:
        seconds = _put_all(home, exchange, "small")
    _print(f"{AT_ONCE} uploads of {small / 10**6:g} MB at once: {max(seconds):.2f} s in total")
    ratio("slowest / fastest", max(seconds), min(seconds), 1.5)
    at_least("progress of the slowest when the fastest ended", min(at_first_end) / small, 0.3)
    twenty_mib = peak_mib(pid)
    ratio("peak memory of the server / with one upload", twenty_mib, alone_mib, 2.0)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(_put_all, home, exchange, "larger")
        time.sleep(LATER)  # the measure starts one upload after all others have begun
        newcomer = put(home, exchange, "tiny", "newcomer.bin")
        seconds = running.result()
    _print(f"{AT_ONCE} uploads of {larger / 10**6:g} MB at once: {max(seconds):.2f} s in total")
    ratio("a later upload of 1 MB / the fastest of them", newcomer, min(seconds), 0.2)
    ratio("peak memory / with files a tenth as large", peak_mib(pid), twenty_mib, 1.1)


def _size(home: Path, file: str) -> int:
    return (home / file).stat().st_size


def _put_all(home: Path, exchange: UploadTarget, file: str) -> list[float]:
    """Upload the file many times at once and return the seconds of each upload."""
    names = [f"{file}-{number}.bin" for number in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda name: put(home, exchange, file, name), names))


@contextmanager
def _furthest(home: Path) -> Iterator[list[int]]:
    """Yield a list that holds, after the block, the bytes of each file when the first was complete."""
    blobs, whole, over = home / "data/uploads/blobs", _size(home, "small"), threading.Event()
    known, received = set(blobs.glob("*/*")), [0] * AT_ONCE

    def watch() -> None:
        sizes: dict[Path, int] = {}
        while not over.wait(0.02) and whole not in sizes.values():
            sizes = {path: path.stat().st_size for path in set(blobs.glob("*/*")) - known}
        received[:] = sorted([*sizes.values(), *[0] * AT_ONCE], reverse=True)[:AT_ONCE]

    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watch)
        try:
            yield received
        finally:
            over.set()
            watching.result()


def _print(line: str) -> None:
    print(f"  {line:<66}", flush=True)
