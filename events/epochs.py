"""Which life of the database this is: what was given out in another one is never given out again (ADR 63).

A standby that is promoted may lack the last transactions, and a backup that is restored does. Both would
count on from where they stand: event numbers, stamps of changes, stamps of orders and ids that clients have
seen already would come again, and hide what is new. So each life has a row (`events.models.Epoch`) that
says by which PostgreSQL it was begun; where that is another one, a new epoch begins, ahead of all others.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable

from django.db import connection, transaction

log = logging.getLogger(__name__)

EPOCH_LOCK = 4_202

# Numbers of an epoch begin at the microseconds since 1970. No epoch gives out a million a second, so a later
# one is ahead of it, however much of it was lost; and they fit into a double until the year 2255.
AHEAD = 5_000_000
"""How far a clock of another machine may have been ahead of ours, in microseconds."""

IDS_AHEAD = 10_000_000
"""By how much ids jump: a list that is read by id goes on behind all that was ever in it."""

IS_ANOTHER = """
    SELECT incarnation() <> coalesce((SELECT incarnation FROM events_epoch ORDER BY id DESC LIMIT 1), '')
"""
BEGIN = f"""
    INSERT INTO events_epoch (name, incarnation, reason, events_after)
    SELECT %s, incarnation(), %s, greatest((extract(epoch FROM clock_timestamp()) * 1e6)::bigint + {AHEAD},
        (SELECT max(events_after) FROM events_epoch) + {AHEAD}, (SELECT max(number) FROM events_event))
    RETURNING events_after
"""  # noqa: S608 - of constants
# This transaction's stamp is the base; whoever began before us and waits for our locks is a little below it.
CHANGE_OFFSET = "SELECT %s - pg_current_xact_id()::text::bigint"
JUMP_IDS = f"""
    SELECT setval(s.seqrelid, coalesce(pg_sequence_last_value(s.seqrelid), 1) + {IDS_AHEAD})
    FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid
    WHERE s.seqtypid = 'bigint'::regtype AND c.relnamespace = current_schema()::regnamespace
"""  # noqa: S608 - of constants

_stamped: list[str] = []
_jumps: list[Callable[[], None]] = []


def register(*, stamped: tuple[str, ...] = (), jump: Callable[[], None] | None = None) -> None:
    """What else a new epoch does: tables that no change may be half way into while it begins; a jump."""
    _stamped.extend(table for table in stamped if table not in _stamped)
    if jump is not None and jump not in _jumps:
        _jumps.append(jump)


def notice() -> bool:
    """Begin a new epoch if the database is another than the one that began the last; whether it was.

    One small query where it is not. Asked before anything is given out that must not come again.
    """
    with connection.cursor() as cursor:
        cursor.execute(IS_ANOTHER)
        if not cursor.fetchone()[0]:  # NULL on a standby: it gives nothing out
            return False
    return begin("another database was found", only_if_another=True) is not None


def begin(reason: str, *, only_if_another: bool = False) -> str | None:
    """Begin a new epoch, and return its name; None if somebody else has just begun it.

    Waits for changes that have begun, and holds up those that come, until it commits. Raises OperationalError
    when they do not end in time, and ProgrammingError for a role that does not own the tables.
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
