"""Store the refused rows of a range with their reasons. A `row_importer` stores its own rejects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from django.db import connection
from psycopg.sql import SQL, Composable, Literal

from imports.pipeline.columns import RowRule
from imports.pipeline.context import BATCH, ImportContext
from imports.pipeline.importer import RangeImporter
from imports.pipeline.tolerant_reader import Record
from imports.sql import execute, value

MOST_FIELD, MOST_MESSAGE, MOST_REPEATED = 200, 500, 200
MOST_KEPT = 100_000
"""The largest number of rejects that one job stores. The reject of a short line takes 50 times its space.

All rejects are counted, and the error CSV shows how many are missing.
"""
REPEATED = " It is the last row of its key; these earlier lines were skipped: "


def write_unreadable(job_id: int, refused: Sequence[Record], *, own: int) -> None:
    """Store unreadable records as rejects.

    If the file is a corrected error report, its first `own` columns belong to the report. Do not store them.
    """
    if not refused:
        return
    with connection.cursor() as cursor:
        copy_in = "COPY imports_reject (job_id, line, field, code, message, cells) FROM STDIN"
        with cursor.copy(copy_in) as copy:
            for record in refused:
                cells = json.dumps(record.cells[own:], ensure_ascii=False)
                field, message = record.field[:MOST_FIELD], record.message[:MOST_MESSAGE]
                copy.write_row((job_id, record.line, field, record.code, message, cells))


def take_out_wrong(context: ImportContext, importer: RangeImporter, within: Composable) -> int:
    """Remove the wrong rows from the batch, store them with their reasons, and return their number."""
    wrong: int = value(SQL("SELECT count(*) FROM {} WHERE wrong").format(BATCH))
    if not wrong:
        return 0
    # Allow hash joins here: many rows may be wrong, and a lookup of each line is slow.
    execute(SQL("SET LOCAL enable_hashjoin = on"))
    mapped = context.mapped
    cells = SQL(", ").join(
        mapped.raw(index) if mapped.own else SQL("s.{}").format(column)
        for index, column in enumerate(context.staging.columns)
        if index >= mapped.own
    )
    execute(
        SQL(
            """
            WITH b AS (DELETE FROM {batch} AS b WHERE wrong RETURNING b.*)
            INSERT INTO imports_reject (job_id, line, field, code, message, cells)
            SELECT {job}, b.line, found.field, found.code, found.message || coalesce({repeated}, ''),
                to_jsonb(array_replace(ARRAY[{cells}], NULL, ''))
            FROM b JOIN {table} AS s ON {same} AND {within}
            LEFT JOIN {repetitions} AS r ON r.line = b.line
            {steps}
            CROSS JOIN LATERAL (
                SELECT (array_agg(field ORDER BY place))[1] AS field,
                    (array_agg(code ORDER BY place))[1] AS code,
                    left(CASE WHEN count(*) = 1 THEN min(message)
                        ELSE string_agg(CASE WHEN starts_with(message, field || ' ') THEN message
                            ELSE field || ': ' || message END, ' ' ORDER BY place) END, {longest}) AS message
                FROM (VALUES {rules}) AS rule (place, field, broken, code, message) WHERE broken AND {said}
            ) AS found
            ORDER BY b.line LIMIT {kept}
            """
        ).format(
            batch=BATCH,
            job=Literal(context.job.pk),
            cells=cells,
            table=context.staging.table,
            same=importer.same_row(context),
            within=within,
            steps=mapped.joins,
            longest=Literal(MOST_MESSAGE - MOST_REPEATED),
            repeated=Literal(REPEATED) + SQL(" || array_to_string(r.earlier, ', ') || '.'"),
            repetitions=context.staging.repeated,
            rules=as_rows([*mapped.rules(), *importer.rules(context)]),
            said=mapped.worth_saying,
            kept=Literal(max(0, MOST_KEPT - context.job.rejected)),
        )
    )
    execute(SQL("SET LOCAL enable_hashjoin = off"))
    return wrong


def as_rows(rules: Iterable[tuple[str, RowRule]]) -> Composable:
    """Return rules as rows: position, field, whether the row breaks the rule, code and message."""
    return SQL(", ").join(
        SQL("({}, {}, ({}) IS TRUE, {}, {})").format(
            Literal(place),
            Literal(field),
            rule.condition,
            Literal(rule.code) if isinstance(rule.code, str) else rule.code,
            rule.message,
        )
        for place, (field, rule) in enumerate(rules)
    )
