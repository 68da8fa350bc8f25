"""One range of a staged file: typed, compared, checked, and landed, in a handful of statements."""

from __future__ import annotations

from typing import Any

from psycopg.sql import SQL, Composable, Identifier, Literal

from imports.columns import Fault
from imports.importer import Importer, Run
from imports.staging import run, value

# Lines in a range: what is done twice at most when a worker dies, and what a cancel waits for.
STEP = 20_000
BATCH = SQL("pg_temp.import_batch")

# Rows are found one by one, through their unique indexes: what the planner believes of a table that has just
# grown from nothing would have it read that table whole, for each range anew. And parallel workers would
# take longer to start than they are needed.
ONE_BY_ONE = """
    SET LOCAL jit = off; SET LOCAL work_mem = '64MB'; SET LOCAL max_parallel_workers_per_gather = 0;
    SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
    SET LOCAL enable_seqscan = off; SET LOCAL enable_material = off
"""


def take(current: Run, importer: Importer, after: int, upto: int) -> dict[str, Any]:
    """Land the rows of these lines in the present transaction; return what to add to the job's counters."""
    rows = current.sizes.get(after, 0)
    counts: dict[str, Any] = dict.fromkeys(("created", "updated", "rejected"), 0)
    if rows:
        within = SQL("s.line > {} AND s.line <= {}").format(Literal(after), Literal(upto))
        run(SQL(ONE_BY_ONE))
        if gather(current, importer, within):
            _land(current, importer, within, counts)
    landed = counts["created"] + counts["updated"] + counts["rejected"]
    return {"rows_done": rows, "unchanged": rows - landed, **counts}


def _land(current: Run, importer: Importer, within: Composable, counts: dict[str, Any]) -> None:
    counts["rejected"] = reject(current, importer, within)
    landed = importer.forecast(current) if current.job.dry_run else importer.land(current)
    counts |= {"created": landed.created, "updated": landed.updated}
    if landed.report:
        counts["report"] = merged(current.job.report, landed.report)


def gather(current: Run, importer: Importer, within: Composable) -> int:
    """Fill the batch with the rows of a range that are not as they should be already."""
    run(SQL("DROP TABLE IF EXISTS {}").format(BATCH))
    return run(
        SQL("CREATE TEMP TABLE import_batch ON COMMIT DROP AS {}").format(
            differing(current, importer, within)
        )
    )


def differing(current: Run, importer: Importer, within: Composable) -> Composable:
    """A query for these rows: their values, what they are about, and whether one is `wrong`."""
    lookup, compiled = importer.lookup(current), current.compiled
    table, rows = SQL("{} AS s").format(current.staging.table), within
    if not current.first:
        # By its place alone: by its line, too, the planner could compare all of a range with all of it,
        # and would where statistics have the range for empty.
        table = SQL("(SELECT place FROM {} AS s WHERE {} OFFSET 0) AS d JOIN {} ON s.ctid = d.place").format(
            current.staging.differing, within, table
        )
        rows = SQL("true")
    named = {**lookup.columns, **compiled.values}
    return SQL(
        # OFFSET 0 keeps the planner from computing each value anew wherever it is named. What is asked of
        # all rows comes before their texts, and is found there without reading over those.
        "SELECT b.line, ({wrong}) IS TRUE AS wrong, {shown} FROM ("
        "SELECT s.line, {columns} FROM {table} {steps} {joins} WHERE {rows} AND ({unchanged}) IS NOT TRUE"
        " OFFSET 0) AS b"
    ).format(
        shown=SQL(", ").join(SQL("b.{}").format(Identifier(name)) for name in named),
        wrong=_wrong(current, importer),
        columns=SQL(", ").join(
            SQL("{} AS {}").format(each, Identifier(name)) for name, each in named.items()
        ),
        table=table,
        steps=compiled.joins,
        joins=lookup.joins,
        rows=rows,
        unchanged=lookup.unchanged,
    )


def _wrong(current: Run, importer: Importer) -> Composable:
    """A condition over a batch's row that holds if it has a fault."""
    own, domain = current.compiled.faults(), importer.faults(current)
    wrong = SQL("({}) AND ({})").format(current.compiled.suspects(), any_of(own))
    return SQL("({}) OR {}").format(wrong, any_of(domain)) if domain else wrong


def reject(current: Run, importer: Importer, within: Composable) -> int:
    """Take the bad rows out of the batch and write down what is wrong with each."""
    if not value(SQL("SELECT count(*) FROM {} WHERE wrong").format(BATCH)):
        return 0
    # Many may be wrong, and lines are not found one by one.
    run(SQL("SET LOCAL enable_hashjoin = on"))
    compiled = current.compiled
    named = SQL(", ").join(
        SQL("({}, {}, ({}) IS TRUE, {}, {})").format(
            Literal(place),
            Literal(field),
            fault.condition,
            Literal(fault.code) if isinstance(fault.code, str) else fault.code,
            fault.message,
        )
        for place, (field, fault) in enumerate([*compiled.faults(), *importer.faults(current)])
    )
    cells = SQL(", ").join(
        compiled.raw(index) if compiled.own else SQL("s.{}").format(column)
        for index, column in enumerate(current.staging.columns)
        if index >= compiled.own
    )
    rejected = run(
        SQL(
            """
            WITH b AS (DELETE FROM {batch} AS b WHERE wrong RETURNING b.*)
            INSERT INTO imports_reject (job_id, line, field, code, message, cells)
            SELECT {job}, b.line, found.field, found.code, found.message,
                to_jsonb(array_replace(ARRAY[{cells}], NULL, ''))
            FROM b JOIN {table} AS s ON s.line = b.line AND {within}
            {steps}
            CROSS JOIN LATERAL (
                SELECT (array_agg(field ORDER BY place))[1] AS field,
                    (array_agg(code ORDER BY place))[1] AS code,
                    left(string_agg(message, ' ' ORDER BY place), 500) AS message
                FROM (VALUES {named}) AS fault (place, field, hit, code, message) WHERE hit
            ) AS found
            """
        ).format(
            batch=BATCH,
            job=Literal(current.job.pk),
            cells=cells,
            table=current.staging.table,
            within=within,
            steps=current.compiled.joins,
            named=named,
        )
    )
    run(SQL("SET LOCAL enable_hashjoin = off"))
    return rejected


def any_of(faults: list[tuple[str, Fault]]) -> Composable:
    return SQL(" OR ").join(SQL("({})").format(fault.condition) for _, fault in faults)


TOP = 10


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Two reports of parts as one: numbers are added, of lists of changes the largest stay, words are new."""
    result = dict(old)
    for name, found in new.items():
        if isinstance(found, list):
            ranked = sorted([*result.get(name, []), *found], key=lambda each: -each["factor"])
            result[name] = ranked[:TOP]
        else:
            result[name] = result.get(name, 0) + found if isinstance(found, int) else found
    return result
