"""What the API shows of a job (interface 12, contract 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NotRequired, TypedDict, cast

from django.utils import timezone

from api.renderers import iso
from imports.models import ImportJob, Reject, Status

SHOWN_ERRORS = 20


class RejectJson(TypedDict):
    """Why a row did not land; `line` is the physical line on which it starts, the header being 1."""

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
    """What the counts do not say; each where it applies.

    `reasons`: why the job waits for approval, and `would_wait`: why it would, were it no dry run.
    `zeroed`: stock rows that were set to 0. `kept_newer`: stock rows that a full file does not name, and that
    keep their pieces because they were counted after its moment; `kept`: why what it does not name is all
    left alone. `price_changes`: the largest ones; `delisted`: variants that are not listed any more.
    """

    reasons: NotRequired[list[str]]
    would_wait: NotRequired[list[str]]
    zeroed: NotRequired[int]
    kept_newer: NotRequired[int]
    kept: NotRequired[str]
    price_changes: NotRequired[list[PriceChangeJson]]
    delisted: NotRequired[int]


class JobJson(TypedDict):
    """An import. When it has ended well, the five counts from `created` on make up `rows_total`.

    `as_of` is the moment that its file is of: as the request says, else when its upload was complete, else
    when the job was made. Counts of stock are of that moment, however long the job waits.
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
    """The first errors of each job, in one query for all of them."""
    found: dict[int, list[Reject]] = {job.pk: [] for job in jobs if job.rejected}
    if found:
        for reject in Reject.objects.raw(FIRST_ERRORS, [list(found), SHOWN_ERRORS]):
            found[reject.job_id].append(reject)
    return found


def _report(job: ImportJob) -> dict[str, Any]:
    """Without what only the operators' page shows."""
    return {name: value for name, value in job.report.items() if name != "outlook"}


def job_json(job: ImportJob, errors: Iterable[Reject], base: str) -> JobJson:
    """A job as the API shows it; `base` is the absolute URL of the service."""
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
        "errors": [reject_json(each) for each in errors],
        "errors_url": f"{base}/v3/suppliers/{job.supplier_id}/imports/{job.pk}/errors",
        "created_at": iso(job.created_at),
        "started_at": iso(job.started_at),
        "finished_at": iso(job.finished_at),
    }


def progress(job: ImportJob) -> tuple[int | None, int | None]:
    """Rows a second so far, and the seconds that are left at that rate; None where that is not known."""
    waiting = job.status in (Status.QUEUED, Status.AWAITING_APPROVAL)
    if waiting or job.started_at is None or not job.rows_done:
        return None, None
    seconds = ((job.finished_at or timezone.now()) - job.started_at).total_seconds()
    rate = job.rows_done / max(seconds, 0.001)
    if job.status != Status.RUNNING or job.rows_total is None:
        return round(rate), None
    return round(rate), round((job.rows_total - job.rows_done) / max(rate, 0.001))
