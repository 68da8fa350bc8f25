"""The Celery application. It only wakes workers: the tables are the queues."""

import functools
import gc
import logging
import os
import threading
import time
from typing import Any

from celery import Celery
from celery.signals import (
    after_task_publish,
    beat_init,
    celeryd_init,
    heartbeat_sent,
    setup_logging,
    task_prerun,
    worker_init,
    worker_ready,
)

from api import request_id, signs_of_life
from api.main_loop import MainLoop
from config.database import limit_connections
from config.health.worker import write_heartbeat

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# `migrate` has run Django's checks. They would load all pages into each worker.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")


def application() -> Celery:
    """Return a Celery application with all tasks. Two workers in one process need one each."""
    made = Celery("exchange", set_as_current=False)
    made.config_from_object("django.conf:settings", namespace="CELERY")
    made.autodiscover_tasks()
    return made


app = application()
app.set_default()


@setup_logging.connect  # type: ignore[untyped-decorator]
def keep_our_logging(**_: Any) -> None:
    """Keep the settings' LOGGING in workers: Celery skips its own setup if this signal has a receiver."""
    logging.captureWarnings(True)


@celeryd_init.connect  # type: ignore[untyped-decorator]
def limit_waiting(**_: Any) -> None:
    """Set the limits before the worker's processes start, and so before any of them connects."""
    limit_connections("worker")


@worker_init.connect  # type: ignore[untyped-decorator]
def share_memory(**_: Any) -> None:
    """Exclude loaded code from garbage collection, which would copy the memory that forked children share."""
    gc.collect()
    gc.freeze()


@task_prerun.connect  # type: ignore[untyped-decorator]
def begin_task(task_id: str, **_: Any) -> None:
    """Put the id of a task into its log lines and events, like the request_id of a request."""
    request_id.begin(f"task-{task_id}")


@worker_ready.connect  # type: ignore[untyped-decorator]
def show_life(sender: Any, **_: Any) -> None:
    """Report a worker under the part in its name: `fetcher@host`, `ticker@host`; default `worker`."""
    name = str(sender.hostname).partition("@")[0]
    main_loop = _show_life_of("worker" if name == "celery" else name)
    # Celery clears its timer when it loses the broker, and sends this signal again when it is back.
    sender.timer.call_repeatedly(signs_of_life.EVERY, main_loop.turned)


@functools.cache
def _show_life_of(part: str) -> MainLoop:
    # A worker without its broker tries to reach it, and its loop stands still.
    main_loop = MainLoop(excused=signs_of_life.broker_is_away)
    signs_of_life.keep_giving(part, main_loop=main_loop)
    return main_loop


@beat_init.connect  # type: ignore[untyped-decorator]
def show_beats(**_: Any) -> None:
    """Report beat as alive when it sends ticks, so that a hanging beat shows."""
    global _beat
    _beat = threading.get_ident()  # in a shared process, other threads also publish tasks
    after_task_publish.connect(_beaten, weak=False)
    signs_of_life.give("beat")  # the first tick may be due in some seconds only


_beat = 0
_beaten_at = -signs_of_life.EVERY


def _beaten(**_: Any) -> None:
    global _beaten_at
    now = time.monotonic()
    if threading.get_ident() == _beat and now - _beaten_at >= signs_of_life.EVERY:
        _beaten_at = now
        signs_of_life.give("beat")


# /statusz reads this heartbeat.
heartbeat_sent.connect(write_heartbeat, weak=False)
