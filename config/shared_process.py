"""One process for several parts of the service that mostly wait (docs/adr/0096).

    python -m config.shared_process beat ticker fetcher webhooks sftp

Each part runs in its own threads and gives its own sign of life. If a part fails, the process ends, and its
supervisor starts all parts again. `make run` and small installations use this process; a part may also run
alone.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import NamedTuple

import django
from celery import Celery
from celery.beat import Service
from celery.signals import worker_ready
from celery.worker import WorkController, state
from django.core.management import CommandError
from environs import Env
from kombu.asynchronous import set_event_loop

from config.celery import app as main_app
from config.celery import application
from config.database import limit_connections

logger = logging.getLogger(__name__)

TICKER_THREADS = 6
STOP_SECONDS = 12.0  # time for all parts to end after a signal


class Part(NamedTuple):
    """A part of the service: `run` returns after `stop`, which any thread may call."""

    run: Callable[[], object]
    stop: Callable[[], object]


class ThreadWorker(WorkController):  # type: ignore[misc] # Celery has no types
    """A Celery worker in a thread. Celery's own command needs the main thread, for its signals."""

    def on_consumer_ready(self, consumer: object) -> None:
        worker_ready.send(sender=consumer)


def celery_part(app: Celery, name: str, queues: str, threads: int) -> Part:
    """Return a Celery worker with its own pool of threads. Each worker needs its own application."""
    set_event_loop(None)  # otherwise this worker would share the event loop of the previous worker
    worker = ThreadWorker(
        app=app,
        hostname=f"{name}@%h",
        pool="threads",
        concurrency=threads,
        queues=queues,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    return Part(worker.start, stop_workers)


def stop_workers() -> None:
    """Stop all Celery workers of this process. Each turn of their loops checks `state.should_stop`."""
    state.should_stop = os.EX_OK


def beat() -> Part:
    """Return the part that sends the ticks."""
    logging.getLogger("celery.beat").setLevel(logging.WARNING)  # otherwise beat would log each tick
    service = beat_service()
    return Part(service.start, service.stop)


def beat_service() -> Service:
    """Return beat, with the scheduler of the settings, which Celery's own command uses by itself."""
    # With `max_interval=1`, beat notices a stop within a second.
    return Service(main_app, max_interval=1, scheduler_cls=main_app.conf.beat_scheduler)


def ticker() -> Part:
    """Return the part that runs periodic tasks and operators' actions."""
    return celery_part(main_app, "ticker", "ticks,operators", TICKER_THREADS)


def fetcher() -> Part:
    """Return the part that fetches files from remote hosts."""
    return celery_part(application(), "fetcher", "fetch", Env().int("FETCH_THREADS", 8))


def webhooks() -> Part:
    """Return the part that sends deliveries to webhooks."""
    # Import here: the module needs Django's apps, which `main` sets up first.
    from events.management.commands.send_webhooks import WebhookSender

    sender = WebhookSender()
    return Part(lambda: asyncio.run(sender.run()), sender.stop)


def sftp() -> Part:
    """Return the part that receives uploads."""
    # Import here: the module needs Django's apps, which `main` sets up first.
    from sftp_ingest.management.commands.sftp_server import serve_until_stopped, sftp_server

    server = sftp_server()
    return Part(partial(serve_until_stopped, server), server.stop)


PARTS = {"beat": beat, "ticker": ticker, "fetcher": fetcher, "webhooks": webhooks, "sftp": sftp}


def run(parts: dict[str, Part]) -> int:
    """Run parts until a stop signal or the end of a part. Return 0 after a signal, otherwise 1."""
    ended: SimpleQueue[str] = SimpleQueue()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.put(""))
    threads = [
        threading.Thread(target=_run_part, args=(name, part, ended), name=name, daemon=True)
        for name, part in parts.items()
    ]
    for thread in threads:
        thread.start()
    failed = ended.get()
    for part in parts.values():
        part.stop()
    deadline = time.monotonic() + STOP_SECONDS
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return int(bool(failed))


def _run_part(name: str, part: Part, ended: SimpleQueue[str]) -> None:
    try:
        part.run()
    except BaseException:
        logger.exception("%s failed", name)
    finally:
        ended.put(name)


def main(names: Sequence[str]) -> None:
    """Run the parts with these names."""
    if not names or not set(names) <= set(PARTS):
        sys.exit(f"Name one or more of these parts: {', '.join(PARTS)}.")
    django.setup()
    limit_connections("worker")
    try:
        parts = {name: PARTS[name]() for name in names}
    except CommandError as error:
        sys.exit(str(error))
    sys.exit(run(parts))


if __name__ == "__main__":
    main(sys.argv[1:])
