"""Before the ranges: the file is there, its header is understood, its rows are staged, each key once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from django.db import transaction
from psycopg.errors import ProgramLimitExceeded
from psycopg.sql import SQL, Composable, Literal

from accounts.models import Supplier
from imports import lifecycle, templates
from imports.columns import Column
from imports.compiling import Compiled, find_styles
from imports.expressions import parse_assignments
from imports.importer import Importer, Run
from imports.mapping import ALIASES, Bound, bind
from imports.models import ImportJob
from imports.reading import LONGEST_SHOWN, Sheet, Unreadable, count_known, guess_encoding
from imports.sifting import sift
from imports.staging import Staging, refresh_statistics, row, run
from sftp_ingest.remote import RemoteFailed, fetch

# A row of the staging table is a page of 8 KiB at most, and up to 24 bytes of a cell always stand in it.
TOO_WIDE = (
    "A row fills more of the {} columns than can be kept. Leave out columns that the import ignores;"
    " up to 330 always fit."
)


def prepare(job: ImportJob, importer: Importer) -> Run:
    """Everything that a job needs before its first range. Raises Unreadable for the file as a whole."""
    _bring(job)
    columns = importer.columns_for(job.options)
    with job.path.open("rb") as file:
        sheet = _open(file, job, importer, columns)
        bound = _bound(sheet, job, importer, columns)
        staging = Staging(job.pk, len(sheet.header))
        compiled = _compile(columns, bound, job, sheet.own)
        current = Run(job, staging, compiled)
        # An unlogged table is empty after a crash of the database.
        if job.staged is None or not staging.exists() or staging.count() != job.staged:
            _stage(current, importer, sheet)
    styles = find_styles(staging, compiled, sheet.delimiter)
    if styles:
        current.compiled = _compile(columns, bound, job, sheet.own, styles)
    refresh_statistics(importer.tables)
    with transaction.atomic():
        importer.prepare(current)
        sift(current, importer)
    return current


def _bring(job: ImportJob) -> None:
    """Fetch the file of a job whose file is on a remote host."""
    if job.path.exists():
        return
    if not job.options.get("remote"):
        raise Unreadable(
            "file_gone", "The file of this import is no longer kept. Start a new import with it."
        )
    try:
        fetch(Supplier.objects.get(pk=job.supplier_id), job.source, job.path)
    except RemoteFailed as error:
        raise Unreadable(error.code, error.message) from error


def _open(file: BinaryIO, job: ImportJob, importer: Importer, columns: Mapping[str, Column]) -> Sheet:
    known = {entry.source for entry in importer.entries(job.options)}
    if importer.automatic:
        known |= {*columns, *ALIASES}

    def recognised(names: list[str]) -> int:
        return count_known(names, known)

    return Sheet(file, guess_encoding(job.path), recognised)


def _bound(sheet: Sheet, job: ImportJob, importer: Importer, columns: Mapping[str, Column]) -> Bound:
    entries = importer.entries(job.options)
    bound = bind(sheet.header, entries, columns, automatic=importer.automatic, own=sheet.own)
    computed = {each.field for each in parse_assignments(job.options.get("math_transformer", ""), columns)}
    for field in importer.mandatory(job.options):
        if field not in bound.fields and field not in computed:
            wanted = next((entry.source for entry in entries if entry.field == field), columns[field].name)
            has = ", ".join(filter(None, sheet.header[sheet.own :]))[:LONGEST_SHOWN]
            raise Unreadable(
                "missing_column", f"The file has no column {wanted!r}, which every row needs; it has {has}."
            )
    return bound


def _compile(
    columns: Mapping[str, Column], bound: Bound, job: ImportJob, own: int, styles: Any = None
) -> Compiled:
    numeric = [name for name, column in columns.items() if column.numeric]
    assignments = parse_assignments(job.options.get("math_transformer", ""), numeric)
    known = set(bound.fields)
    for each in assignments:
        missing = sorted(each.inputs - known)
        if missing:
            raise Unreadable(
                "missing_column",
                f"math_transformer computes {each.field} from {missing[0]}, which the file does not have.",
            )
        known.add(each.field)
    return Compiled(columns, bound, assignments, own, styles or {})


def _stage(current: Run, importer: Importer, sheet: Sheet) -> None:
    job, staging = current.job, current.staging
    first = job.staged is None
    with transaction.atomic():
        run(SQL("SET LOCAL jit = off; SET LOCAL work_mem = '128MB'; SET LOCAL timezone = 'UTC'"))
        staging.create()
        try:
            staged = staging.load(sheet, own=current.compiled.own, again=not first)
        except ProgramLimitExceeded as error:
            raise Unreadable("too_wide", TOO_WIDE.format(staging.width)) from error
        skipped = templates.drop_lines(current, sheet.header)
        twice, lines = _drop_duplicates(current, importer)
        staging.index()
        if not first:
            lifecycle.hold(job)
            return
        warnings = [*current.compiled.bound.warnings, *skipped, *_told_twice(twice, lines)]
        lifecycle.hold(
            job,
            header=sheet.header[current.compiled.own :],
            delimiter=sheet.delimiter,
            rows_total=staged.records - len(skipped),
            rows_done=staged.refused + twice,
            rejected=staged.refused,
            duplicates=twice,
            staged=staged.records - staged.refused - len(skipped) - twice,
            last_line=staged.last_line,
            warnings=warnings,
            ignored_columns=current.compiled.bound.ignored,
        )


def _drop_duplicates(current: Run, importer: Importer) -> tuple[int, list[int]]:
    """Of rows with one key keep the last; how many others there were, and the lines of the first ten."""
    keys = importer.key(current)
    names = [SQL("k{}").format(Literal(place)) for place in range(len(keys))]
    same = SQL(" AND ").join(
        SQL("{} = twice.{}").format(key, name) for key, name in zip(keys, names, strict=True)
    )
    found = row(
        SQL(
            """
            WITH twice AS (
                SELECT {aliased}, max(line) AS last FROM {table} AS s
                GROUP BY {places} HAVING count(*) > 1
            ), gone AS (
                DELETE FROM {table} AS s USING twice
                WHERE {same} AND s.line < twice.last AND {first} <> '' RETURNING s.line
            )
            SELECT count(*), (SELECT array_agg(line) FROM (SELECT line FROM gone ORDER BY line LIMIT 10) AS l)
            FROM gone
            """
        ).format(
            aliased=_aliased(keys, names),
            table=current.staging.table,
            places=SQL(", ").join(Literal(place + 1) for place in range(len(keys))),
            same=same,
            first=SQL("twice.{}").format(names[0]),
        )
    )
    return int(found[0]), list(found[1] or [])


def _aliased(keys: Sequence[Composable], names: Sequence[Composable]) -> Composable:
    return SQL(", ").join(SQL("{} AS {}").format(key, name) for key, name in zip(keys, names, strict=True))


def _told_twice(count: int, lines: list[int]) -> list[str]:
    if not count:
        return []
    told = ", ".join(map(str, lines)) + (" …" if count > len(lines) else "")
    rows = "1 row comes" if count == 1 else f"{count} rows come"
    return [f"{rows} again further down; the last counts, and these lines were passed over: {told}."]
