"""Import rejected rows after a person has corrected them on a page.

The corrected rows become a file in the format of an error report. The import treats this file like a report
that the supplier corrected: the import ignores the report's own columns, and does not set the stock of
absent variants to 0.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from accounts.actors import Actor
from api.errors import Invalid, InvalidTransition, Unavailable
from imports import job_files
from imports.error_report import cells_of, columns_of
from imports.kinds import kind_of
from imports.models import Correction, ImportJob, Reject
from imports.pipeline.header_binding import meaning
from imports.services import start_import
from imports.states import UNFINISHED, Status
from sftp_ingest.area import contents

MOST_ROWS = 100
# The largest number of cells on one page. Each cell is a form field, and Django refuses forms with more than
# settings.DATA_UPLOAD_MAX_NUMBER_FIELDS fields.
MOST_CELLS = 8_000


@dataclass(frozen=True)
class Cell:
    """A cell of a rejected row on the page for corrections."""

    column: str
    text: str
    is_wrong: bool

    @property
    def is_long(self) -> bool:
        """Return whether the cell needs a text area. An input of one line would drop its line breaks."""
        return "\n" in self.text or len(self.text) > 60


@dataclass(frozen=True)
class RejectedRow:
    """A rejected row, with a cell for each column of the file and any further cells beyond the header."""

    reject: Reject
    cells: list[Cell]


def why_not(job: ImportJob) -> str:
    """Return the reason why no row of a job can be corrected here, else an empty string."""
    if elsewhere := kind_of(job.kind).done_elsewhere:
        return elsewhere
    if job.dry_run:
        return "This was a dry run. Correct the file or its mapping."
    if job.status in UNFINISHED or job.status == Status.AWAITING_APPROVAL:
        return "The import has not ended yet."
    return "" if job.rejects.exists() else "No rejected rows are stored."


def rejected_rows(job: ImportJob) -> list[RejectedRow]:
    """Return the first rejected rows: at most 100, fewer when the file has many columns."""
    width = max(len(job.header), 1)
    rejects = job.rejects.order_by("line", "id")[: max(min(MOST_ROWS, MOST_CELLS // width), 1)]
    by_hand = {
        (entry.get("source", ""), entry.get("field", "")) for entry in job.options.get("field_mapping", [])
    }
    rows = []
    for reject in rejects:
        cells = []
        for position in range(max(len(job.header), len(reject.cells))):
            column = job.header[position] if position < len(job.header) else ""
            text = reject.cells[position] if position < len(reject.cells) else ""
            is_wrong = reject.field in (column, meaning(column)) or (column, reject.field) in by_hand
            cells.append(Cell(column, text, bool(reject.field) and is_wrong))
        rows.append(RejectedRow(reject, cells))
    return rows


def column_names(job: ImportJob, rows: Sequence[RejectedRow]) -> list[str]:
    """Return the names of the rows' columns. Columns beyond the header have an empty name."""
    more = max((len(row.cells) for row in rows), default=0) - len(job.header)
    return [*job.header, *[""] * more]


def as_posted(row: RejectedRow, posted: Mapping[str, str]) -> RejectedRow:
    """Return the row with the posted cells. Browsers post line breaks as CRLF; convert them back to LF."""
    sent = [posted.get(f"cell-{row.reject.pk}-{column}", cell.text) for column, cell in enumerate(row.cells)]
    cells = [
        replace(cell, text=text.replace("\r\n", "\n")) for cell, text in zip(row.cells, sent, strict=True)
    ]
    return RejectedRow(row.reject, cells)


def send(job: ImportJob, corrected: Mapping[int, Sequence[str]], *, by: Actor) -> Correction:
    """Import corrected rows, given by the ids of their rejects, with the options of the original job.

    The new job keeps the original job's `as_of`, so it does not overwrite a later stock count.
    Raises InvalidTransition when the job's rows cannot be corrected, Invalid when nothing was changed,
    QuotaExceeded, Unavailable.
    """
    if refusal := why_not(job):
        raise InvalidTransition(refusal)
    changed = [
        (reject, list(corrected[reject.pk]))
        for reject in job.rejects.filter(pk__in=corrected).order_by("line", "id")
        if is_changed(reject, corrected[reject.pk])
    ]
    if not changed:
        raise Invalid("No row was changed. Correct at least one cell.")
    content = _file(job, changed)
    job_files.refuse_hoarding(job.supplier, len(content))
    try:
        blob = contents.write([content])
    except OSError as error:
        raise Unavailable("The rows cannot be stored right now. Try again.") from error
    with job_files.room_for(job.supplier, blob.size):
        following = start_import(
            job.supplier,
            job.kind,
            source=job.source,
            blob=blob,
            options={name: value for name, value in job.options.items() if name != "remote"},
            as_of=job.as_of,
            by=by,
        )
        return Correction.objects.create(job=following, original=job, rows=len(changed))


def is_changed(reject: Reject, cells: Sequence[str]) -> bool:
    """Return whether the cells differ from the rejected row. Empty cells at the end do not count."""
    return _trimmed(cells) != _trimmed(reject.cells)


def _trimmed(cells: Sequence[str]) -> list[str]:
    """Return the cells without empty cells at the end, and with all line breaks as LF."""
    alike = [cell.replace("\r\n", "\n") for cell in cells]
    while alike and not alike[-1]:
        alike.pop()
    return alike


def _file(job: ImportJob, rows: Sequence[tuple[Reject, list[str]]]) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=";" if job.delimiter == ";" else ",", lineterminator="\r\n")
    writer.writerow(columns_of(job))
    writer.writerows(cells_of(reject, cells) for reject, cells in rows)
    return buffer.getvalue().encode()
