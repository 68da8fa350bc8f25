"""Publish the result of an upload in `reports/` of the supplier's upload area."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import PurePosixPath

from django.db.models.functions import Now

from accounts.models import Supplier
from imports.error_report import report_for_people
from imports.kinds import kind_of
from imports.models import ImportJob, Status
from imports.overview import warnings_of
from sftp_ingest.area.files import Area, put_in_area
from sftp_ingest.area.paths import REPORTS
from sftp_ingest.errors import Missing, Refused

logger = logging.getLogger(__name__)

KEPT = timedelta(days=30)
REASONS = 10
LONGEST_STEM = 180  # a limit in bytes, which leaves room for suffixes


def publish(job: ImportJob) -> None:
    """Write a job's summary and rejects if its file is in the upload area, and mark the job as reported.

    A second call writes the same files. Failures are only logged, because the API shows the result as well.
    """
    if job.source != "data" and not job.options.get("remote"):
        try:
            _write(job)
        except (OSError, Refused):
            logger.exception("the report of import %s could not be published", job.pk)
    # Do not mark a job that was retried and ended again during the writing: its new result needs a report.
    same = ImportJob.objects.filter(pk=job.pk, status=job.status, finished_at=job.finished_at)
    same.update(reported_at=Now())


def leave(supplier: Supplier, name: str, content: bytes) -> None:
    """Store a file in a supplier's reports. It replaces a file of the same name. Raises OSError, Refused."""
    put_in_area(supplier, f"{REPORTS}/{name}", [content])


def _write(job: ImportJob) -> None:
    path = f"{REPORTS}/{name_of(job)}"
    if job.rejected:
        put_in_area(job.supplier, f"{path}.errors.csv", report_for_people(job))
    put_in_area(job.supplier, f"{path}.txt", [summary(job).encode()])


def name_of(job: ImportJob) -> str:
    """Return the name of a job's reports without suffix: `spring.import-12` for products/spring.csv."""
    stem = PurePosixPath(job.source).stem.encode()[:LONGEST_STEM].decode(errors="ignore")
    return f"{stem}.import-{job.pk}"


def summary(job: ImportJob) -> str:
    """Return the result of a job as text."""
    parts = [f"Import {job.pk} of {job.source}: {job.status}"]
    if job.dry_run:
        parts.append("This was a dry run: nothing was changed. The numbers show the expected result.")
    if would_wait := job.report.get("would_wait"):
        parts.append(" ".join(["The import would wait for approval.", *would_wait]))
    if job.error:
        parts.append(f"{job.error['code']}: {job.error['message']}")
    if job.status == Status.AWAITING_APPROVAL:
        ask = f"Approve it by POST …/imports/{job.pk}/approve, or ask the operator of this service."
        parts.append(
            " ".join(["No row was imported yet: the import waits for your approval.", *_reasons(job), ask])
        )
    elif job.rows_total is not None:
        parts.append(_counts(job))
    if job.rejected:
        parts.append("\r\n".join(["Refused rows:", *_first_reasons(job)]))
        again = f"Correct them there and upload that file to {kind_of(job.kind).folder}/."
        parts.append(
            f"The rejected rows are in {REPORTS}/{name_of(job)}.errors.csv, with the reasons. {again}"
        )
    parts += filter(None, [*warnings_of(job), job.report.get("kept", "")])
    return "\r\n\r\n".join(parts) + "\r\n"


def _reasons(job: ImportJob) -> list[str]:
    return list(job.report.get("reasons", []))


def _first_reasons(job: ImportJob) -> list[str]:
    """Return the first rejects as text. For a few rows, the supplier need not open the error report."""
    return [f"- {reject}" for reject in job.rejects.all()[:REASONS]]


def _counts(job: ImportJob) -> str:
    if kind_of(job.kind).imports_every_file:
        # Each row of a file of this kind is an action. An unchanged row is an action that was done before.
        return (
            f"Rows {job.rows_total}: done {job.updated}, unchanged {job.unchanged}, refused {job.rejected}."
        )
    names = ("created", "updated", "unchanged", "rejected", "duplicates")
    counts = [f"{name} {getattr(job, name)}" for name in names]
    counts += [f"set to zero {job.report['zeroed']}"] if "zeroed" in job.report else []
    if newer := job.report.get("kept_newer"):
        counts.append(f"kept because counted later {newer}")
    return f"Rows {job.rows_total}: {', '.join(counts)}."


def remove_old(supplier: Supplier) -> None:
    """Delete reports that are older than 30 days."""
    area, oldest = Area(supplier.pk), time.time() - KEPT.total_seconds()
    for name in area.entries.filter(folder=REPORTS, modified__lt=oldest).values_list("name", flat=True):
        with suppress(Missing):
            area.remove((REPORTS, name))
