"""Maintenance of the stock ledger: create monthly partitions, and fold old months into balances."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.utils import timezone

from inventory.models import MovementKind
from inventory.movements import insert_movements

MONTHS_AHEAD = 3
FOLDED = "inventory_stockmovement_folded"
MONTH = re.compile(r"inventory_stockmovement_(\d{4})_(\d{2})")

FOLD_MOVEMENTS = insert_movements(
    MovementKind.OPENING,
    "inventory_stockmovement WHERE occurred_at < %(until)s GROUP BY variant_id, warehouse_id"
    " HAVING sum(on_hand_change) <> 0 OR sum(reserved_change) <> 0",
    table=f"{FOLDED}_next",
    id="max(id)",
    occurred_at="max(occurred_at)",
    on_hand_change="sum(on_hand_change)",
    reserved_change="sum(reserved_change)",
    on_hand="sum(on_hand_change)",
    reserved="sum(reserved_change)",
    actor="'system:fold'",
)

# Write one opening movement per stock row: the sum of its movements before `until`, with the id of the last
# movement.
FOLD = f"""
    CREATE TABLE {FOLDED}_next (LIKE inventory_stockmovement INCLUDING ALL);
    {FOLD_MOVEMENTS};
    ALTER TABLE {FOLDED}_next ADD CONSTRAINT folded_until CHECK (occurred_at < %(until)s)
"""

ATTACH = f"""
    DELETE FROM inventory_stockmovement_default WHERE occurred_at < %(until)s;
    ALTER TABLE inventory_stockmovement
        ATTACH PARTITION {FOLDED}_next FOR VALUES FROM (MINVALUE) TO (%(until)s);
    ALTER TABLE {FOLDED}_next DROP CONSTRAINT folded_until;
    ALTER TABLE {FOLDED}_next RENAME TO {FOLDED}
"""  # noqa: S608 - built from constants


def make_partitions() -> None:
    """Create the missing partitions of this month and the next months."""
    with transaction.atomic(), connection.cursor() as cursor:
        _limit_lock_wait(cursor)
        cursor.execute(
            "SELECT make_stockmovement_partition((now() AT TIME ZONE 'UTC' + n * interval '1 month')::date)"
            " FROM generate_series(0, %s) AS n",
            [MONTHS_AHEAD],
        )


def fold() -> int:
    """Replace the months before STOCK_MOVEMENT_DAYS by opening balances, and return the number of months.

    Movements are only added to the present month. Therefore older months can be read without a lock, and only
    the final exchange of the partitions needs a lock.
    """
    if settings.STOCK_MOVEMENT_DAYS <= 0:
        return 0
    oldest = timezone.now() - timedelta(days=settings.STOCK_MOVEMENT_DAYS)
    with transaction.atomic(), connection.cursor() as cursor:
        past = [(name, until) for name, until in _months(cursor) if until <= oldest]
        if not past:
            return 0
        until = max(until for _, until in past)
        cursor.execute(FOLD, {"until": until})
        _limit_lock_wait(cursor)
        for name in [*(name for name, _ in past), FOLDED]:
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
        cursor.execute(ATTACH, {"until": until})
    return len(past)


def _limit_lock_wait(cursor: CursorWrapper) -> None:
    """Let lock requests fail after 2 s, because other statements wait behind them.

    The task runs again soon.
    """
    cursor.execute("SET LOCAL lock_timeout = '2s'")


def _months(cursor: CursorWrapper) -> list[tuple[str, datetime]]:
    """Return the partitions of single months, each with the time at which it ends."""
    cursor.execute(
        "SELECT inhrelid::regclass::text FROM pg_inherits"
        " WHERE inhparent = 'inventory_stockmovement'::regclass ORDER BY 1"
    )
    matches = (MONTH.fullmatch(name) for (name,) in cursor.fetchall())
    return [(match[0], _next_month(int(match[1]), int(match[2]))) for match in matches if match]


def _next_month(year: int, month: int) -> datetime:
    return datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
