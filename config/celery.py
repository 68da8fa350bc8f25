"""The Celery application. It only wakes workers: what there is to do stands in tables."""

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
from config.database import limit_connections
from config.health.worker import write_heartbeat

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
app = Celery("exchange")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect  # type: ignore[untyped-decorator]
def keep_our_logging(**_: Any) -> None:
    """The settings' LOGGING holds in workers too; Celery leaves it alone when somebody listens here."""
    logging.captureWarnings(True)


@celeryd_init.connect  # type: ignore[untyped-decorator]
def limit_waiting(**_: Any) -> None:
    """Before the worker's processes are made, and so before any of them connects."""
    limit_connections("worker")


@task_prerun.connect  # type: ignore[untyped-decorator]
def begin_task(task_id: str, **_: Any) -> None:
    """A task's lines and history rows carry its id, as a request's carry the request's."""
    request_id.begin(f"task-{task_id}")


@worker_ready.connect  # type: ignore[untyped-decorator]
def show_life(sender: Any, **_: Any) -> None:
    """A worker is the part that its name says: `fetcher@host`, `ticker@host`; without one it does imports."""
    name = str(sender.hostname).partition("@")[0]
    signs_of_life.keep_giving("worker" if name == "celery" else name)


@beat_init.connect  # type: ignore[untyped-decorator]
def show_beats(**_: Any) -> None:
    """Beat lives while it sends ticks: one that hangs gives no sign."""
    after_task_publish.connect(_beaten, weak=False)


def _beaten(**_: Any) -> None:
    signs_of_life.give("beat")


# /statusz looks for it.
heartbeat_sent.connect(write_heartbeat, weak=False)
