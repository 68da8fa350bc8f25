"""The SQL that stores stock counts (contract 7 and 12). Pushes and files both use only this SQL.

The code first inserts missing levels. Then it locks the existing levels in (variant, warehouse) order and
sets them. While it inserts, it holds no row locks, so pushes, files and reservations cannot deadlock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from django.db import IntegrityError, connection, transaction
from psycopg.sql import SQL, Composable, Literal

from inventory.elements import MOST
from inventory.expecting import ARRIVED
from inventory.models import MovementKind
from inventory.movements import insert_movements

Params = Mapping[str, Any] | None


@dataclass(frozen=True)
class Counts:
    """Counts as SQL expressions, and the SQL statements that store these counts.

    The source of the counts has the alias `n` and one row per variant and warehouse. Each statement is
    composed once.
    """

    rows: Composable
    """The FROM item `n`, with `variant_id`, `warehouse_id` and the columns of the expressions below."""
    on_hand: Composable
    """The number on hand now."""
    as_of: Composable
    """The time of the counts."""
    cause: Mapping[str, Composable]
    """The values of the movements' columns `actor`, `request_id` and `import_id`."""
    missing: Composable = field(default_factory=lambda: SQL("false"))
    """The condition for a row without a stock level."""
    line: Composable | None = None
    """The line of the count in its file."""
    moved: Composable = field(default_factory=lambda: SQL(""))
    """A join with the units that moved since `as_of`, if `on_hand` needs it."""
    expect_no_conflict: bool = False
    """Whether to insert without ON CONFLICT first. The clause takes a third of a large import's time."""
    look_up: bool = False
    """Whether to force a lookup by id. For rows from an array, PostgreSQL would read the whole table."""
    correct: Callable[[int], None] | None = None
    """A function that may change the source rows after the levels are locked.

    Its argument is the number of levels whose stored count is newer.
    """

    @cached_property
    def insert(self) -> str:
        """Return SQL that inserts missing levels and their movements. It skips levels that exist already."""
        returned = SQL("ON CONFLICT (variant_id, warehouse_id) DO NOTHING RETURNING variant_id, warehouse_id")
        if self.line is None:
            rows: str = "created"
            on_conflict: Composable = SQL("{}, on_hand").format(returned)
        else:
            rows, on_conflict = "missing JOIN created USING (variant_id, warehouse_id)", returned
        return self._compose(
            INSERT,
            materialized=SQL("NOT MATERIALIZED" if self.line is None else "MATERIALIZED"),
            on_conflict=on_conflict,
            movements=self._movements(rows, on_hand_change="on_hand", reserved="0"),
        )

    @cached_property
    def insert_without_conflict(self) -> str:
        """Return SQL that inserts missing levels and their movements. It fails if a level exists already."""
        return self._compose(
            INSERT,
            materialized=SQL("NOT MATERIALIZED"),
            on_conflict=SQL(""),
            movements=self._movements("missing", on_hand_change="on_hand", reserved="0"),
        )

    @cached_property
    def lock(self) -> str:
        """Return SQL that locks the levels in order, and counts all and those with a newer count."""
        return self._compose(LOCK)

    @cached_property
    def set(self) -> str:
        """Return SQL that sets `on_hand` of the locked levels and writes their movements."""
        rows = "counted WHERE counted <> on_hand"
        look_up = "AND l.id = ANY(ARRAY(SELECT id FROM counted))" if self.look_up else ""
        movements = self._movements(rows, on_hand_change="counted - on_hand", on_hand="counted")
        return self._compose(SET, look_up=SQL(look_up), movements=movements)

    def _movements(self, rows: str, **values: str) -> Composable:
        placeholders = {column: f"{{{column}}}" for column in self.cause}
        line = {} if self.line is None else {"line": "line"}
        statement = insert_movements(MovementKind.COUNT, rows, **line, **placeholders, **values)
        return SQL(statement).format(**self.cause)

    def _compose(self, statement: str, **parts: Composable) -> str:
        composed = SQL(statement).format(
            rows=self.rows,
            on_hand=self.on_hand,
            as_of=self.as_of,
            missing=self.missing,
            line=SQL("NULL::int") if self.line is None else self.line,
            moved=self.moved,
            arrived=ARRIVED,
            **parts,
        )
        with connection.cursor() as cursor:
            return composed.as_string(cursor.cursor)


class LandedCounts(NamedTuple):
    """The number of inserted levels, of changed levels, and of levels that became 0.

    `stored` is the number of all levels that have their count now, also without a change. The other counts
    are older than the stored counts.
    """

    created: int = 0
    updated: int = 0
    zeroed: int = 0
    stored: int = 0


def land_counts(
    counts: Counts, params: Params = None, *, missing: int | None = None, existing: int | None = None
) -> LandedCounts:
    """Store the counts that are not older than the stored counts, and a movement for each change.

    `missing` and `existing` are the numbers of rows without and with a stock level, if the caller knows them.
    With these numbers, needless statements are skipped.
    """
    created = _insert_missing(counts, params) if missing != 0 else 0
    if created:
        _execute(ARRIVED_IN_NEW_LEVELS)
    if existing == 0 and created == missing:
        return LandedCounts(created, stored=created)
    levels, newer = _row(counts.lock, params)
    if counts.correct:
        counts.correct(newer)
    updated, zeroed = set_levels(counts, params)
    return LandedCounts(created, updated, zeroed, levels - newer)


def set_levels(counts: Counts, params: Params = None) -> tuple[int, int]:
    """Set `on_hand` of the locked levels. Return how many levels changed, and how many became 0."""
    updated, zeroed = _row(counts.set, params)
    return updated, zeroed


def moved_since(warehouses: Composable, as_of: Composable) -> Composable:
    """Return a query for the units that moved after `as_of`, by variant and warehouse.

    The number is positive if units came back, and negative if units left.
    """
    return SQL(
        "SELECT variant_id, warehouse_id, sum(moved) AS units FROM inventory_stockmovement"
        " WHERE warehouse_id = ANY({}) AND moved <> 0 AND occurred_at > {} GROUP BY 1, 2"
    ).format(warehouses, as_of)


def refused_since(warehouses: Composable, as_of: Composable) -> Composable:
    """Return a query for the last refusal after `as_of`, by variant and warehouse.

    A refusal means that the supplier has no stock, so it is treated as a count of 0. A refusal can exist for
    a variant and warehouse without a stock level.
    """
    return SQL(
        "SELECT variant_id, warehouse_id, max(occurred_at) AS refused_at FROM inventory_stockmovement"
        " WHERE warehouse_id = ANY({}) AND kind = {} AND occurred_at > {} GROUP BY 1, 2"
    ).format(warehouses, Literal(MovementKind.REFUSE.value), as_of)


def on_hand_now(counted: Composable, units: Composable) -> Composable:
    """Return SQL for the number on hand now, from a count and the units that moved after the count."""
    return SQL("least(greatest({} + coalesce({}, 0), 0), {})::int").format(counted, units, Literal(MOST))


MISSING = """
    WITH missing AS {materialized} (
        SELECT n.variant_id, n.warehouse_id, {on_hand} AS on_hand, {line} AS line
        FROM {rows} {moved} WHERE {missing}
    )
"""
INSERT_LEVELS = """
    INSERT INTO inventory_stocklevel
        (variant_id, warehouse_id, on_hand, reserved, counted_at, stocked_at, updated_at)
    SELECT variant_id, warehouse_id, on_hand, 0, {as_of}, CASE WHEN on_hand > 0 THEN {as_of} END, now()
    FROM missing
    ORDER BY variant_id, warehouse_id
    {on_conflict}
"""
INSERT = f"{MISSING}, created AS ({INSERT_LEVELS}) {{movements}}"

# Remove the restock dates of the levels that this transaction inserted with stock. Only these levels have
# `updated_at = now()`, which is the time at which the transaction began.
ARRIVED_IN_NEW_LEVELS = SQL(
    """
    UPDATE inventory_expectedstock AS e SET {}
    FROM inventory_stocklevel AS l
    WHERE e.expected_at IS NOT NULL AND l.variant_id = e.variant_id AND l.warehouse_id = e.warehouse_id
        AND l.on_hand > 0 AND l.updated_at = now()
    """
).format(ARRIVED)

LOCK = """
    WITH locked AS (
        SELECT l.counted_at FROM {rows} JOIN inventory_stocklevel AS l
            ON l.variant_id = n.variant_id AND l.warehouse_id = n.warehouse_id
        ORDER BY l.variant_id, l.warehouse_id FOR UPDATE OF l
    )
    SELECT count(*), count(*) FILTER (WHERE counted_at > {as_of}) FROM locked
"""
"""This statement is separate, because it may wait for changes that only the next statement sees."""

# A later count of the same number changes `counted_at` and `stocked_at`, but not `updated_at`.
SET = """
    WITH counted AS (
        SELECT l.id, l.variant_id, l.warehouse_id, {line} AS line, l.on_hand, l.reserved, {on_hand} AS counted
        FROM {rows} JOIN inventory_stocklevel AS l
            ON l.variant_id = n.variant_id AND l.warehouse_id = n.warehouse_id
        {moved}
        WHERE l.counted_at IS NULL OR l.counted_at <= {as_of}
    ), written AS (
        UPDATE inventory_stocklevel AS l
        SET on_hand = counted.counted, counted_at = {as_of},
            stocked_at = CASE WHEN counted.counted > 0 THEN {as_of} ELSE l.stocked_at END,
            updated_at = CASE WHEN l.on_hand <> counted.counted THEN statement_timestamp()
                ELSE l.updated_at END
        FROM counted
        WHERE l.id = counted.id {look_up}
            AND (l.on_hand <> counted.counted OR l.counted_at IS DISTINCT FROM {as_of})
    ), arrived AS (
        UPDATE inventory_expectedstock AS e SET {arrived} FROM counted
        WHERE e.variant_id = counted.variant_id AND e.warehouse_id = counted.warehouse_id
            AND counted.counted > counted.on_hand AND e.expected_at IS NOT NULL
    ), moved AS (
        {movements} RETURNING on_hand
    )
    SELECT count(*), count(*) FILTER (WHERE on_hand = 0) FROM moved
"""


def _insert_missing(counts: Counts, params: Params) -> int:
    """Insert the missing levels. Return the number of levels inserted by this transaction."""
    if not counts.expect_no_conflict:
        return _execute(counts.insert, params)
    try:
        with transaction.atomic():
            return _execute(counts.insert_without_conflict, params)
    except IntegrityError:
        with _hash_joins():
            return _execute(counts.insert, params)


def _execute(statement: str | Composable, params: Params = None) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return int(cursor.rowcount)


def _row(statement: str, params: Params) -> tuple[int, ...]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return tuple(cursor.fetchone())


@contextmanager
def _hash_joins() -> Iterator[None]:
    """Allow hash joins, which imports switch off, for a statement that joins two long lists."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('enable_hashjoin'), set_config('enable_hashjoin', 'on', true)")
        before, _ = cursor.fetchone()
        yield
        cursor.execute("SELECT set_config('enable_hashjoin', %s, true)", [before])
