"""Snapshots: from a client's "since then" to the transactions that it cannot have seen.

A time stamp alone loses changes: a transaction stamps its rows early and commits late, behind the back of
a reader who came in between. So each row carries the transaction that wrote it, and a snapshot is kept of
which transactions had ended at a moment. What the last one before "then" does not see is what has
changed since, however late it was committed. See docs/adr/0030.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import connection, transaction

from events import epochs

SNAPSHOT = re.compile(r"([0-9]{1,18}):([0-9]{1,18}):((?:[0-9]{1,18}(?:,[0-9]{1,18})*)?)")
# Dense while clients still ask about it, then one a minute, then none.
THIN_OUT = """
    DELETE FROM catalog_pulse p WHERE p.taken_at < now() - interval '30 days'
    OR p.taken_at < now() - interval '1 hour' AND p.snapshot <> '0:0:' AND EXISTS (
        SELECT FROM catalog_pulse o WHERE o.taken_at < p.taken_at
        AND o.taken_at >= date_trunc('minute', p.taken_at))
"""


@dataclass(frozen=True)
class Snapshot:
    """Which transactions had ended: all below xmin, none from xmax on, between them all but `unfinished`."""

    xmin: int
    xmax: int
    unfinished: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.xmin}:{self.xmax}:{','.join(map(str, self.unfinished))}"

    @classmethod
    def parse(cls, text: str) -> Snapshot | None:
        """Read PostgreSQL's notation; None for anything else."""
        match = SNAPSHOT.fullmatch(text)
        if match is None:
            return None
        unfinished = tuple(int(each) for each in match[3].split(",") if each)
        return cls(int(match[1]), int(match[2]), unfinished)


NOTHING = Snapshot(0, 0)
"""The snapshot that has seen nothing yet."""


class Taken(NamedTuple):
    """A snapshot that was kept: when, in which epoch of the database (`events.epochs`), and what it is."""

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


def take_snapshot(*, durable: bool = False) -> Taken:
    """Keep, with the time, which transactions have ended by now.

    `durable`: before it is given to anybody. A server that crashes may give the last transactions' numbers
    out again, if nobody has waited for its disk; losing the moment itself costs nobody a change.
    """
    row = _take(durable=durable)
    if row is None:  # the database is another than it was
        epochs.notice()
        row = _take(durable=durable)
    assert row is not None, "the epoch of this database has just begun"
    at, epoch, text = row
    return Taken(at, epoch, Snapshot.parse(text) or NOTHING)


def _take(*, durable: bool) -> tuple[datetime, str, str] | None:
    with connection.cursor() as cursor:
        cursor.execute(TAKE, ["on" if durable else "off"])
        found: tuple[datetime, str, str] | None = cursor.fetchone()
    return found


def take_snapshot_after_commit() -> None:
    """Take one right after this change, so that whoever asks since then does not get it again."""
    transaction.on_commit(_take_snapshot, robust=True)


def _take_snapshot() -> None:
    take_snapshot()


def seen_at(moment: datetime) -> Snapshot:
    """What a reader at that moment had certainly seen: the last snapshot up to then, else nothing."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT snapshot FROM catalog_pulse WHERE taken_at <= %s ORDER BY taken_at DESC LIMIT 1", [moment]
        )
        row = cursor.fetchone()
    return (Snapshot.parse(row[0]) if row else None) or NOTHING


def begin_anew() -> None:
    """A new epoch begins: whoever asks since a moment that the last one has lost gets everything, once."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO catalog_pulse (taken_at, snapshot)
            SELECT max(taken_at) + interval '1 microsecond', %s FROM catalog_pulse HAVING count(*) > 0
            """,
            [str(NOTHING)],
        )


def thin_out() -> None:
    """Drop the snapshots that nobody needs any more."""
    with connection.cursor() as cursor:
        cursor.execute(THIN_OUT)
