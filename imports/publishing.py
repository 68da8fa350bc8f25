"""What became of an upload, put where its supplier finds it by SFTP: `reports/` of the upload area."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path, PurePosixPath

from django.db.models.functions import Now

from accounts.models import Supplier
from imports import job_files
from imports.error_report import report_for_people
from imports.models import ImportJob, Kind, Status
from sftp_ingest.area.files import area_of
from sftp_ingest.area.paths import REPORTS

logger = logging.getLogger(__name__)

KEPT = timedelta(days=30)
LONGEST_STEM = 180  # bytes; what is added to it fits into a file's name


def publish(job: ImportJob) -> None:
    """Write a job's summary and its rejects, if its file came by SFTP; then note that it was done.

    Done twice, it writes the same. What cannot be written is only logged: the API has it all the same.
    """
    if job.source != "data" and not job.options.get("remote"):
        try:
            _write(job)
        except OSError:
            logger.exception("the report of import %s could not be published", job.pk)
    # Unless it was retried and ended once more meanwhile: that has a report of its own.
    same = ImportJob.objects.filter(pk=job.pk, status=job.status, finished_at=job.finished_at)
    same.update(reported_at=Now())


def leave(supplier: Supplier, name: str, content: bytes) -> None:
    """Put a file into a supplier's reports, whole, in place of one of that name. Raises OSError."""
    _write_whole([content], _folder(supplier) / name)


def _folder(supplier: Supplier) -> Path:
    folder = area_of(supplier) / REPORTS
    folder.mkdir(mode=0o750, exist_ok=True)
    return folder


def _write(job: ImportJob) -> None:
    folder = _folder(job.supplier)
    name = name_of(job)
    if job.rejected:
        _write_whole(report_for_people(job), folder / f"{name}.errors.csv")
    _write_whole([summary(job).encode()], folder / f"{name}.txt")


def _write_whole(content: Iterable[bytes], path: Path) -> None:
    """Write elsewhere and rename: a file in an area is whole."""
    temporary = job_files.folder() / f"{time.time_ns()}.report"
    with temporary.open("xb") as file:
        file.writelines(content)
    temporary.chmod(0o640)
    temporary.replace(path)


def name_of(job: ImportJob) -> str:
    """`spring.import-12` for products/spring.csv."""
    stem = PurePosixPath(job.source).stem.encode()[:LONGEST_STEM].decode(errors="ignore")
    return f"{stem}.import-{job.pk}"


def summary(job: ImportJob) -> str:
    """What became of a job, in words."""
    parts = [f"Import {job.pk} of {job.source}: {job.status}"]
    if job.dry_run:
        parts.append("A dry run: nothing was changed. The numbers say what it would have done.")
    if would_wait := job.report.get("would_wait"):
        parts.append(" ".join(["It would wait for approval.", *would_wait]))
    if job.error:
        parts.append(f"{job.error['code']}: {job.error['message']}")
    if job.status == Status.AWAITING_APPROVAL:
        ask = f"Approve it by POST …/imports/{job.pk}/approve, or ask the operator of this service."
        parts.append(" ".join(["Nothing of it has landed; it waits for your approval.", *_reasons(job), ask]))
    elif job.rows_total is not None:
        parts.append(_counts(job))
    if job.rejected:
        again = f"Correct them there, and upload that file to {Kind(job.kind).folder}/."
        parts.append(
            f"The rejected rows are in {REPORTS}/{name_of(job)}.errors.csv, with the reasons. {again}"
        )
    warnings = [*job.warnings, job.report.get("kept", "")]
    if job.ignored_columns:
        warnings.append(f"Columns that were ignored: {', '.join(job.ignored_columns)}.")
    parts += [warning for warning in warnings if warning]
    return "\r\n\r\n".join(parts) + "\r\n"


def _reasons(job: ImportJob) -> list[str]:
    return list(job.report.get("reasons", []))


def _counts(job: ImportJob) -> str:
    names = ("created", "updated", "unchanged", "rejected", "duplicates")
    counts = [f"{name} {getattr(job, name)}" for name in names]
    counts += [f"set to zero {job.report['zeroed']}"] if "zeroed" in job.report else []
    if newer := job.report.get("kept_newer"):
        counts.append(f"not named but kept, as counted after this file, {newer}")
    return f"Rows {job.rows_total}: {', '.join(counts)}."


def remove_old(supplier: Supplier) -> None:
    """Remove the reports that nobody will ask for any more."""
    oldest = time.time() - KEPT.total_seconds()
    with suppress(FileNotFoundError):
        for path in (area_of(supplier) / REPORTS).iterdir():
            if path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)
