"""The states of the primary and of a standby, and how far a standby is behind."""

from __future__ import annotations

import select
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import OperationalError, connection

ANSWER_WITHIN = 1.0
"""The time limit for a standby's answer, in seconds. A frozen server accepts statements and never answers."""
FRESH = 1.0
"""Seconds for which this process reuses the state of the primary."""

# Use the insert position: with `synchronous_commit = off`, a commit may be visible before its record is
# written, so the write position could be too low.
POSITION = "(pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint"
PRIMARY = f"SELECT {POSITION}, extract(epoch FROM clock_timestamp())::float8"  # noqa: S608 - constants
STANDBY = """
    SELECT pg_is_in_recovery(), (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint,
        extract(epoch FROM pg_last_xact_replay_timestamp())::float8
"""


class NoAnswer(OperationalError):
    """The error for a standby that has not answered in time."""


class Epochs:
    """The SQL expressions that select the epoch of a database. The app `events` registers the expressions.

    Log positions of two primaries cannot be compared, so a standby must have the epoch of the primary.
    """

    primary = standby = "NULL::text"

    @classmethod
    def register(cls, *, primary: str, standby: str) -> None:
        """Register the SQL that selects the epoch on a primary and on a standby.

        On a primary whose epoch has not begun yet, `primary` yields NULL.
        """
        cls.primary, cls.standby = primary, standby


class PrimaryState(NamedTuple):
    """The position in the write-ahead log, the system time and the epoch of the primary.

    `at` is the time at which this process read the state, from `time.monotonic`.
    """

    position: int
    clock: float
    epoch: str | None
    at: float


class StandbyState(NamedTuple):
    """The state of a standby server. `replayed_at` is the commit time of the last replayed transaction."""

    in_recovery: bool
    position: int
    replayed_at: float | None
    epoch: str | None

    def seconds_behind(self, primary: PrimaryState) -> float:
        """Return the age, in seconds, of the oldest commit that the standby may lack.

        All commit times are system times of the primary, so a wrong system time of another host does no harm.
        """
        age = time.monotonic() - primary.at
        if self.position >= primary.position:
            return age
        if self.replayed_at is None:
            return float("inf")
        return max(age, primary.clock + age - self.replayed_at)

    def follows(self, primary: PrimaryState) -> bool:
        """Return whether the server is a standby of this primary, and was not promoted."""
        return self.in_recovery and primary.epoch is not None and self.epoch == primary.epoch


_primary: list[PrimaryState] = []


def primary_state(*, fresh: float = FRESH) -> PrimaryState:
    """Return the state of the primary, at most `fresh` seconds old."""
    known = _primary[-1:]
    if known and time.monotonic() - known[0].at < fresh:
        return known[0]
    at = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute(f"{PRIMARY}, {Epochs.primary}")
        position, clock, epoch = cursor.fetchone()
    state = PrimaryState(position, clock, epoch, at)
    _primary[:] = [state]
    return state


def primary_position() -> int:
    """Return the primary's position in the write-ahead log. All earlier commits are before this position."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {POSITION}")
        position: int = cursor.fetchone()[0]
    return position


def standby_state(session: Any) -> StandbyState:
    """Return the state of a standby. Raises OperationalError or psycopg's errors."""
    values = _answer(session.pgconn, f"{STANDBY}, {Epochs.standby}")
    in_recovery, position, replayed_at, epoch = (value.decode() if value else "" for value in values)
    return StandbyState(
        in_recovery == "t", int(position or 0), float(replayed_at) if replayed_at else None, epoch or None
    )


def _answer(pgconn: Any, statement: str) -> Sequence[bytes | None]:
    """Return the row of a statement. Raises NoAnswer after ANSWER_WITHIN seconds.

    psycopg's own functions would wait without a limit.
    """
    pgconn.send_query(statement.encode())
    deadline = time.monotonic() + ANSWER_WITHIN
    socket = select.poll()
    socket.register(pgconn.socket, select.POLLIN)
    row: Sequence[bytes | None] = ()
    while True:
        while pgconn.flush() or pgconn.is_busy():
            left = deadline - time.monotonic()
            if left <= 0 or not socket.poll(left * 1000):
                raise NoAnswer("The standby has not answered in time.")
            pgconn.consume_input()
        result = pgconn.get_result()
        if result is None:
            return row
        if not result.ntuples:
            raise OperationalError(result.error_message.decode(errors="replace"))
        row = [result.get_value(0, column) for column in range(result.nfields)]
