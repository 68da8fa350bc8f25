"""Type, compare, check and land one range of a staged file, in a few statements."""

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
# Lines in a range. At most one range is repeated after a worker dies; a cancel waits for at most one.
STEP = 20_000

# Force lookups through unique indexes: the planner's statistics of a table that has just grown would make it
# read the whole table for each range. Parallel workers would take longer to start than the work.
ONE_BY_ONE = """
    SET LOCAL jit = off; SET LOCAL work_mem = '64MB'; SET LOCAL max_parallel_workers_per_gather = 0;
    SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
    SET LOCAL enable_seqscan = off; SET LOCAL enable_material = off
"""


def land_range(context: ImportContext, importer: RangeImporter, after: int, upto: int) -> dict[str, object]:
    """Land the rows of these lines in this transaction; return the additions to the job's counters."""
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
    """Return a warning about the rows of the batch that land without some of their pictures."""
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
    """Fill the batch with the rows of a range that differ from the stored ones; return their number."""
    execute(SQL("DROP TABLE IF EXISTS {}").format(BATCH))
    return execute(
        SQL("CREATE TEMP TABLE import_batch ON COMMIT DROP AS {}").format(
            differing(context, importer, within)
        )
    )


def differing(context: ImportContext, importer: RangeImporter, within: Composable) -> Composable:
    """Return a query for these rows: their values, their looked-up columns, and whether one is `wrong`."""
    lookup, mapped = importer.lookup(context), context.mapped
    table, rows = SQL("{} AS s").format(context.staging.table), within
    if not context.first:
        # Join by ctid alone. If the condition also named the line, and the statistics called the range empty,
        # the planner could compare every row of the range with every other row.
        table = SQL("(SELECT place FROM {} AS s WHERE {} OFFSET 0) AS d JOIN {} ON s.ctid = d.place").format(
            context.staging.differing, within, table
        )
        rows = SQL("true")
    named = {**lookup.columns, **mapped.marks, **mapped.notes, **mapped.values}
    return SQL(
        # OFFSET 0 keeps the planner from computing each value again wherever it is named. Columns that all
        # rows need come before the texts, so they are found without reading the texts.
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
