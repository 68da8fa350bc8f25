"""Find all rows of a staged file that differ from the stored rows, before the first range is merged.

Most rows of a nightly file are unchanged. One read-only join finds the changed rows. The join holds no lock,
and the database may use any plan and parallel workers. Each range gets only its changed rows, because a
range locks the rows that it writes. It compares these rows again, because a stored row may have changed since
the join.
"""

from __future__ import annotations

from django.db import connection
from psycopg.sql import SQL, Literal

from imports.pipeline import batches
from imports.pipeline.context import ImportContext
from imports.pipeline.importer import RangeImporter
from imports.sql import execute

# Make parallel plans cheap, because the join returns few rows. The planner may believe that
# a large table is small. Forbid materialization, so that the planner chooses no nested loops over this table.
FEW_COME_OUT = """
    SET LOCAL jit = off; SET LOCAL parallel_tuple_cost = 0.001; SET LOCAL enable_material = off
"""


def find_changed_rows(context: ImportContext, importer: RangeImporter) -> None:
    """Count the rows of each range after the bookmark. Store the line numbers of all changed rows.

    A changed row differs from the stored row. If there are no stored rows yet, only count the rows.
    """
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
