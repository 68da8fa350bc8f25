"""Reads that a standby may answer (docs/adr/0063).

A read is a function that changes no data, so a read that failed on a standby can run again on the primary.
Without DATABASE_REPLICA_URLS, the primary answers all reads.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar, cast

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import StreamingHttpResponse
from prometheus_client import Counter
from psycopg.errors import QueryCanceled

from api import caller
from fastdb.standbys.choosing import (
    AWAY,
    OLDER,
    as_default,
    chosen_standby,
    is_on_standby,
    leave_out,
    primary_connection,
    state_of,
)
from fastdb.standbys.floors import floor_of, raise_floor

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")

READS = Counter(
    "exchange_standby_reads_total",
    "Reads that a standby may answer, by the server that answered and, for the primary, by reason.",
    ["server", "reason"],
)
UNSURE = "unsure"
"""The reason for a read from the primary if the client's floor is unknown."""


class TooOld(Exception):
    """The error for a standby that lacks changes that the client has seen. The primary repeats the read."""


def reads_from_standby(read: Callable[P, T]) -> Callable[P, T]:
    """Run a read on a standby that is fresh enough for the client, or else on the primary.

    If the standby is lost before the answer begins, or replay cancels a statement, the primary runs the read
    again.
    """

    @wraps(read)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        if not settings.STANDBYS or connection.in_atomic_block or is_on_standby():
            return read(*args, **kwargs)
        return _read(partial(read, *args, **kwargs), caller.verdict().party)

    return wrapper


def _read(read: Callable[[], T], client: str) -> T:
    floor = floor_of(client)
    standby, reason = (None, UNSURE) if floor is None else chosen_standby(floor)
    if standby is not None:
        try:
            with as_default(standby):
                answer = read()
        except TooOld:
            reason = OLDER
        except (OperationalError, InterfaceError) as error:
            if not _is_lost(error):
                raise
            _drop(standby, error)
            reason = AWAY
        else:
            READS.labels("standby", "").inc()
            return _finished(answer, standby, client)
    answer = read()
    READS.labels("primary", reason).inc()
    return _finished(answer, None, client)


def _finished(answer: T, standby: BaseDatabaseWrapper | None, client: str) -> T:
    """Record that the client has this answer: at once, or after the last chunk of a stream."""
    if not isinstance(answer, StreamingHttpResponse):
        _note(standby, client)
        return answer
    chunks = cast(Iterator[bytes], answer.streaming_content)
    answer.streaming_content = _streamed(chunks, standby or primary_connection(), client)
    return answer


def _streamed(chunks: Iterable[A], source: BaseDatabaseWrapper, client: str) -> Generator[A]:
    """Yield the chunks of an answer, and read each chunk through the connection `source`.

    Between two chunks, this thread uses its own connection. At the end, raise the client's floor.
    """
    try:
        yield from _over(source, chunks)
    finally:
        _note(source if source.alias != DEFAULT_DB_ALIAS else None, client)


def _over(source: BaseDatabaseWrapper, chunks: Iterable[A]) -> Generator[A]:
    iterator = iter(chunks)
    while True:
        with as_default(source):
            try:
                chunk = next(iterator)
            except StopIteration:
                return
        yield chunk


def _note(standby: BaseDatabaseWrapper | None, client: str) -> None:
    """Raise the client's floor (`fastdb.standbys.floors`) to the position of the server that answered.

    Skip this for an answer from the only standby, because later answers of this standby are never older.
    """
    if standby is None:
        raise_floor(client)
    elif client and len(settings.STANDBYS) > 1:
        state = state_of(standby.alias)
        raise_floor(client, state.position if state else None)


def continued(
    read: Callable[[T], Iterator[A]], after: T, position_of: Callable[[A], T | None]
) -> Generator[A]:
    """Yield the items after a position. If the standby is lost, continue with the primary.

    `position_of` returns the position of an item, or None if the item has no position.
    """
    if not is_on_standby():
        yield from read(after)
        return
    standby, primary = connections[DEFAULT_DB_ALIAS], primary_connection()
    try:
        for item in read(after):
            after = position_of(item) or after
            yield item
    except (OperationalError, InterfaceError) as error:
        if not _is_lost(error):
            raise
        _drop(standby, error)
    else:
        return
    READS.labels("primary", AWAY).inc()
    yield from _over(primary, read(after))


def _is_lost(error: Exception) -> bool:
    """Return whether to run the read again on the primary.

    A statement that exceeded the time limit would exceed it on the primary, too.
    """
    return not isinstance(error.__cause__, QueryCanceled)


def _drop(standby: BaseDatabaseWrapper, error: Exception) -> None:
    """Close the connection to a standby. If the connection was already lost, leave the standby out."""
    untyped: Any = standby
    if untyped.connection is None or untyped.connection.closed:
        leave_out(standby.alias, error)
    standby.close()
