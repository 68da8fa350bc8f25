"""Keep the planner's statistics of growing tables fresh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import connection, transaction
from psycopg.sql import SQL, Identifier


def refresh_statistics(tables: Mapping[str, Sequence[str]]) -> None:
    """Analyze these columns of the tables that have grown. Stored rows are looked up by these columns.

    If the planner believes that a table is empty, it reads the whole table for each lookup. A small sample of
    its rows is enough for the planner.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT c.relname FROM pg_class c JOIN pg_stat_user_tables t ON t.relid = c.oid
            WHERE c.relname = ANY(%s) AND c.relnamespace = current_schema()::regnamespace
                AND t.n_live_tup > 3 * greatest(c.reltuples, 1000)
            """,
            [list(tables)],
        )
        for (name,) in cursor.fetchall():
            columns = SQL(", ").join(map(Identifier, tables[name]))
            cursor.execute(
                SQL("SET LOCAL default_statistics_target = 10; ANALYZE (SKIP_LOCKED) {} ({})").format(
                    Identifier(name), columns
                )
            )
