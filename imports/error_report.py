"""The rejects of a job as CSV, to be corrected in a spreadsheet and uploaded again."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Sequence

from api.exporting.cells import harmless
from imports.models import ImportJob, Reject
from imports.report_format import REPORT_COLUMNS
from imports.states import UNFINISHED

ROWS_AT_ONCE = 1000


def report(job: ImportJob) -> Iterator[bytes]:
    """Yield the CSV in constant memory.

    It keeps the file's semicolons: the notation of numbers depends on them.
    """
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
    """Yield the report after a byte order mark: without one, spreadsheets do not read it as UTF-8."""
    yield codecs.BOM_UTF8
    yield from report(job)


def columns_of(job: ImportJob) -> list[str]:
    """Return the header: the report's own columns, then those of the file."""
    return [*REPORT_COLUMNS, *map(harmless, job.header)]


def cells_of(reject: Reject, cells: Sequence[str]) -> list[str]:
    """Return a rejected row's report line with these cells, original or corrected."""
    report_cells = (str(reject.line), harmless(reject.field), reject.code, harmless(reject.message))
    return [*report_cells, *map(harmless, cells)]


def _rejects(job: ImportJob) -> Iterator[Reject]:
    """Yield the rejects by keyset: a server-side cursor in autocommit would materialise them all."""
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
