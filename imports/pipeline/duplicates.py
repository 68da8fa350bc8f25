"""Remove earlier rows of the same key from a staged file: the last row counts."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.sql import SQL, Composable, Literal

from imports.pipeline.context import ImportContext
from imports.pipeline.importer import Importer
from imports.sql import execute, row

SHOWN_LINES = 10


def drop_duplicates(context: ImportContext, importer: Importer) -> tuple[int, list[str]]:
    """Delete all rows except the last row of each key. Return the number of deleted rows, and warnings."""
    repeated = context.staging.repeated
    execute(SQL("CREATE UNLOGGED TABLE {} (line bigint, earlier bigint[])").format(repeated))
    keys = importer.key(context)
    names = [SQL("k{}").format(Literal(place)) for place in range(len(keys))]
    same = SQL(" AND ").join(
        SQL("{} = twice.{}").format(key, name) for key, name in zip(keys, names, strict=True)
    )
    count, lines = row(
        SQL(
            """
            WITH twice AS (
                SELECT {aliased}, max(line) AS last FROM {table} AS s
                GROUP BY {places} HAVING count(*) > 1
            ), gone AS (
                DELETE FROM {table} AS s USING twice
                WHERE {same} AND s.line < twice.last AND {first} <> '' RETURNING s.line, twice.last
            ), kept AS (
                INSERT INTO {repeated} SELECT last, (array_agg(line ORDER BY line))[:{shown}] FROM gone
                GROUP BY last
            )
            SELECT count(*),
                (SELECT array_agg(line) FROM (SELECT line FROM gone ORDER BY line LIMIT {shown}) AS l)
            FROM gone
            """
        ).format(
            aliased=_aliased(keys, names),
            table=context.staging.table,
            repeated=repeated,
            places=SQL(", ").join(Literal(place + 1) for place in range(len(keys))),
            same=same,
            first=SQL("twice.{}").format(names[0]),
            shown=Literal(SHOWN_LINES),
        )
    )
    return int(count), duplicate_warnings(int(count), lines or [])


def _aliased(keys: Sequence[Composable], names: Sequence[Composable]) -> Composable:
    return SQL(", ").join(SQL("{} AS {}").format(key, name) for key, name in zip(keys, names, strict=True))


def duplicate_warnings(count: int, lines: Sequence[int]) -> list[str]:
    if not count:
        return []
    listed = ", ".join(map(str, lines)) + (" …" if count > len(lines) else "")
    rows = "1 row comes" if count == 1 else f"{count} rows come"
    return [f"{rows} again further down. The last one counts; these lines were skipped: {listed}."]
