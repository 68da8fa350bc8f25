"""Convert, compare, check and land the rows of one range of a staged file, in a few statements."""

from __future__ import annotations

from typing import Any

from psycopg.sql import SQL, Composable, Identifier, Literal

from imports.pipeline.columns import RowRule
from imports.pipeline.context import BATCH, ImportContext
from imports.pipeline.importer import RangeImporter
from imports.pipeline.job_report import merge_reports
from imports.pipeline.rejects import take_out_wrong
from imports.sql import execute, row

MOST_WARNINGS = 20
SHOWN_LINES = 10
# The number of lines in a range. After the death of a worker, at most one range is repeated. A canceled job
# stops at the end of the current range.
STEP = 20_000

# Force lookups through unique indexes. The statistics of a table that has just grown are old. With old
# statistics, the planner would read the whole table for each range. Forbid parallel workers, because their
# start takes longer than the statement.
ONE_BY_ONE = """
    SET LOCAL jit = off; SET LOCAL work_mem = '64MB'; SET LOCAL max_parallel_workers_per_gather = 0;
    SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
    SET LOCAL enable_seqscan = off; SET LOCAL enable_material = off
"""


def land_range(context: ImportContext, importer: RangeImporter, after: int, upto: int) -> dict[str, object]:
    """Write the rows of these lines in this transaction, and return the changes of the job's fields."""
    rows = context.sizes.get(after, 0)
    counts: dict[str, Any] = dict.fromkeys(("created", "updated", "rejected"), 0)
    if rows:
        within = SQL("s.line > {} AND s.line <= {}").format(Literal(after), Literal(upto))
        execute(SQL(ONE_BY_ONE))
        if gather(context, importer, within):
            _land(context, importer, within, counts)
    touched = counts["created"] + counts["updated"] + counts["rejected"]
    return {"rows_done": rows, "unchanged": rows - touched, **counts}


def _land(
    context: ImportContext, importer: RangeImporter, within: Composable, counts: dict[str, Any]
) -> None:
    importer.complete(context)
    counts["rejected"] = take_out_wrong(context, importer, within)
    if context.job.dry_run:
        result = importer.forecast(context)
    else:
        result = importer.land(context)
        counts["rejected"] += take_out_wrong(context, importer, within)
    counts |= {"created": result.created, "updated": result.updated}
    if warnings := _lost_pictures(context):
        counts["warnings"] = [*context.job.warnings, *warnings]
    if result.report:
        counts["report"] = merge_reports(context.job.report, result.report)


def _lost_pictures(context: ImportContext) -> list[str]:
    """Return a warning about the rows of the batch that are imported without some of their pictures."""
    if not context.mapped.notes or len(context.job.warnings) >= MOST_WARNINGS:
        return []
    lost = SQL("SELECT count(*), (array_agg(line ORDER BY line))[:{}] FROM {} WHERE lost_pictures")
    count, lines = row(lost.format(Literal(SHOWN_LINES), BATCH))
    if not count:
        return []
    listed = ", ".join(map(str, lines)) + (" …" if count > len(lines) else "")
    rows = "1 row was" if count == 1 else f"{count} rows were"
    return [
        f"{rows} imported without some pictures, which are no URLs such as https://example.com/1.jpg:"
        f" lines {listed}."
    ]


def gather(context: ImportContext, importer: RangeImporter, within: Composable) -> int:
    """Fill the batch with the rows of a range that differ from the stored rows, and return their number."""
    execute(SQL("DROP TABLE IF EXISTS {}").format(BATCH))
    return execute(
        SQL("CREATE TEMP TABLE import_batch ON COMMIT DROP AS {}").format(
            differing(context, importer, within)
        )
    )


def differing(context: ImportContext, importer: RangeImporter, within: Composable) -> Composable:
    """Return a query for the rows of a range that differ from the stored rows.

    The query returns the values, the columns of the lookup, and `wrong`: whether the row breaks a rule.
    """
    lookup, mapped = importer.lookup(context), context.mapped
    table, rows = SQL("{} AS s").format(context.staging.table), within
    if not context.first:
        # Join by ctid alone. If the condition also named the line and the statistics showed an empty range,
        # the planner could compare every row of the range with every other row.
        table = SQL("(SELECT place FROM {} AS s WHERE {} OFFSET 0) AS d JOIN {} ON s.ctid = d.place").format(
            context.staging.differing, within, table
        )
        rows = SQL("true")
    named = {**lookup.columns, **mapped.marks, **mapped.notes, **mapped.values}
    return SQL(
        # OFFSET 0 makes the planner compute each value once, even if the query names the value several times.
        # Columns that all rows need come before the long texts, so that PostgreSQL need not read the texts.
        "SELECT b.line, ({wrong}) IS TRUE AS wrong, {shown} FROM ("
        "SELECT s.line, {columns} FROM {table} {steps} {joins} WHERE {rows} AND ({unchanged}) IS NOT TRUE"
        " OFFSET 0) AS b"
    ).format(
        shown=SQL(", ").join(SQL("b.{}").format(Identifier(name)) for name in named),
        wrong=_wrong(context, importer),
        columns=SQL(", ").join(
            SQL("{} AS {}").format(each, Identifier(name)) for name, each in named.items()
        ),
        table=table,
        steps=mapped.joins,
        joins=lookup.joins,
        rows=rows,
        unchanged=lookup.unchanged,
    )


def _wrong(context: ImportContext, importer: RangeImporter) -> Composable:
    """Return a condition over a row of the batch that holds if the row breaks a rule."""
    column_rules, domain_rules = context.mapped.rules(), importer.rules(context)
    wrong = SQL("({}) AND ({})").format(context.mapped.suspects(), any_of(column_rules))
    return SQL("({}) OR {}").format(wrong, any_of(domain_rules)) if domain_rules else wrong


def any_of(rules: list[tuple[str, RowRule]]) -> Composable:
    return SQL(" OR ").join(SQL("({})").format(rule.condition) for _, rule in rules)
