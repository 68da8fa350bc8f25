"""Prepare a job: open its file, read its header, and stage its rows, one per key.

The steps are in HEADER_STEPS, STAGING_STEPS and TABLE_STEPS. Each step returns the file with its results.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import transaction
from psycopg.errors import ProgramLimitExceeded
from psycopg.sql import SQL

from imports.models import ImportJob
from imports.pipeline.changed_rows import find_changed_rows
from imports.pipeline.containers import open_sheet
from imports.pipeline.context import ImportContext
from imports.pipeline.duplicates import drop_duplicates
from imports.pipeline.errors import Unreadable
from imports.pipeline.header import LONGEST_SHOWN, ExpectedHeader
from imports.pipeline.header_steps import HEADER_STEPS, PreparedFile
from imports.pipeline.importer import Importer, RangeImporter
from imports.pipeline.mapping import ALIASES
from imports.pipeline.number_styles import read_numbers
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

# A row of the staging table must fit into a page of 8 KiB. Each cell needs up to 24 bytes in the row itself.
TOO_WIDE = (
    "A row fills more of the {} columns than can be kept. Leave out columns that the import ignores;"
    " up to 330 always fit."
)


@dataclass
class StagedFile:
    """A file in its staging table, with the results of the steps so far."""

    context: ImportContext
    prepared: PreparedFile[AnySheet]
    check: Check
    again: bool
    """Whether the job was staged before. Its rejects and results are then stored already."""
    rows_total: int = 0
    refused: int = 0
    duplicates: int = 0
    last_line: int = 0
    warnings: list[str] = field(default_factory=list)


def prepare(job: ImportJob, importer: Importer, check: Check = lambda: None) -> ImportContext:
    """Do all work before a job's first range. Raises Unreadable if the file cannot be imported."""
    if not job.has_content:
        raise Unreadable("file_gone", "The file of this import is no longer stored. Start a new import.")
    with job.local_file() as path, open_sheet(path, _expected(job, importer), check) as sheet:
        prepared: PreparedFile[AnySheet] = PreparedFile(
            importer, job.supplier_id, job.supplier.currency, job.options, sheet, _rewritten
        )
        for header_step in (*HEADER_STEPS, require_mandatory):
            prepared = header_step(prepared)
        job.options = dict(prepared.options)
        staging = StagingTable(job.pk, len(prepared.file.header))
        context = ImportContext(job, staging, prepared.mapped())
        file = StagedFile(context, prepared, check, again=job.staged is not None)
        # An unlogged table is empty after a crash of the database.
        if not file.again or not staging.exists() or staging.count() != job.staged:
            with transaction.atomic():
                for staging_step in STAGING_STEPS:
                    file = staging_step(file)
    for table_step in TABLE_STEPS:
        file = table_step(file)
    return file.context


def _expected(job: ImportJob, importer: Importer) -> ExpectedHeader:
    """Return the column names that this job knows."""
    known = {entry.source for entry in importer.entries(job.options)}
    if job.options.get("mapping") == BY_HEADER:
        known |= {entry["source"] for each in BUILT_IN.values() for entry in each.field_mapping}
    if importer.automatic:
        known |= {*importer.columns_for(job.options), *ALIASES}
    return ExpectedHeader(known, importer.needed_columns(job.options))


def _rewritten(sheet: AnySheet, rewriting: Rewriting) -> AnySheet:
    assert not isinstance(sheet, RewrittenSheet)  # no earlier step rewrites the file
    return RewrittenSheet(sheet, rewriting)


def require_mandatory(prepared: PreparedFile[AnySheet]) -> PreparedFile[AnySheet]:
    """Raise Unreadable if the file lacks a column that every row needs."""
    importer, columns, filled = prepared.importer, prepared.columns, prepared.filled
    mandatory, entries = importer.mandatory(prepared.options), importer.entries(prepared.options)
    missing = [
        next((entry.source for entry in entries if entry.field == name), columns[name].name)
        for name in mandatory
        if name not in filled
    ]
    if not missing:
        return prepared
    names = filter(None, prepared.file.header[prepared.file.own :])
    present = textwrap.shorten(", ".join(names), LONGEST_SHOWN, placeholder=" …")
    word = "column" if len(missing) == 1 else "columns"
    message = f"The file has no {word} {_listed(missing)}, which every row needs; it has {present}."
    # Also name the columns that only new rows need. Otherwise the supplier would add the missing columns, and
    # the next import would fail for other columns.
    new = [
        name
        for name, column in columns.items()
        if column.required and not column.hidden and name not in {*filled, *mandatory}
    ]
    also = f"New rows also need {_listed(new)}." if new else ""
    raise Unreadable("missing_column", " ".join(filter(None, [message, also, prepared.hint])))


def _listed(names: Sequence[str]) -> str:
    return " and ".join(map(repr, names))


def copy_records(file: StagedFile) -> StagedFile:
    """Copy the records into a new staging table."""
    staging = file.context.staging
    execute(SQL("SET LOCAL jit = off; SET LOCAL work_mem = '128MB'; SET LOCAL timezone = 'UTC'"))
    staging.create()
    try:
        staged = Loader(staging, file.prepared.file, file.check, again=file.again).load()
    except ProgramLimitExceeded as error:
        raise Unreadable("too_wide", TOO_WIDE.format(staging.width)) from error
    file.rows_total, file.refused, file.last_line = staged.total, staged.refused, staged.last_line
    file.warnings += staged.warnings
    return file


def apply_row_options(file: StagedFile) -> StagedFile:
    """Fill in cells, gather pictures and leave out rows, as the mapping's `rows` say."""
    shaped = shape_rows(file.context.staging, file.context.mapped.shape)
    file.rows_total -= shaped.dropped
    file.warnings += shaped.warnings
    return file


def leave_out_template_lines(file: StagedFile) -> StagedFile:
    """Remove the template's own lines, if the supplier left them in."""
    skipped = drop_template_lines(file.context, file.prepared.importer, file.prepared.file.header)
    file.rows_total -= len(skipped)
    file.warnings = [*skipped, *file.warnings]
    return file


def keep_last_rows(file: StagedFile) -> StagedFile:
    """Keep the last row of each key."""
    file.duplicates, warnings = drop_duplicates(file.context, file.prepared.importer)
    file.warnings += warnings
    file.context.staging.index()
    return file


def save_results(file: StagedFile) -> StagedFile:
    """Store the results of the first staging in the job. A repeated staging only checks the lease."""
    job, sheet, bound = file.context.job, file.prepared.file, file.context.mapped.bound
    if file.again:
        job.update_if_owner()  # without the lease, this call prevents the commit
    else:
        job.update_if_owner(
            options=job.options,
            header=sheet.header[file.context.mapped.own :],
            delimiter=sheet.delimiter,
            rows_total=file.rows_total,
            rows_done=file.refused + file.duplicates,
            rejected=file.refused,
            duplicates=file.duplicates,
            staged=file.rows_total - file.refused - file.duplicates,
            last_line=file.last_line,
            warnings=[*filter(None, [file.prepared.hint]), *sheet.warnings, *bound.warnings, *file.warnings],
            ignored_columns=bound.ignored,
        )
    return file


def find_number_formats(file: StagedFile) -> StagedFile:
    """Find out whether the numbers have a decimal point or a decimal comma."""
    file.context.mapped = read_numbers(file.prepared, file.context.staging, file.context.mapped)
    return file


def compare_with_stored_rows(file: StagedFile) -> StagedFile:
    """Find the rows that differ from the stored rows, if rows of this kind are compared."""
    importer = file.prepared.importer
    if isinstance(importer, RangeImporter):
        refresh_statistics(importer.tables)
        with transaction.atomic():
            importer.prepare(file.context)
            find_changed_rows(file.context, importer)
    return file


STAGING_STEPS = (copy_records, apply_row_options, leave_out_template_lines, keep_last_rows, save_results)
"""The steps from an open file to its staging table, in one transaction."""
TABLE_STEPS = (find_number_formats, compare_with_stored_rows)
"""The steps over the whole staging table."""
