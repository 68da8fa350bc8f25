"""Epochs of the database: a later epoch never gives out a number of an earlier epoch (ADR 63).

A promoted standby may lack the last transactions, and a restored backup always lacks some. Without epochs,
such a database would again give out event numbers, change stamps, order stamps and ids that clients have
already seen, and the clients would miss new rows. Therefore each epoch is a row (`events.models.Epoch`) with
the identity of its PostgreSQL database. If the present database has another identity than the last row, a new
epoch begins. Its numbers are higher than the numbers of all earlier epochs.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable

from django.db import connection, transaction

log = logging.getLogger(__name__)

EPOCH_LOCK = 4_202

# The numbers of an epoch begin at the number of microseconds since 1970. An epoch uses fewer than a million
# numbers per second, so a later epoch has higher numbers even if rows were lost. JSON clients that read
# numbers as doubles can store these numbers exactly until the year 2255.
AHEAD = 5_000_000
"""The largest tolerated difference between the clocks of two machines, in microseconds."""

IDS_AHEAD = 10_000_000
"""The jump of ids at a new epoch, so that new ids are higher than all ids that clients have seen."""

HAS_EPOCHS = "SELECT to_regprocedure('incarnation()') IS NOT NULL"
IS_ANOTHER = """
    SELECT incarnation() <> coalesce((SELECT incarnation FROM events_epoch ORDER BY id DESC LIMIT 1), '')
"""
# SQL for the epoch of the primary (NULL until its own epoch has begun), and for the epoch that a standby has
# replayed.
OF_PRIMARY = "(SELECT name FROM events_epoch WHERE incarnation = incarnation() ORDER BY id DESC LIMIT 1)"
OF_STANDBY = "(SELECT name FROM events_epoch ORDER BY id DESC LIMIT 1)"
BEGIN = f"""
    INSERT INTO events_epoch (name, incarnation, reason, events_after)
    SELECT %s, incarnation(), %s, greatest((extract(epoch FROM clock_timestamp()) * 1e6)::bigint + {AHEAD},
        (SELECT max(events_after) FROM events_epoch) + {AHEAD}, (SELECT max(number) FROM events_event))
    RETURNING events_after
"""  # noqa: S608 - built from constants
# A change number is the id of its transaction plus this offset. A transaction may have begun before the epoch
# and wait for its locks. Its change number is slightly smaller than the first number of the epoch.
CHANGE_OFFSET = "SELECT %s - pg_current_xact_id()::text::bigint"
JUMP_IDS = f"""
    SELECT setval(s.seqrelid, coalesce(pg_sequence_last_value(s.seqrelid), 1) + {IDS_AHEAD})
    FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid
    WHERE s.seqtypid = 'bigint'::regtype AND c.relnamespace = current_schema()::regnamespace
"""  # noqa: S608 - built from constants

_stamped: list[str] = []
_jumps: list[Callable[[], None]] = []


def register(*, stamped: tuple[str, ...] = (), jump: Callable[[], None] | None = None) -> None:
    """Register tables to lock while an epoch begins, and a function that raises an app's own numbers."""
    _stamped.extend(table for table in stamped if table not in _stamped)
    if jump is not None and jump not in _jumps:
        _jumps.append(jump)


def is_known() -> bool:
    """Return whether the database has epochs. It has none before its first `migrate`."""
    with connection.cursor() as cursor:
        cursor.execute(HAS_EPOCHS)
        return bool(cursor.fetchone()[0])


def notice() -> bool:
    """Begin a new epoch if this is not the database of the last epoch. Return whether an epoch began.

    Usually this costs one small query. Call this before giving out numbers that must never occur twice.
    """
    with connection.cursor() as cursor:
        cursor.execute(IS_ANOTHER)
        if not cursor.fetchone()[0]:  # NULL on a standby, which gives out no numbers
            return False
    return begin("another database was found", only_if_another=True) is not None


def begin(reason: str, *, only_if_another: bool = False) -> str | None:
    """Begin a new epoch and return its name, or None if another process has just begun it.

    The call waits for running changes and blocks new changes until its commit. Raises OperationalError if the
    running changes do not end in time, and ProgrammingError if the database role does not own the tables.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [EPOCH_LOCK])
        cursor.execute(IS_ANOTHER)
        if only_if_another and not cursor.fetchone()[0]:
            return None
        name = secrets.token_hex(6)
        if _stamped:
            cursor.execute(f"LOCK TABLE {', '.join(_stamped)} IN SHARE ROW EXCLUSIVE MODE")
        cursor.execute(BEGIN, [name, reason])
        (base,) = cursor.fetchone()
        cursor.execute(CHANGE_OFFSET, [base])
        (offset,) = cursor.fetchone()
        cursor.execute(
            "CREATE OR REPLACE FUNCTION change_offset() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE"
            f" AS 'SELECT {int(offset)}::bigint'"
        )
        cursor.execute(JUMP_IDS)
        for jump in _jumps:
            jump()
    log.warning("A new epoch of the database has begun: %s (%s).", name, reason)
    return name
