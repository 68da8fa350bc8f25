"""Before the ranges: which rows of a staged file need anything done, found for the whole file at once.

A nightly file is nearly all as it should be already. To find the rest is one join that only reads, which
the database does in the way and with the workers that suit it, and which holds up nobody. So ranges, which
lock what they write, are left with the rows that differ; they look at each of those anew.
"""

from __future__ import annotations

from django.db import connection
from psycopg.sql import SQL, Literal

from imports.pipeline import batches
from imports.pipeline.context import ImportContext
from imports.pipeline.importer import RangeImporter
from imports.sql import execute

# Few rows come out of it. And where few are believed to go in, it must not compare all with all.
FEW_COME_OUT = """
    SET LOCAL jit = off; SET LOCAL parallel_tuple_cost = 0.001; SET LOCAL enable_material = off
"""


def find_changed_rows(context: ImportContext, importer: RangeImporter) -> None:
    """Count the rows of each range that is still to do, and write down which of them differ."""
    bookmark = context.job.bookmark
    _count(context, bookmark)
    context.first = importer.is_first(context)
    if context.first:
        return
    lookup = importer.lookup(context)
    execute(SQL(FEW_COME_OUT))
    execute(
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
            differing=context.staging.differing,
            table=context.staging.table,
            steps=context.mapped.joins,
            joins=lookup.joins,
            bookmark=Literal(bookmark),
            unchanged=lookup.unchanged,
        )
    )


def _count(context: ImportContext, bookmark: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            SQL(
                "SELECT (line - {0} - 1) / {1} * {1} + {0}, count(*) FROM {2} WHERE line > {0} GROUP BY 1"
            ).format(Literal(bookmark), Literal(batches.STEP), context.staging.table)
        )
        context.sizes = dict(cursor.fetchall())
