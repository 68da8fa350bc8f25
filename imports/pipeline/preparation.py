"""Prepare a job: open its file, understand the header, and stage the rows, one per key."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

from django.db import transaction
from psycopg.errors import ProgramLimitExceeded
from psycopg.sql import SQL

from imports.models import ImportJob
from imports.pipeline.changed_rows import find_changed_rows
from imports.pipeline.containers import open_sheet
from imports.pipeline.context import ImportContext
from imports.pipeline.duplicates import drop_duplicates
from imports.pipeline.errors import Unreadable
from imports.pipeline.header import LONGEST_SHOWN, count_known
from imports.pipeline.header_steps import PreparedFile, understand
from imports.pipeline.importer import Importer, RangeImporter
from imports.pipeline.mapping import ALIASES
from imports.pipeline.number_styles import find_styles
from imports.pipeline.rewritten_sheet import Rewriting, RewrittenSheet
from imports.pipeline.row_shaping import shape_rows
from imports.pipeline.staging import AnySheet, Loader
from imports.pipeline.statistics import refresh_statistics
from imports.pipeline.template_lines import drop_template_lines
from imports.pipeline.workbook_parts import Check
from imports.saved_mappings import BY_HEADER
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
    with job.local_file() as path, open_sheet(path, _recognised(job, importer), check) as sheet:
        opened: PreparedFile[AnySheet] = PreparedFile(
            importer, job.supplier_id, job.options, sheet, _rewritten
        )
        prepared = require_mandatory(understand(opened))
        job.options = dict(prepared.options)
        context = _staged(job, prepared, check)
    return _compared(context, prepared)


def _recognised(job: ImportJob, importer: Importer) -> Callable[[list[str]], int]:
    """Return a function that counts the names of a header that this job knows."""
    known = {entry.source for entry in importer.entries(job.options)}
    if job.options.get("mapping") == BY_HEADER:
        known |= {entry["source"] for each in BUILT_IN.values() for entry in each.field_mapping}
    if importer.automatic:
        known |= {*importer.columns_for(job.options), *ALIASES}
    return lambda names: count_known(names, known)


def _rewritten(sheet: AnySheet, rewriting: Rewriting) -> AnySheet:
    assert not isinstance(sheet, RewrittenSheet)  # a file is rewritten once
    return RewrittenSheet(sheet, rewriting)


def require_mandatory(prepared: PreparedFile[AnySheet]) -> PreparedFile[AnySheet]:
    """Raise Unreadable if the file lacks a column that every row needs."""
    importer, columns, filled = prepared.importer, prepared.columns, prepared.filled
    mandatory, entries = importer.mandatory(prepared.options), importer.entries(prepared.options)
    missing = [
        next((entry.source for entry in entries if entry.field == field), columns[field].name)
        for field in mandatory
        if field not in filled
    ]
    if not missing:
        return prepared
    names = filter(None, prepared.file.header[prepared.file.own :])
    present = textwrap.shorten(", ".join(names), LONGEST_SHOWN, placeholder=" …")
    word = "column" if len(missing) == 1 else "columns"
    message = f"The file has no {word} {_listed(missing)}, which every row needs; it has {present}."
    # Name both at once, so that the supplier does not add one column and fail on the next.
    new = [
        name
        for name, column in columns.items()
        if column.required and not column.hidden and name not in {*filled, *mandatory}
    ]
    also = f"New rows also need {_listed(new)}." if new else ""
    raise Unreadable("missing_column", " ".join(filter(None, [message, also, prepared.hint])))


def _listed(names: Sequence[str]) -> str:
    return " and ".join(map(repr, names))


def _staged(job: ImportJob, prepared: PreparedFile[AnySheet], check: Check) -> ImportContext:
    """Stage the rows, unless an earlier worker has done it."""
    staging = StagingTable(job.pk, len(prepared.file.header))
    context = ImportContext(job, staging, prepared.mapped())
    # An unlogged table is empty after a crash of the database.
    if job.staged is None or not staging.exists() or staging.count() != job.staged:
        _stage(context, prepared, check)
    return context


def _compared(context: ImportContext, prepared: PreparedFile[AnySheet]) -> ImportContext:
    """Find out how numbers are written, and which rows differ from the stored ones."""
    importer = prepared.importer
    if styles := find_styles(context.staging, context.mapped, prepared.file.delimiter):
        context.mapped = prepared.mapped(styles)
    if isinstance(importer, RangeImporter):
        refresh_statistics(importer.tables)
        with transaction.atomic():
            importer.prepare(context)
            find_changed_rows(context, importer)
    return context


def _stage(context: ImportContext, prepared: PreparedFile[AnySheet], check: Check) -> None:
    job, staging, sheet = context.job, context.staging, prepared.file
    first = job.staged is None
    with transaction.atomic():
        execute(SQL("SET LOCAL jit = off; SET LOCAL work_mem = '128MB'; SET LOCAL timezone = 'UTC'"))
        staging.create()
        try:
            staged = Loader(staging, sheet, check, again=not first).load()
        except ProgramLimitExceeded as error:
            raise Unreadable("too_wide", TOO_WIDE.format(staging.width)) from error
        shaped = shape_rows(staging, context.mapped.shape)
        skipped = drop_template_lines(context, prepared.importer, sheet.header)
        duplicates, duplicate_warnings = drop_duplicates(context, prepared.importer)
        staging.index()
        if not first:
            job.update_if_owner()
            return
        warnings = [*filter(None, [prepared.hint]), *sheet.warnings, *context.mapped.bound.warnings]
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
