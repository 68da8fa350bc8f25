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


def take(current: Run, importer: Importer, after: int, upto: int) -> dict[str, Any]:
    """Land the rows of these lines in the present transaction; return what to add to the job's counters."""
    within = SQL("s.line > {} AND s.line <= {}").format(Literal(after), Literal(upto))
    run(SQL("SET LOCAL jit = off; SET LOCAL work_mem = '64MB'"))
    rows = int(value(SQL("SELECT count(*) FROM {} AS s WHERE {}").format(current.staging.table, within)))
    if not rows:
        return {"rows_done": 0, "created": 0, "updated": 0, "unchanged": 0, "rejected": 0}
    gather(current, importer, within)
    rejected = reject(current, importer, within)
    landed = importer.forecast(current) if current.job.dry_run else importer.land(current)
    counts: dict[str, Any] = {
        "rows_done": rows,
        "created": landed.created,
        "updated": landed.updated,
        "unchanged": rows - rejected - landed.created - landed.updated,
        "rejected": rejected,
    }
    if landed.report:
        counts["report"] = merged(current.job.report, landed.report)
    return counts


def gather(current: Run, importer: Importer, within: Composable) -> int:
    """Fill the batch with the rows of a range that are not as they should be already."""
    lookup = importer.lookup(current)
    compiled = current.compiled
    columns: list[Composable] = [SQL("s.line")]
    columns += [SQL("{} AS {}").format(each, Identifier(name)) for name, each in compiled.values.items()]
    columns += [SQL("{} AS {}").format(each, Identifier(name)) for name, each in lookup.columns.items()]
    # Rows are found one by one, through their unique indexes: what the planner believes of a table that
    # has just grown from nothing would have it read that table whole, for each range anew.
    run(
        SQL(
            "DROP TABLE IF EXISTS {}; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;"
            " SET LOCAL enable_seqscan = off"
        ).format(BATCH)
    )
    found = run(
        SQL(
            "CREATE TEMP TABLE import_batch ON COMMIT DROP AS"
            " SELECT {columns} FROM {table} AS s {steps} {joins} WHERE {within} AND ({unchanged}) IS NOT TRUE"
        ).format(
            columns=SQL(", ").join(columns),
            table=current.staging.table,
            steps=compiled.joins,
            joins=lookup.joins,
            within=within,
            unchanged=lookup.unchanged,
        )
    )
    run(SQL("SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on; SET LOCAL enable_seqscan = on"))
    return found


def reject(current: Run, importer: Importer, within: Composable) -> int:
    """Take the bad rows out of the batch and write down what is wrong with each."""
    compiled = current.compiled
    own, domain = compiled.faults(), importer.faults(current)
    faults = [*own, *domain]
    wrong = SQL("({}) AND ({})").format(compiled.suspects(), any_of(own))
    if domain:
        wrong = SQL("({}) OR {}").format(wrong, any_of(domain))
    named = SQL(", ").join(
        SQL("({}, {}, ({}) IS TRUE, {}, {})").format(
            Literal(place),
            Literal(field),
            fault.condition,
            Literal(fault.code) if isinstance(fault.code, str) else fault.code,
            fault.message,
        )
        for place, (field, fault) in enumerate(faults)
    )
    cells = SQL(", ").join(
        compiled.raw(index) if compiled.own else SQL("s.{}").format(column)
        for index, column in enumerate(current.staging.columns)
        if index >= compiled.own
    )
    return run(
        SQL(
            """
            WITH b AS (DELETE FROM {batch} AS b WHERE {wrong} RETURNING b.*)
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
            wrong=wrong,
            job=Literal(current.job.pk),
            cells=cells,
            table=current.staging.table,
            within=within,
            steps=current.compiled.joins,
            named=named,
        )
    )


def any_of(faults: list[tuple[str, Fault]]) -> Composable:
    return SQL(" OR ").join(SQL("({})").format(fault.condition) for _, fault in faults)


TOP = 10


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Two reports of parts as one: numbers are added, of lists of changes the largest stay."""
    result = dict(old)
    for name, found in new.items():
        if isinstance(found, list):
            ranked = sorted([*result.get(name, []), *found], key=lambda each: -each["factor"])
            result[name] = ranked[:TOP]
        else:
            result[name] = result.get(name, 0) + found
    return result
