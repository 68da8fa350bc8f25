"""The Celery application. Tasks only wake workers: the work itself is stored in tables of the database."""

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
# Skip Django's checks, which `migrate` has run: they would load the modules of all pages into each worker.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")


def application() -> Celery:
    """Return a Celery application with all tasks. Each worker in a process needs its own application."""
    made = Celery("exchange", set_as_current=False)
    made.config_from_object("django.conf:settings", namespace="CELERY")
    made.autodiscover_tasks()
    return made


app = application()
app.set_default()


@setup_logging.connect  # type: ignore[untyped-decorator]
def keep_our_logging(**_: object) -> None:
    """Keep the settings' LOGGING in workers: Celery skips its own setup if this signal has a receiver."""
    logging.captureWarnings(True)


@celeryd_init.connect  # type: ignore[untyped-decorator]
def limit_waiting(**_: object) -> None:
    """Set the database time limits of workers before their processes start and connect."""
    limit_connections("worker")


@worker_init.connect  # type: ignore[untyped-decorator]
def share_memory(**_: object) -> None:
    """Exclude loaded code from garbage collection, which would copy the memory that forked children share."""
    gc.collect()
    gc.freeze()


@task_prerun.connect  # type: ignore[untyped-decorator]
def begin_task(task_id: str, **_: object) -> None:
    """Put the id of a task into its log lines and events, like the request_id of a request."""
    request_id.begin(f"task-{task_id}")


@worker_ready.connect  # type: ignore[untyped-decorator]
def show_life(sender: Any, **_: Any) -> None:
    """Give signs of life for the part in the worker's name, such as `fetcher` for `fetcher@host`.

    A worker with Celery's default name is the part `worker`.
    """
    name = str(sender.hostname).partition("@")[0]
    main_loop = _show_life_of("worker" if name == "celery" else name)
    # Celery clears its timer when it loses the broker, and sends this signal again after it has reconnected.
    sender.timer.call_repeatedly(signs_of_life.EVERY, main_loop.turned)


@functools.cache
def _show_life_of(part: str) -> MainLoop:
    # While a worker tries to reach a lost broker, its loop does not turn. This does not count as hanging.
    main_loop = MainLoop(excused=signs_of_life.broker_is_away)
    signs_of_life.keep_giving(part, main_loop=main_loop)
    return main_loop


@beat_init.connect  # type: ignore[untyped-decorator]
def show_beats(**_: object) -> None:
    """Report beat as alive only when beat sends ticks, so that a hanging beat becomes silent."""
    global _beat
    _beat = threading.get_ident()  # in a shared process, other threads also publish tasks
    after_task_publish.connect(_beaten, weak=False)
    signs_of_life.give("beat")  # the first tick may be due only after some seconds


_beat = 0
_beaten_at = -signs_of_life.EVERY


def _beaten(**_: object) -> None:
    global _beaten_at
    now = time.monotonic()
    if threading.get_ident() == _beat and now - _beaten_at >= signs_of_life.EVERY:
        _beaten_at = now
        signs_of_life.give("beat")


# /statusz reads the heartbeat that `write_heartbeat` stores in Redis.
heartbeat_sent.connect(write_heartbeat, weak=False)
