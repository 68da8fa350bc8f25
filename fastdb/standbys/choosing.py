"""The choice of a standby for a read. Standbys that do not answer are left out for some seconds."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from fastdb.standbys.states import NoAnswer, PrimaryState, StandbyState, primary_state, standby_state

logger = logging.getLogger(__name__)

PAUSE = 10.0
"""Seconds until a standby that did not answer is asked again."""
AWAY, OTHER, BEHIND, OLDER = "away", "other", "behind", "older"
"""Reasons against a standby: no answer, another primary, too far behind, older than the client's floor."""

FAILURES = (DatabaseError, InterfaceError, psycopg.Error)

_turn = itertools.count()
_lock = threading.Lock()
_left_out: dict[str, float] = {}
_thread = threading.local()


def chosen_standby(floor: int) -> tuple[BaseDatabaseWrapper | None, str]:
    """Return the connection to a standby that has replayed the position `floor` and is not too far behind.

    If there is no such standby, return None and the reason.
    """
    try:
        primary = primary_state()
    except (DatabaseError, InterfaceError) as error:
        logger.warning("No standby can be chosen: the state of the primary is unknown (%s).", error)
        return None, AWAY
    reason = AWAY
    aliases, first = settings.STANDBYS, next(_turn)
    for number in range(len(aliases)):
        alias = aliases[(first + number) % len(aliases)]
        state = state_of(alias)
        if state is None:
            continue
        reason = unfit_because(state, primary, floor)
        if not reason:
            return connections[alias], ""
    return None, reason


def unfit_because(state: StandbyState, primary: PrimaryState, floor: int) -> str:
    """Return the reason why a standby must not answer the read, or an empty text."""
    if not state.follows(primary):
        return OTHER
    if state.seconds_behind(primary) > settings.REPLICA_MAX_LAG:
        return BEHIND
    return OLDER if state.position < floor else ""


def state_of(alias: str) -> StandbyState | None:
    """Return the state of a standby; None if it does not answer, or is left out after a failure."""
    if not _may_ask(alias):
        return None
    standby = connections[alias]
    was_open = standby.connection is not None
    try:
        try:
            state = _state(standby)
        except NoAnswer:
            raise
        except FAILURES:
            if not was_open:
                raise
            # Connect and ask again: a restart of the standby may have closed the old connection.
            state = _state(standby)
    except FAILURES as error:
        leave_out(alias, error)
        return None
    with _lock:
        _left_out.pop(alias, None)
    return state


def _state(standby: BaseDatabaseWrapper) -> StandbyState:
    try:
        standby.ensure_connection()
        return standby_state(standby.connection)
    except FAILURES:
        standby.close()
        raise


def leave_out(alias: str, error: Exception) -> None:
    """Leave this standby out for PAUSE seconds."""
    with _lock:
        _left_out[alias] = time.monotonic() + PAUSE
    logger.warning("The database %s is left out for %.0f seconds: %s", alias, PAUSE, error)


def _may_ask(alias: str) -> bool:
    """Return whether to ask a standby.

    After a failure and a pause, only one thread may ask. Other threads leave the standby out until it
    answers.
    """
    with _lock:
        until = _left_out.get(alias)
        if until is None:
            return True
        if time.monotonic() < until:
            return False
        _left_out[alias] = time.monotonic() + PAUSE
        return True


@contextmanager
def as_default(chosen: BaseDatabaseWrapper) -> Iterator[None]:
    """Let all statements of this thread use the chosen connection while the block runs.

    Hand-written statements, compiled queries and querysets all use the default connection of their thread.
    """
    former = connections[DEFAULT_DB_ALIAS]
    if former.alias == DEFAULT_DB_ALIAS:
        _thread.primary = former
    connections[DEFAULT_DB_ALIAS] = chosen
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = former


def is_on_standby() -> bool:
    """Return whether the statements of this thread go to a standby now."""
    return connection.alias != DEFAULT_DB_ALIAS


def primary_connection() -> BaseDatabaseWrapper:
    """Return this thread's connection to the primary, also within `as_default`."""
    if is_on_standby():
        primary: BaseDatabaseWrapper = _thread.primary
        return primary
    return connections[DEFAULT_DB_ALIAS]
