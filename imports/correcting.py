"""Rejected rows that somebody corrects on a page: they come back as the file that a supplier would send.

It has the shape of an error report, so whatever is done with a corrected report is done with it: its own
columns are taken off, and a full stock file sets nothing to 0 that it does not name.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from accounts.actors import Actor
from api.errors import Invalid, InvalidTransition, Unavailable
from imports import job_files
from imports.error_report import cells_of, columns_of
from imports.models import Correction, ImportJob, Kind, Reject
from imports.pipeline.header_binding import meaning
from imports.services import start_import
from imports.states import UNFINISHED, Status
from sftp_ingest.area import contents

MOST_ROWS = 100
MOST_CELLS = 8_000  # of all rows together; settings.DATA_UPLOAD_MAX_NUMBER_FIELDS has to allow for them
KINDS = (Kind.PRODUCTS, Kind.INVENTORY)


@dataclass(frozen=True)
class Cell:
    """A cell of a rejected row, as it is shown to be corrected."""

    column: str
    text: str
    is_wrong: bool

    @property
    def is_long(self) -> bool:
        """Whether one line does not do: an input of one line would lose its line breaks."""
        return "\n" in self.text or len(self.text) > 60


@dataclass(frozen=True)
class RejectedRow:
    """A rejected row with its cells, at least as many as the file has columns."""

    reject: Reject
    cells: list[Cell]


def why_not(job: ImportJob) -> str:
    """Why nothing of a job can be corrected here; nothing where it can."""
    if job.kind not in KINDS:
        return "What was shipped is said on the order's page."
    if job.dry_run:
        return "It was a dry run: correct its file, or how it is read."
    if job.status in UNFINISHED or job.status == Status.AWAITING_APPROVAL:
        return "It has not ended yet."
    return "" if job.rejects.exists() else "No rejected rows of it are kept."


def rejected_rows(job: ImportJob) -> list[RejectedRow]:
    """The first rows that can be corrected: at most a hundred, fewer of a very wide file."""
    width = max(len(job.header), 1)
    rejects = job.rejects.order_by("line", "id")[: max(min(MOST_ROWS, MOST_CELLS // width), 1)]
    by_hand = {
        (entry.get("source", ""), entry.get("field", "")) for entry in job.options.get("field_mapping", [])
    }
    found = []
    for reject in rejects:
        cells = []
        for place in range(max(len(job.header), len(reject.cells))):
            column = job.header[place] if place < len(job.header) else ""
            text = reject.cells[place] if place < len(reject.cells) else ""
            is_wrong = reject.field in (column, meaning(column)) or (column, reject.field) in by_hand
            cells.append(Cell(column, text, bool(reject.field) and is_wrong))
        found.append(RejectedRow(reject, cells))
    return found


def send(job: ImportJob, corrected: Mapping[int, Sequence[str]], *, by: Actor) -> Correction:
    """Import rows with the cells that were corrected, by the ids of their rejects; read as the job was.

    Its stock is of the moment that the job's was: a count made meanwhile is newer. Raises InvalidTransition,
    Invalid where nothing differs, QuotaExceeded, Unavailable.
    """
    if refusal := why_not(job):
        raise InvalidTransition(refusal)
    changed = [
        (reject, list(corrected[reject.pk]))
        for reject in job.rejects.filter(pk__in=corrected).order_by("line", "id")
        if is_changed(reject, corrected[reject.pk])
    ]
    if not changed:
        raise Invalid("Nothing was corrected: each row is as it was.")
    job_files.refuse_hoarding(job.supplier)
    try:
        blob = contents.write([_file(job, changed)])
    except OSError as error:
        raise Unavailable("The rows cannot be kept just now. Try again.") from error
    with transaction.atomic():
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
    """Whether a row differs from what was refused; empty cells at its end make no difference."""
    return _trimmed(cells) != _trimmed(reject.cells)


def _trimmed(cells: Sequence[str]) -> list[str]:
    """Without empty cells at the end, and with the line breaks of all systems alike."""
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
