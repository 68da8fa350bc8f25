"""Snapshots, which convert a client's `updated_since` to the transactions that the client has not seen.

A timestamp alone loses changes: a transaction stamps its rows early and commits late, and a reader between
these two times misses the rows. Therefore each row stores the number of its transaction, and a snapshot
stores which transactions had ended at a time. For a client's time, take the last snapshot up to this time. A
change is new to the client if its transaction had not ended in this snapshot. See docs/adr/0030.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import connection

from events import epochs
from fastdb.after_commit import call_after_commit

SNAPSHOT = re.compile(r"([0-9]{1,18}):([0-9]{1,18}):((?:[0-9]{1,18}(?:,[0-9]{1,18})*)?)")
# Keep all snapshots of the last hour, and the first snapshot of each minute of the last 30 days. Also keep
# the empty snapshots of these 30 days: each marks the beginning of an epoch.
THIN_OUT = """
    DELETE FROM catalog_pulse p WHERE p.taken_at < now() - interval '30 days'
    OR p.taken_at < now() - interval '1 hour' AND p.snapshot <> '0:0:' AND EXISTS (
        SELECT FROM catalog_pulse o WHERE o.taken_at < p.taken_at
        AND o.taken_at >= date_trunc('minute', p.taken_at))
"""


@dataclass(frozen=True)
class Snapshot:
    """A set of ended transactions: all numbers below `xmax`, except the numbers in `unfinished`.

    All numbers below `xmin` have ended.
    """

    xmin: int
    xmax: int
    unfinished: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.xmin}:{self.xmax}:{','.join(map(str, self.unfinished))}"

    @classmethod
    def parse(cls, text: str) -> Snapshot | None:
        """Parse PostgreSQL's notation; return None for any other text."""
        match = SNAPSHOT.fullmatch(text)
        if match is None:
            return None
        unfinished = tuple(int(number) for number in match[3].split(",") if number)
        return cls(int(match[1]), int(match[2]), unfinished)

    def covers(self, other: Snapshot) -> bool:
        """Return whether each transaction that had ended in `other` has ended in this snapshot."""
        return self.xmax >= other.xmax and all(
            number >= other.xmax or number in other.unfinished for number in self.unfinished
        )


NOTHING = Snapshot(0, 0)
"""The snapshot that includes no transaction."""


class StoredSnapshot(NamedTuple):
    """A stored snapshot with its time and the epoch of the database (`events.epochs`)."""

    at: datetime
    epoch: str
    snapshot: Snapshot


TAKE = """
    INSERT INTO catalog_pulse (taken_at, snapshot)
    SELECT clock_timestamp(), change_snapshot()
    FROM set_config('synchronous_commit', %s, true)
    WHERE (SELECT incarnation FROM events_epoch ORDER BY id DESC LIMIT 1) = incarnation()
    RETURNING taken_at, (SELECT name FROM events_epoch ORDER BY id DESC LIMIT 1), snapshot
"""

REPLICATED = """
    SELECT taken_at, (SELECT name FROM events_epoch ORDER BY id DESC LIMIT 1), snapshot
    FROM catalog_pulse ORDER BY taken_at DESC LIMIT 1
"""


def take_snapshot(*, durable: bool = False) -> StoredSnapshot:
    """Store the ended transactions with the current time.

    Pass `durable=True` if a client gets the snapshot: the commit then waits for the disk. Without this wait,
    PostgreSQL may reuse the last transaction numbers after a crash, and the client would miss changes with
    these numbers. If no client has the snapshot, its loss does no harm.
    """
    row = _take(durable=durable)
    if row is None:  # the database was promoted or restored, and its new epoch has not begun yet
        epochs.notice()
        row = _take(durable=durable)
    assert row is not None, "the epoch of this database has just begun"
    at, epoch, text = row
    return StoredSnapshot(at, epoch, Snapshot.parse(text) or NOTHING)


def _take(*, durable: bool) -> tuple[datetime, str, str] | None:
    with connection.cursor() as cursor:
        cursor.execute(TAKE, ["on" if durable else "off"])
        row: tuple[datetime, str, str] | None = cursor.fetchone()
    return row


def replicated_snapshot() -> StoredSnapshot | None:
    """Return the newest snapshot that a standby has replayed, or None.

    A snapshot is written after its transactions, so the standby has replayed all of them. The snapshot is on
    the primary's disk, because a primary sends only data that is on its disk.
    """
    with connection.cursor() as cursor:
        cursor.execute(REPLICATED)
        row = cursor.fetchone()
    return StoredSnapshot(row[0], row[1], Snapshot.parse(row[2]) or NOTHING) if row else None


def take_snapshot_after_commit() -> None:
    """Take a snapshot after the commit, so that a client that has seen this change does not get it again."""
    call_after_commit(_take_snapshot)


def _take_snapshot() -> None:
    take_snapshot()


def seen_at(moment: datetime) -> Snapshot:
    """Return the last snapshot up to `moment`, the `updated_since` of a client.

    The client has seen all transactions of this snapshot.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT snapshot FROM catalog_pulse WHERE taken_at <= %s ORDER BY taken_at DESC LIMIT 1", [moment]
        )
        row = cursor.fetchone()
    return (Snapshot.parse(row[0]) if row else None) or NOTHING


def restart_snapshots() -> None:
    """Store an empty snapshot when a new epoch begins.

    If the `updated_since` of a client is a time whose rows were lost, the client then gets all rows once.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO catalog_pulse (taken_at, snapshot)
            SELECT max(taken_at) + interval '1 microsecond', %s FROM catalog_pulse HAVING count(*) > 0
            """,
            [str(NOTHING)],
        )


def thin_out() -> None:
    """Delete the snapshots that clients no longer need."""
    with connection.cursor() as cursor:
        cursor.execute(THIN_OUT)
