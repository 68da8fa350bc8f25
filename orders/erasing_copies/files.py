"""The erasure of files that quote a person: files in `tracking/`, their rejected rows and their reports.

A blob never changes, so a file that quotes a person is removed completely. The supplier has the original.
"""

from __future__ import annotations

import gzip
import json
import logging
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from django.db import transaction
from django.db.models import Min, Q

from events.models import Event
from fulfillments.files.kind import FULFILLMENTS
from fulfillments.models import Fulfillment
from imports import publishing
from imports.models import ImportJob, Reject
from imports.pipeline.containers import GZIP, ZIP, Unpacked, reading_archive
from imports.pipeline.encodings import Readable, as_utf8, find_encoding
from imports.pipeline.errors import Unreadable
from imports.states import UNFINISHED
from orders.erasing_copies.person import ERASED, People, free_of
from orders.models import Order
from sftp_ingest.area import contents
from sftp_ingest.area.files import Area
from sftp_ingest.area.paths import REPORTS
from sftp_ingest.errors import Missing
from sftp_ingest.models import Blob, DirectoryEntry, Upload

logger = logging.getLogger(__name__)

FINDINGS = ("error", "warnings", "report", "header", "ignored_columns")
LONGEST_LINE = 1024**2
NOTE = (
    "The file {} was removed from the upload area: it quoted a consumer whose personal data was erased. Rows"
    " that were imported stay imported. To send other rows again, leave out the columns with names and"
    " addresses."
)


class SearchDelayed(Exception):
    """The search of a supplier's files must wait: a file is not imported yet, or cannot be read now."""

    def __init__(self, supplier_id: int) -> None:
        super().__init__(supplier_id)
        self.supplier_id = supplier_id


class RejectedRows:
    """The rejected rows of tracking files, and the kept files of failed jobs. Each call searches one job."""

    name = "rejected rows"

    def window(self, people: People, position: int) -> int | None:
        """Erase the texts that quote these people in the job with the next id after `position`.

        Return the id of this job, or None if no job is left. Raises SearchDelayed if the job is unfinished,
        or if an upload will become a job soon.
        """
        suppliers = suppliers_of(people)
        jobs = ImportJob.objects.filter(kind=FULFILLMENTS.name, supplier_id__in=suppliers)
        since = jobs.filter(created_at__gte=first_moment(people), pk__gt=position).order_by("pk")
        job = since.select_related("supplier", "blob").first()
        if job is None:
            unread = Upload.objects.filter(supplier_id__in=suppliers, swept_at=None)
            if upload := unread.filter(path__startswith=f"{FULFILLMENTS.folder}/").first():
                raise SearchDelayed(upload.supplier_id)
            return None
        with _delayed_by_errors(job.supplier_id):
            file_quotes = job.blob is not None and quotes(job.blob, people)
        with transaction.atomic():
            job.refresh_from_db(from_queryset=ImportJob.objects.select_for_update(of=("self",)))
            if job.status in UNFINISHED:
                raise SearchDelayed(job.supplier_id)
            if file_quotes:
                job.release_content()
            _redact(job, people)
        return job.pk


def _redact(job: ImportJob, people: People) -> None:
    """Erase the texts that quote a person in the rejects, the findings and the events of a job."""
    quoting = [
        pk
        for pk, cells, message in job.rejects.values_list("pk", "cells", "message").iterator()
        if people.are_in(" \t ".join([*map(str, cells), message]))
    ]
    message = "This row quoted personal data, which was erased."
    Reject.objects.filter(pk__in=quoting).update(cells=[ERASED], message=message)
    # The findings can quote a person: the message about a file without a header quotes its first row.
    findings = {name: getattr(job, name) for name in FINDINGS}
    if people.are_in(json.dumps(findings, ensure_ascii=False)):
        ImportJob.objects.filter(pk=job.pk).update(**free_of(people, findings))
        for event in Event.objects.filter(import_id=job.pk):
            Event.objects.filter(pk=event.pk).update(data=free_of(people, event.data))


class AreaFiles:
    """The files in `tracking/` and `reports/` of the suppliers' upload areas. Each call searches one file."""

    name = "files"

    def window(self, people: People, position: int) -> int | None:
        inside = Q()
        for folder in (FULFILLMENTS.folder, REPORTS):
            inside |= Q(folder=folder) | Q(folder__startswith=f"{folder}/")
        files = DirectoryEntry.objects.filter(inside, supplier_id__in=suppliers_of(people), pk__gt=position)
        written = files.filter(blob__completed_at__gte=first_moment(people)).order_by("pk")
        entry = written.select_related("blob", "supplier").first()
        if entry is None:
            return None
        assert entry.blob is not None  # the filter requires a complete blob
        with _delayed_by_errors(entry.supplier_id):
            found = quotes(entry.blob, people)
        if found:
            _remove_imported(entry, people)
        return entry.pk


def suppliers_of(people: People) -> list[int]:
    works = Fulfillment.objects.filter(order_id__in=people.persons.keys())
    return list(works.values_list("supplier_id", flat=True).distinct().order_by())


def first_moment(people: People) -> datetime:
    """Return the creation time of these people's oldest order. Earlier files cannot quote these people."""
    first: datetime = Order.objects.filter(pk__in=people.persons.keys()).aggregate(at=Min("created_at"))["at"]
    return first


def quotes(blob: Blob, people: People) -> bool:
    """Return whether a line of a file quotes one of these people. Raises OSError.

    A blob whose content was lost quotes no one. A restore without the upload folder leaves such blobs.
    """
    try:
        with contents.local_file(blob) as path:
            return any(people.are_in(line) for line in lines_of(path))
    except OSError:
        if not contents.is_lost(blob):
            raise
        logger.warning("the content of blob %s is missing, so no personal data is erased from it", blob.pk)
        return False


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a text file, of a gzip file, or of all files in a ZIP archive or a workbook."""
    with ExitStack() as opened:
        file = opened.enter_context(path.open("rb"))
        start = file.read(4)
        file.seek(0)
        if start.startswith(GZIP):
            yield from _lines(Unpacked(opened.enter_context(gzip.GzipFile(fileobj=file))))
        elif start in ZIP:
            yield from _lines_of_archive(file)
        else:
            yield from _lines(file)


def _lines_of_archive(file: BinaryIO) -> Iterator[str]:
    with suppress(Unreadable), ExitStack() as opened:  # ignore damaged archives: no import can read them
        with reading_archive():
            archive = opened.enter_context(zipfile.ZipFile(file))
        for name in archive.namelist():
            with suppress(Unreadable), reading_archive(), archive.open(name) as part:
                yield from _lines(Unpacked(part))  # type: ignore[arg-type]


def _lines(file: Readable) -> Iterator[str]:
    """Yield the lines up to the end of the file, or up to a damaged part."""
    pending = b""
    with suppress(Unreadable):
        for chunk in as_utf8(file, _encoding(file)):
            *lines, pending = (pending + chunk).split(b"\n")
            if len(pending) > LONGEST_LINE:
                lines, pending = [*lines, pending], b""
            yield from (line.decode(errors="replace") for line in lines)
    yield pending.decode(errors="replace")


def _encoding(file: Readable) -> str:
    try:
        return find_encoding(file).name
    except Unreadable:
        return "utf-8"  # imports refuse some texts, such as XML, but these texts may quote a person, too


@contextmanager
def _delayed_by_errors(supplier_id: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        logger.warning("copies of personal data are searched later: %s", error)
        raise SearchDelayed(supplier_id) from error


def _remove_imported(entry: DirectoryEntry, people: People) -> None:
    """Remove a file. Raises SearchDelayed if the file has to be imported first.

    The file may have been uploaded and imported during the search. Then also remove the persons from what the
    import wrote, such as rejected rows.
    """
    uploads = Upload.objects.filter(Q(path=entry.path) | Q(blob=entry.blob), supplier=entry.supplier)
    jobs = ImportJob.objects.filter(Q(source=entry.path) | Q(blob=entry.blob), supplier=entry.supplier)
    jobs = jobs.filter(kind=FULFILLMENTS.name, created_at__gte=first_moment(people))
    if uploads.filter(swept_at=None).exists() or jobs.filter(status__in=UNFINISHED).exists():
        raise SearchDelayed(entry.supplier_id)
    for job in jobs.order_by("pk"):
        _redact(job, people)
    _remove(entry)


def _remove(entry: DirectoryEntry) -> None:
    """Remove a file, unless a newer file has replaced it. For a tracking file, put a note in `reports/`."""
    area, parts = Area(entry.supplier_id), tuple(entry.path.split("/"))
    with area.change():
        current = area.find(parts)
        if current is None or current.blob_id != entry.blob_id:
            return
        try:
            area.remove(parts)
        except Missing:
            return
    if parts[0] == FULFILLMENTS.folder:
        publishing.leave(entry.supplier, f"{parts[-1][:150]}.removed.txt", NOTE.format(entry.path).encode())
