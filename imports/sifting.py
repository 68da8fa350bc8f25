"""Before the ranges: which rows of a staged file need anything done, found for the whole file at once.

A nightly file is nearly all as it should be already. To find the rest is one join that only reads, which
the database does in the way and with the workers that suit it, and which holds up nobody. So ranges, which
lock what they write, are left with the rows that differ; they look at each of those anew.
"""

from __future__ import annotations

from django.db import connection
from psycopg.sql import SQL, Literal

from imports import batches
from imports.importer import Importer, Run
from imports.staging import run


def sift(current: Run, importer: Importer) -> None:
    """Count the rows of each range that is still to do, and write down which of them differ."""
    bookmark = current.job.bookmark
    _count(current, bookmark)
    current.first = importer.is_first(current)
    if current.first:
        return
    lookup = importer.lookup(current)
    # Few rows come out of it. And where few are believed to go in, it must not compare all with all.
    run(SQL("SET LOCAL jit = off; SET LOCAL parallel_tuple_cost = 0.001; SET LOCAL enable_material = off"))
    run(
        SQL(
            """
            SET LOCAL work_mem = '64MB';
            DROP TABLE IF EXISTS {differing};
            CREATE UNLOGGED TABLE {differing} AS
                SELECT s.line, s.ctid AS place FROM {table} AS s {steps} {joins}
                WHERE s.line > {bookmark} AND ({unchanged}) IS NOT TRUE;
            CREATE INDEX ON {differing} (line);
            ANALYZE {differing}
            """
        ).format(
            differing=current.staging.differing,
            table=current.staging.table,
            steps=current.compiled.joins,
            joins=lookup.joins,
            bookmark=Literal(bookmark),
            unchanged=lookup.unchanged,
        )
    )


def _count(current: Run, bookmark: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            SQL(
                "SELECT (line - {0} - 1) / {1} * {1} + {0}, count(*) FROM {2} WHERE line > {0} GROUP BY 1"
            ).format(Literal(bookmark), Literal(batches.STEP), current.staging.table)
        )
        current.sizes = dict(cursor.fetchall())
