"""How web is served: `gunicorn config.wsgi` reads this file by itself (command line options win)."""

import gc
import os
import shutil
import sys
from typing import Any

from environs import Env

from api import signs_of_life
from config.settings import DATA_DIR, PORT

env = Env()
_host = env.str("HOST", "127.0.0.1")
bind = f"[{_host}]:{PORT}" if ":" in _host else f"{_host}:{PORT}"
workers = env.int("WEB_WORKERS", 2)
threads = env.int("WEB_THREADS", 8)
# Reads requests whole before a thread is given to them, and shares the threads out (docs/adr/0061).
worker_class = "config.web.worker.Worker"
logger_class = "config.web.log.Log"
worker_connections = 800  # many systems allow a process 1,024 open files
keepalive = 20
limit_request_line = 8190  # a filter and a cursor may stand in one line
max_requests, max_requests_jitter = 20_000, 2_000
timeout, graceful_timeout = 60, 10
control_socket_disable = True

# The web processes count together, in files of this folder: /metrics may be answered by any of them.
COUNTS = os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", str(DATA_DIR / "metrics"))

from prometheus_client.multiprocess import mark_process_dead  # noqa: E402 - it reads the variable at once


def on_starting(server: Any) -> None:
    """A new server counts from nothing."""
    shutil.rmtree(COUNTS, ignore_errors=True)
    os.makedirs(COUNTS)


# Seconds until a busy thread lets the next one go on. With Python's 5 ms, each answer of the database
# that a request waits for would cost 5 ms for each busy thread.
SWITCH_SECONDS = 0.001


def post_worker_init(worker: Any) -> None:
    """What is loaded stays: looking through it for garbage again and again took a third of a pull's time."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    signs_of_life.keep_giving("web", lambda: {"threads": threads, "busy": threads - worker.turns.free})


def child_exit(server: Any, worker: Any) -> None:
    """What a process that ended has counted stays; what it alone measured goes."""
    mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
