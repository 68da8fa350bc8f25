"""The rejects of a job as CSV: to be opened in a spreadsheet, corrected there, and uploaded again."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Sequence

from imports.models import ImportJob, Reject
from imports.report_format import REPORT_COLUMNS, harmless
from imports.states import UNFINISHED

ROWS_AT_ONCE = 1000


def report(job: ImportJob) -> Iterator[bytes]:
    """The CSV in pieces, in constant memory; semicolon-separated if the file was, as numbers depend on it."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=";" if job.delimiter == ";" else ",", lineterminator="\r\n")
    writer.writerow(columns_of(job))
    written = 0
    for count, reject in enumerate(_rejects(job)):
        written = count + 1
        writer.writerow(cells_of(reject, reject.cells))
        if count % ROWS_AT_ONCE == ROWS_AT_ONCE - 1:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    if job.status not in UNFINISHED and job.rejected > written > 0:
        more = job.rejected - written
        writer.writerow(
            ["", "", "more", f"{more} more rows were rejected; they are not kept. Correct these first."]
        )
    yield buffer.getvalue().encode()


def report_for_people(job: ImportJob) -> Iterator[bytes]:
    """The same with a mark before it, without which a spreadsheet would take UTF-8 for something else."""
    yield codecs.BOM_UTF8
    yield from report(job)


def columns_of(job: ImportJob) -> list[str]:
    """The header: what the report says of a row, then the file's own columns."""
    return [*REPORT_COLUMNS, *map(harmless, job.header)]


def cells_of(reject: Reject, cells: Sequence[str]) -> list[str]:
    """A rejected row with these cells, as they were or as they are corrected."""
    said = (str(reject.line), harmless(reject.field), reject.code, harmless(reject.message))
    return [*said, *map(harmless, cells)]


def _rejects(job: ImportJob) -> Iterator[Reject]:
    """By keyset: a server-side cursor in autocommit would materialise them all."""
    line, last = 0, 0
    while True:
        page = list(
            Reject.objects.filter(job=job)
            .extra(where=["(line, id) > (%s, %s)"], params=[line, last])
            .order_by("line", "id")[:ROWS_AT_ONCE]
        )
        yield from page
        if len(page) < ROWS_AT_ONCE:
            return
        line, last = page[-1].line, page[-1].pk
