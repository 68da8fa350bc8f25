"""What gunicorn does around the web processes; it reads this file by itself (command line options win)."""

import gc
import os
import shutil
from typing import Any

from config.settings import DATA_DIR

# The web processes count together, in files of this folder: /metrics may be answered by any of them.
COUNTS = os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", str(DATA_DIR / "metrics"))

from prometheus_client.multiprocess import mark_process_dead  # noqa: E402 - it reads the variable at once


def on_starting(server: Any) -> None:
    """A new server counts from nothing."""
    shutil.rmtree(COUNTS, ignore_errors=True)
    os.makedirs(COUNTS)


def post_worker_init(worker: Any) -> None:
    """What is loaded stays: looking through it for garbage again and again took a third of a pull's time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def child_exit(server: Any, worker: Any) -> None:
    """What a process that ended has counted stays; what it alone measured goes."""
    mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
