"""Prepare a job: open its file, bind the header, and stage the rows, one per key."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence

from django.db import transaction
from psycopg.errors import ProgramLimitExceeded
from psycopg.sql import SQL

from imports.models import ImportJob, Kind
from imports.pipeline.changed_rows import find_changed_rows
from imports.pipeline.columns import FileColumn, Style
from imports.pipeline.containers import open_sheet
from imports.pipeline.context import ImportContext
from imports.pipeline.csv_reader import Sheet
from imports.pipeline.duplicates import drop_duplicates
from imports.pipeline.errors import Unreadable
from imports.pipeline.expression_parser import parse_assignments
from imports.pipeline.header import LONGEST_SHOWN, count_known
from imports.pipeline.header_binding import Bound, bind
from imports.pipeline.importer import Importer, RangeImporter
from imports.pipeline.mapping import ALIASES
from imports.pipeline.mapping_sql import MappedFile
from imports.pipeline.number_styles import find_styles
from imports.pipeline.rewritten_sheet import RewrittenSheet
from imports.pipeline.row_shape import RowShape, bind_rows, built_field
from imports.pipeline.row_shaping import shape_rows
from imports.pipeline.staging import AnySheet, Loader
from imports.pipeline.statistics import refresh_statistics
from imports.pipeline.template_lines import drop_template_lines
from imports.pipeline.workbook import WorkbookSheet
from imports.pipeline.workbook_parts import Check
from imports.saved_mappings import BY_HEADER, known_by_header
from imports.shop_exports import BUILT_IN
from imports.sql import execute
from imports.staging_table import StagingTable

# A row of the staging table fits into a page of 8 KiB; each cell stores up to 24 bytes in the row itself.
TOO_WIDE = (
    "A row fills more of the {} columns than can be kept. Leave out columns that the import ignores;"
    " up to 330 always fit."
)


def prepare(job: ImportJob, importer: Importer, check: Check = lambda: None) -> ImportContext:
    """Do all work before a job's first range. Raises Unreadable for the file as a whole."""
    if not job.has_content:
        raise Unreadable("file_gone", "The file of this import is no longer stored. Start a new import.")
    columns = importer.columns_for(job.options)
    with job.local_file() as path, open_sheet(path, _recognised(job, importer, columns), check) as opened:
        hint = _look_at_header(job, opened)
        sheet = _rewritten(job, importer, opened)
        shape = bind_rows(sheet.header, job.options.get("rows", {}), sheet.own)
        bound = _bind_header(sheet, job, importer, columns, shape, hint)
        staging = StagingTable(job.pk, len(sheet.header))
        mapped = _map_file(columns, bound, job, sheet.own, shape)
        context = ImportContext(job, staging, mapped)
        # An unlogged table is empty after a crash of the database.
        if job.staged is None or not staging.exists() or staging.count() != job.staged:
            _stage(context, importer, sheet, [hint] if hint else [], check)
    styles = find_styles(staging, mapped, sheet.delimiter)
    if styles:
        context.mapped = _map_file(columns, bound, job, sheet.own, shape, styles)
    if isinstance(importer, RangeImporter):
        refresh_statistics(importer.tables)
        with transaction.atomic():
            importer.prepare(context)
            find_changed_rows(context, importer)
    return context


def _recognised(
    job: ImportJob, importer: Importer, columns: Mapping[str, FileColumn]
) -> Callable[[list[str]], int]:
    """Return a function that counts the names of a header that this job knows."""
    known = {entry.source for entry in importer.entries(job.options)}
    if job.options.get("mapping") == BY_HEADER:
        known |= {entry["source"] for each in BUILT_IN.values() for entry in each.field_mapping}
    if importer.automatic:
        known |= {*columns, *ALIASES}
    return lambda names: count_known(names, known)


def _look_at_header(job: ImportJob, sheet: AnySheet) -> str:
    """Give the job the mapping that fits its file's header, if allowed; return a hint for its warnings."""
    if job.kind != Kind.PRODUCTS:
        return ""
    job.options, hint = known_by_header(job.options, sheet.header[sheet.own :])
    return hint


def _rewritten(job: ImportJob, importer: Importer, sheet: Sheet | WorkbookSheet) -> AnySheet:
    rewriting = importer.rewriting(job.supplier_id, job.options, sheet.header, sheet.own)
    return sheet if rewriting is None else RewrittenSheet(sheet, rewriting)


def _bind_header(
    sheet: AnySheet,
    job: ImportJob,
    importer: Importer,
    columns: Mapping[str, FileColumn],
    shape: RowShape,
    hint: str,
) -> Bound:
    entries = importer.entries(job.options)
    bound = bind(sheet.header, entries, columns, automatic=importer.automatic, own=sheet.own)
    bound = bound.without_ignored(sheet.header[index] for index in shape.used)
    computed = {each.field for each in parse_assignments(job.options.get("math_transformer", ""), columns)}
    computed |= {built_field(columns)} if shape.sku else set()
    filled, mandatory = computed | set(bound.fields), importer.mandatory(job.options)
    missing = [
        next((entry.source for entry in entries if entry.field == field), columns[field].name)
        for field in mandatory
        if field not in filled
    ]
    if missing:
        has = textwrap.shorten(
            ", ".join(filter(None, sheet.header[sheet.own :])), LONGEST_SHOWN, placeholder=" …"
        )
        word = "column" if len(missing) == 1 else "columns"
        message = f"The file has no {word} {_listed(missing)}, which every row needs; it has {has}."
        # Name both at once, so that the supplier does not add one column and fail on the next.
        new = [
            name
            for name, column in columns.items()
            if column.required and not column.hidden and name not in {*filled, *mandatory}
        ]
        also = f"New rows also need {_listed(new)}." if new else ""
        raise Unreadable("missing_column", " ".join(filter(None, [message, also, hint])))
    return bound


def _listed(names: Sequence[str]) -> str:
    return " and ".join(map(repr, names))


def _map_file(
    columns: Mapping[str, FileColumn],
    bound: Bound,
    job: ImportJob,
    own: int,
    shape: RowShape,
    styles: dict[str, Style] | None = None,
) -> MappedFile:
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
    return MappedFile(columns, bound, assignments, own, styles or {}, shape)


def _stage(
    context: ImportContext, importer: Importer, sheet: AnySheet, hints: Sequence[str], check: Check
) -> None:
    job, staging = context.job, context.staging
    first = job.staged is None
    with transaction.atomic():
        execute(SQL("SET LOCAL jit = off; SET LOCAL work_mem = '128MB'; SET LOCAL timezone = 'UTC'"))
        staging.create()
        try:
            staged = Loader(staging, sheet, check, again=not first).load()
        except ProgramLimitExceeded as error:
            raise Unreadable("too_wide", TOO_WIDE.format(staging.width)) from error
        shaped = shape_rows(staging, context.mapped.shape)
        skipped = drop_template_lines(context, importer, sheet.header)
        duplicates, duplicate_warnings = drop_duplicates(context, importer)
        staging.index()
        if not first:
            job.update_if_owner()
            return
        warnings = [*hints, *sheet.warnings, *context.mapped.bound.warnings]
        warnings += [*skipped, *staged.warnings, *shaped.warnings, *duplicate_warnings]
        total = staged.total - len(skipped) - shaped.dropped
        job.update_if_owner(
            options=job.options,
            header=sheet.header[context.mapped.own :],
            delimiter=sheet.delimiter,
            rows_total=total,
            rows_done=staged.refused + duplicates,
            rejected=staged.refused,
            duplicates=duplicates,
            staged=total - staged.refused - duplicates,
            last_line=staged.last_line,
            warnings=warnings,
            ignored_columns=context.mapped.bound.ignored,
        )
