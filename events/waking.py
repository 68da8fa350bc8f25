"""Messages through Redis that wake the senders of webhooks when an event is committed (docs/adr/0046).

A woken sender reads the database several times, so a process with many commits wakes senders only twice a
second. Without Redis, senders find new events at their next regular read of the database.
"""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections.abc import Callable

import redis
from django.conf import settings
from redis.exceptions import RedisError

from api.redis_clients import redis_client
from fastdb.after_commit import call_after_commit

logger = logging.getLogger(__name__)

CHANNEL = "exchange:webhooks:wake"
AGAIN_AFTER = 0.5
"""The shortest time in seconds between two wakes by a process.

After a wake, senders read the database often for a longer time (`LINGER_SECONDS`). So they also find events
that caused no wake of their own.
"""
ANSWER_WITHIN = 0.5  # the longest wait of a commit for a silent Redis, in seconds
PAUSE = 5.0
"""Seconds without another try after a failure, so that requests do not wait for an unreachable Redis."""
LISTEN_SECONDS = 2.0  # seconds until a listener checks whether it must stop
AFTER_FAILURE = 2.0  # seconds until a listener connects again

_quiet_until = 0.0


def wake_after_commit() -> None:
    """Wake the senders when the current transaction is committed."""
    call_after_commit(wake)


def wake() -> None:
    """Wake the senders, unless this process woke them a moment ago."""
    global _quiet_until
    now = time.monotonic()
    if now < _quiet_until:
        return
    _quiet_until = now + AGAIN_AFTER
    try:
        _client().publish(CHANNEL, b"")
    except RedisError as error:
        _quiet_until = now + PAUSE
        logger.warning("the senders of webhooks were not woken: %s", error)


@functools.cache
def _client() -> redis.Redis:
    return redis_client(settings.REDIS_URL, seconds=ANSWER_WITHIN)


class WakeListener:
    """A thread that calls a function at each wake, and connects again after a failure of Redis."""

    def __init__(self, woken: Callable[[], None]) -> None:
        """Prepare a thread that calls `woken` at each wake.

        The thread also calls `woken` after each connect, because wakes are lost without a connection.
        """
        self._woken = woken
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="webhook wakes", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end soon. This call does not wait for the end."""
        self._stopped.set()

    def _listen(self) -> None:
        while not self._stopped.is_set():
            try:
                with redis_client(settings.REDIS_URL, seconds=LISTEN_SECONDS) as client:
                    self._hear(client)
            except RedisError as error:
                logger.info("no wakes are heard from Redis: %s", error)
                self._stopped.wait(AFTER_FAILURE)

    def _hear(self, client: redis.Redis) -> None:
        with client.pubsub(ignore_subscribe_messages=True) as channel:  # type: ignore[no-untyped-call]
            channel.subscribe(CHANNEL)
            self._woken()
            while not self._stopped.is_set():
                if channel.get_message(timeout=LISTEN_SECONDS) is not None:
                    self._woken()
