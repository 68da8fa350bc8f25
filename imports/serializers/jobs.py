"""Import jobs as the API shows them (interface 12, contract 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NotRequired, TypedDict, cast

from django.utils import timezone

from api.renderers import iso
from imports.models import ImportJob, Reject, Status

SHOWN_ERRORS = 20


class RejectJson(TypedDict):
    """A rejected row with the reason. `line` is the physical line where the row starts, counted from 1."""

    line: int
    field: str
    code: str
    message: str


class JobErrorJson(TypedDict):
    code: str
    message: str


PriceChangeJson = TypedDict(
    "PriceChangeJson", {"sku": str, "field": str, "from": str, "to": str, "factor": float}
)


class ReportJson(TypedDict):
    """Findings in addition to the counts. Each is present only if it applies.

    `reasons`: why the job waits for approval; `would_wait`: why it would wait if it were not a dry run.
    `zeroed`: the number of stock rows set to 0. `kept_newer`: the number of stock rows that a full file does
    not name, but that keep their units, because they were counted after the file's moment. `kept`: why no
    unnamed row was changed.
    `price_changes`: the largest changes of prices; `delisted`: variants that are no longer listed.
    """

    reasons: NotRequired[list[str]]
    would_wait: NotRequired[list[str]]
    zeroed: NotRequired[int]
    kept_newer: NotRequired[int]
    kept: NotRequired[str]
    price_changes: NotRequired[list[PriceChangeJson]]
    delisted: NotRequired[int]


class JobJson(TypedDict):
    """An import.

    When it has succeeded, `created`, `updated`, `unchanged`, `rejected` and `duplicates` add up to
    `rows_total`.

    `as_of` is the moment of the file's content: given by the request, else the end of its upload, else the
    creation of the job. Its stock counts belong to that moment, even if the job waits for a long time.
    """

    id: int
    kind: str
    status: Status
    source: str
    dry_run: bool
    as_of: str
    rows_total: int | None
    rows_done: int
    created: int
    updated: int
    unchanged: int
    rejected: int
    duplicates: int
    rows_per_second: int | None
    seconds_left: int | None
    warnings: list[str]
    ignored_columns: list[str]
    report: ReportJson
    error: JobErrorJson | None
    errors: list[RejectJson]
    errors_url: str
    created_at: str
    started_at: str | None
    finished_at: str | None


class StartedJson(JobJson):
    success: NotRequired[bool]
    message: NotRequired[str]


class JobsJson(TypedDict):
    """A page of imports."""

    next: str | None
    previous: str | None
    results: list[JobJson]


def reject_json(reject: Reject) -> RejectJson:
    return {"line": reject.line, "field": reject.field, "code": reject.code, "message": reject.message}


FIRST_ERRORS = """
    SELECT r.* FROM unnest(%s::bigint[]) AS job (id) CROSS JOIN LATERAL (
        SELECT id, job_id, line, field, code, message FROM imports_reject
        WHERE job_id = job.id ORDER BY line, id LIMIT %s) AS r
"""


def first_errors(jobs: Iterable[ImportJob]) -> Mapping[int, list[Reject]]:
    """Return the first errors of each job, with one query."""
    errors: dict[int, list[Reject]] = {job.pk: [] for job in jobs if job.rejected}
    if errors:
        for reject in Reject.objects.raw(FIRST_ERRORS, [list(errors), SHOWN_ERRORS]):
            errors[reject.job_id].append(reject)
    return errors


def _report(job: ImportJob) -> dict[str, object]:
    """Return the report without the parts for the operators' page."""
    return {name: value for name, value in job.report.items() if name != "outlook"}


def job_json(job: ImportJob, errors: Iterable[Reject], base: str) -> JobJson:
    """Return a job as the API shows it; `base` is the absolute URL of the service."""
    rate, left = progress(job)
    return {
        "id": job.pk,
        "kind": job.kind,
        "status": Status(job.status),
        "source": job.source,
        "dry_run": job.dry_run,
        "as_of": iso(job.as_of),
        "rows_total": job.rows_total,
        "rows_done": job.rows_done,
        "created": job.created,
        "updated": job.updated,
        "unchanged": job.unchanged,
        "rejected": job.rejected,
        "duplicates": job.duplicates,
        "rows_per_second": rate,
        "seconds_left": left,
        "warnings": job.warnings,
        "ignored_columns": job.ignored_columns,
        "report": cast(ReportJson, _report(job)),
        "error": job.error,
        "errors": [reject_json(reject) for reject in errors],
        "errors_url": f"{base}/v3/suppliers/{job.supplier_id}/imports/{job.pk}/errors",
        "created_at": iso(job.created_at),
        "started_at": iso(job.started_at),
        "finished_at": iso(job.finished_at),
    }


def progress(job: ImportJob) -> tuple[int | None, int | None]:
    """Return rows per second so far and the seconds left at that rate; None if unknown."""
    waiting = job.status in (Status.QUEUED, Status.AWAITING_APPROVAL)
    if waiting or job.started_at is None or not job.rows_done:
        return None, None
    seconds = ((job.finished_at or timezone.now()) - job.started_at).total_seconds()
    rate = job.rows_done / max(seconds, 0.001)
    if job.status != Status.RUNNING or job.rows_total is None:
        return round(rate), None
    return round(rate), round((job.rows_total - job.rows_done) / max(rate, 0.001))
