"""The Celery application. It only wakes workers: the tables are the queues."""

import functools
import logging
import os
from typing import Any

from celery import Celery
from celery.signals import (
    after_task_publish,
    beat_init,
    celeryd_init,
    heartbeat_sent,
    setup_logging,
    task_prerun,
    worker_ready,
)

from api import request_id, signs_of_life
from api.main_loop import MainLoop
from config.database import limit_connections
from config.health.worker import write_heartbeat

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
app = Celery("exchange")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect  # type: ignore[untyped-decorator]
def keep_our_logging(**_: Any) -> None:
    """Keep the settings' LOGGING in workers: Celery skips its own setup if this signal has a receiver."""
    logging.captureWarnings(True)


@celeryd_init.connect  # type: ignore[untyped-decorator]
def limit_waiting(**_: Any) -> None:
    """Set the limits before the worker's processes start, and so before any of them connects."""
    limit_connections("worker")


@task_prerun.connect  # type: ignore[untyped-decorator]
def begin_task(task_id: str, **_: Any) -> None:
    """Put the id of a task into its log lines and events, like the request_id of a request."""
    request_id.begin(f"task-{task_id}")


@worker_ready.connect  # type: ignore[untyped-decorator]
def show_life(sender: Any, **_: Any) -> None:
    """Report a worker under the part in its name: `fetcher@host`, `ticker@host`; default `worker`."""
    # Celery clears its timer when it loses the broker, and sends this signal again when it is back.
    sender.timer.call_repeatedly(signs_of_life.EVERY, _main_loop.turned)
    name = str(sender.hostname).partition("@")[0]
    _show_life_of("worker" if name == "celery" else name)


# A worker without its broker tries to reach it, and its loop stands still.
_main_loop = MainLoop(excused=signs_of_life.broker_is_away)


@functools.cache
def _show_life_of(part: str) -> None:
    signs_of_life.keep_giving(part, main_loop=_main_loop)


@beat_init.connect  # type: ignore[untyped-decorator]
def show_beats(**_: Any) -> None:
    """Report beat as alive whenever it sends a tick, so that a hanging beat shows."""
    after_task_publish.connect(_beaten, weak=False)


def _beaten(**_: Any) -> None:
    signs_of_life.give("beat")


# /statusz reads this heartbeat.
heartbeat_sent.connect(write_heartbeat, weak=False)
