"""The rejects of a job as CSV. Suppliers correct the CSV in a spreadsheet and upload it again."""

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
    """Yield the CSV in chunks, in constant memory.

    The report of a file with semicolons has semicolons, too, because imports read numbers such as `1.234`
    differently in files with semicolons.
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
    """Yield a byte order mark, then the report. Without the mark, spreadsheets do not expect UTF-8."""
    yield codecs.BOM_UTF8
    yield from report(job)


def columns_of(job: ImportJob) -> list[str]:
    """Return the header: the report's own columns, then the columns of the file."""
    return [*REPORT_COLUMNS, *map(harmless, job.header)]


def cells_of(reject: Reject, cells: Sequence[str]) -> list[str]:
    """Return the report's line for a rejected row. `cells` are the row's original or corrected cells."""
    report_cells = (str(reject.line), harmless(reject.field), reject.code, harmless(reject.message))
    return [*report_cells, *map(harmless, cells)]


def _rejects(job: ImportJob) -> Iterator[Reject]:
    """Yield the rejects page by page. Each page begins after the last (line, id) of the previous page.

    A server-side cursor in autocommit would make PostgreSQL store all rows first.
    """
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
