"""Settings of the web server. `gunicorn config.wsgi` reads this file. Command-line options override it."""

import gc
import os
import shutil
import sys
from typing import Any

from environs import Env, validate

from api import signs_of_life
from api.wrong_settings import exit_with_sentence
from config.settings import DATA_DIR, PORT

env = Env()
_host = env.str("HOST", "127.0.0.1")
bind = f"[{_host}]:{PORT}" if ":" in _host else f"{_host}:{PORT}"
with exit_with_sentence():
    workers = env.int("WEB_WORKERS", 2, validate=validate.Range(min=1))
    threads = env.int("WEB_THREADS", 8, validate=validate.Range(min=1))
# This worker reads a request completely before a thread answers it, and divides the threads among the parties
# (docs/adr/0061).
worker_class = "config.web.worker.Worker"
logger_class = "config.web.log.Log"
worker_connections = 800  # many systems allow a process 1,024 open files
keepalive = 20
limit_request_line = 8190  # enough for a filter and a cursor
max_requests, max_requests_jitter = 20_000, 2_000
timeout, graceful_timeout = 60, 10
control_socket_disable = True
# The application is loaded once, and the web processes share its memory. The application starts no thread and
# opens no connection before the first request.
preload_app = True

# The web processes share one folder with their counters, because any web process may answer /metrics.
COUNTS = os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", str(DATA_DIR / "metrics"))
os.makedirs(COUNTS, exist_ok=True)  # counters are made when the application is loaded

from prometheus_client.multiprocess import mark_process_dead  # noqa: E402 - the import reads the variable


def on_starting(server: Any) -> None:
    """Delete the old counters, and load all URLs before the web processes are forked."""
    shutil.rmtree(COUNTS, ignore_errors=True)
    os.makedirs(COUNTS)
    from django.urls import get_resolver  # the application has set up Django by now

    assert get_resolver().url_patterns
    gc.collect()
    gc.freeze()


# Seconds after which Python switches from a busy thread to another thread. With the default of 5 ms, a
# request would wait 5 ms per busy thread after each answer of the database.
SWITCH_SECONDS = 0.001


def post_worker_init(worker: Any) -> None:
    """Exclude the loaded code from garbage collection: searching it took a third of a pull's time."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    signs_of_life.keep_giving("web", lambda: {"threads": threads, "busy": threads - worker.turns.free})


def child_exit(server: Any, worker: Any) -> None:
    """Delete the live gauges of an ended process. Its counters stay."""
    mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
