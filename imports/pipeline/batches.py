"""One range of a staged file: typed, compared, checked, and landed, in a handful of statements."""

from __future__ import annotations

from typing import Any

from psycopg.sql import SQL, Composable, Identifier, Literal

from imports.pipeline.columns import RowRule
from imports.pipeline.context import BATCH, ImportContext
from imports.pipeline.importer import RangeImporter
from imports.pipeline.job_report import merge_reports
from imports.pipeline.rejects import take_out_wrong
from imports.sql import execute

# Lines in a range: what is done twice at most when a worker dies, and what a cancel waits for.
STEP = 20_000

# Rows are found one by one, through their unique indexes: what the planner believes of a table that has just
# grown from nothing would have it read that table whole, for each range anew. And parallel workers would
# take longer to start than they are needed.
ONE_BY_ONE = """
    SET LOCAL jit = off; SET LOCAL work_mem = '64MB'; SET LOCAL max_parallel_workers_per_gather = 0;
    SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
    SET LOCAL enable_seqscan = off; SET LOCAL enable_material = off
"""


def land_range(context: ImportContext, importer: RangeImporter, after: int, upto: int) -> dict[str, Any]:
    """Land the rows of these lines in this transaction; return what to add to the job's counters."""
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
    if result.report:
        counts["report"] = merge_reports(context.job.report, result.report)


def gather(context: ImportContext, importer: RangeImporter, within: Composable) -> int:
    """Fill the batch with the rows of a range that are not as they should be already."""
    execute(SQL("DROP TABLE IF EXISTS {}").format(BATCH))
    return execute(
        SQL("CREATE TEMP TABLE import_batch ON COMMIT DROP AS {}").format(
            differing(context, importer, within)
        )
    )


def differing(context: ImportContext, importer: RangeImporter, within: Composable) -> Composable:
    """A query for these rows: their values, what they are about, and whether one is `wrong`."""
    lookup, mapped = importer.lookup(context), context.mapped
    table, rows = SQL("{} AS s").format(context.staging.table), within
    if not context.first:
        # By its place alone: by its line, too, the planner could compare all of a range with all of it,
        # and would where statistics have the range for empty.
        table = SQL("(SELECT place FROM {} AS s WHERE {} OFFSET 0) AS d JOIN {} ON s.ctid = d.place").format(
            context.staging.differing, within, table
        )
        rows = SQL("true")
    named = {**lookup.columns, **mapped.marks, **mapped.values}
    return SQL(
        # OFFSET 0 keeps the planner from computing each value anew wherever it is named. What is asked of
        # all rows comes before their texts, and is found there without reading over those.
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
    """A condition over a batch's row that holds if it breaks a rule."""
    own, domain = context.mapped.rules(), importer.rules(context)
    wrong = SQL("({}) AND ({})").format(context.mapped.suspects(), any_of(own))
    return SQL("({}) OR {}").format(wrong, any_of(domain)) if domain else wrong


def any_of(rules: list[tuple[str, RowRule]]) -> Composable:
    return SQL(" OR ").join(SQL("({})").format(rule.condition) for _, rule in rules)
