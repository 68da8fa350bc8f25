"""The Celery application. It only wakes workers: what there is to do stands in tables."""

import os
from typing import Any

from celery import Celery
from celery.signals import celeryd_init, heartbeat_sent, setup_logging, task_prerun

from api import request_id
from config.database import limit_connections
from config.health.worker import write_heartbeat

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
app = Celery("exchange")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect  # type: ignore[untyped-decorator]
def keep_our_logging(**_: Any) -> None:
    """The settings' LOGGING holds in workers too; Celery leaves it alone when somebody listens here."""


@celeryd_init.connect  # type: ignore[untyped-decorator]
def limit_waiting(**_: Any) -> None:
    """Before the worker's processes are made, and so before any of them connects."""
    limit_connections("worker")


@task_prerun.connect  # type: ignore[untyped-decorator]
def begin_task(task_id: str, **_: Any) -> None:
    """A task's lines and history rows carry its id, as a request's carry the request's."""
    request_id.begin(f"task-{task_id}")


# /statusz looks for it.
heartbeat_sent.connect(write_heartbeat, weak=False)
