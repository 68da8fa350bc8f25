"""What can happen to a job, each in one transaction with its event."""

from __future__ import annotations

import contextlib
import logging
from functools import partial
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from accounts.actors import Actor
from accounts.models import Supplier
from api.errors import InvalidTransition
from events.recording import record
from imports.models import COUNTERS, ImportJob, Status
from imports.staging import Staging

logger = logging.getLogger(__name__)

WORKER = Actor.system("imports")


class Lost(Exception):
    """This worker holds the job no longer: whatever it was about to commit, another does."""


class Canceled(Exception):
    """Somebody asked for the job to stop."""


def record_event(job: ImportJob, type: str, *, by: Actor = WORKER, **data: Any) -> None:  # noqa: A002
    told = {"kind": job.kind, "status": job.status, "source": job.source, "dry_run": job.dry_run, **data}
    record(type, by=by, area=job.area, supplier_id=job.supplier_id, import_id=job.pk, data=told)


def start(
    supplier: Supplier,
    kind: str,
    *,
    source: str,
    file: str,
    options: dict[str, Any],
    dry_run: bool = False,
    by: Actor,
) -> ImportJob:
    """Write down a job, and wake a worker once that is committed."""
    with transaction.atomic():
        job = ImportJob.objects.create(
            supplier=supplier,
            kind=kind,
            source=source,
            file=file,
            options=options,
            dry_run=dry_run,
            created_by=by.name,
            request_id=by.request_id,
        )
        record_event(job, "import.queued", by=by)
        wake_after_commit(job.pk)
    job.refresh_from_db()
    return job


def refuse(supplier: Supplier, kind: str, *, source: str, code: str, message: str, by: Actor) -> None:
    """Write down a job that could not even be started: nobody was there to be answered."""
    error = {"code": code, "message": message}
    with transaction.atomic():
        job = ImportJob.objects.create(
            supplier=supplier,
            kind=kind,
            source=source,
            status=Status.FAILED,
            error=error,
            created_by=by.name,
            finished_at=timezone.now(),
        )
        record_event(job, "import.failed", by=by, error=error)


def wake_after_commit(job_id: int) -> None:
    transaction.on_commit(partial(wake, job_id))


def wake(job_id: int) -> None:
    """Ring for a worker. Nobody may hear it: the sweep finds the job all the same."""
    from imports.tasks import run  # the task imports what runs the job, which imports this

    try:
        run.apply_async((job_id,), retry=False)
    except Exception as error:  # noqa: BLE001 - whatever the broker's client raises, the job is safe
        logger.warning("import %s waits for the sweep: %s", job_id, error)


def earlier(job: ImportJob) -> QuerySet[ImportJob]:
    """Unfinished jobs that come before this one: one supplier's jobs of a kind run in order."""
    same = ImportJob.objects.unfinished().filter(supplier_id=job.supplier_id, kind=job.kind)
    return same.filter(pk__lt=job.pk) | same.filter(status=Status.RUNNING).exclude(pk=job.pk)


def hold(job: ImportJob, **changes: Any) -> None:
    """Write to a job as the worker that holds it; counters are added. Raises Lost, which undoes the rest."""
    added = {name: F(name) + changes.pop(name) for name in COUNTERS if name in changes}
    held = ImportJob.objects.filter(pk=job.pk, owner=job.owner, status=Status.RUNNING)
    # An update of nothing would find nothing.
    if not held.update(**{"owner": job.owner, **added, **changes}):
        raise Lost
    if added or changes:
        job.refresh_from_db(fields=[*added, *changes])


def end(job: ImportJob, status: Status, event: str, **changes: Any) -> None:
    """End a job that this worker holds: status, event, staging table, and the next job of its kind."""
    with transaction.atomic():
        # The last owner and lease stay until the row says that it has ended, so this is fenced too.
        held = ImportJob.objects.filter(pk=job.pk, owner=job.owner, status=Status.RUNNING)
        if not held.update(status=status, finished_at=Now(), owner="", lease_until=None, **changes):
            raise Lost
        job.refresh_from_db()
        _ended(job, event, by=WORKER)


def _ended(job: ImportJob, event: str, *, by: Actor, **data: str) -> None:
    counts = {name: getattr(job, name) for name in COUNTERS if name != "rows_done"}
    error = {"error": job.error} if job.error else {}
    record_event(job, event, by=by, **counts, **error, **data)
    Staging(job.pk).drop()
    if job.status in (Status.SUCCEEDED, Status.SUCCEEDED_WITH_ERRORS, Status.CANCELED):
        transaction.on_commit(partial(_remove, job.path if job.file else None))
    following = ImportJob.objects.filter(supplier_id=job.supplier_id, kind=job.kind, status=Status.QUEUED)
    upcoming = following.order_by("pk").first()
    if upcoming is not None:
        wake_after_commit(upcoming.pk)


def _remove(path: Path | None) -> None:
    if path is not None:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def fail(job: ImportJob, code: str, message: str) -> None:
    """End a job that cannot be done; what has landed of it stays."""
    end(job, Status.FAILED, "import.failed", error={"code": code, "message": message})


def await_approval(job: ImportJob, reasons: list[str]) -> None:
    """Let a job wait for a person. It is staged again when it goes on, and holds up no other."""
    with transaction.atomic():
        hold(
            job,
            status=Status.AWAITING_APPROVAL,
            report={**job.report, "reasons": reasons},
            owner="",
            lease_until=None,
            attempts=0,
        )
        _ended(job, "import.awaiting_approval", by=WORKER)


def supersede(job: ImportJob) -> None:
    """A file that has landed makes older ones that wait for approval pointless."""
    waiting = ImportJob.objects.filter(
        supplier_id=job.supplier_id, kind=job.kind, status=Status.AWAITING_APPROVAL, pk__lt=job.pk
    )
    for old in waiting.select_for_update():
        error = {"code": "superseded", "message": f"Import {job.pk} came later, and has landed."}
        _cancel_now(old, by=WORKER, error=error)


def _cancel_now(job: ImportJob, *, by: Actor, reason: str = "", error: dict[str, str] | None = None) -> None:
    job.status, job.error = Status.CANCELED, error
    ImportJob.objects.filter(pk=job.pk).update(status=job.status, error=error, finished_at=Now())
    _ended(job, "import.canceled", by=by, **_why(reason))


def _locked(job: ImportJob) -> None:
    job.refresh_from_db(from_queryset=ImportJob.objects.select_for_update())


def _why(reason: str) -> dict[str, str]:
    return {"reason": reason} if reason else {}


def cancel(job: ImportJob, *, by: Actor, reason: str = "") -> None:
    """Stop a job: at once while it waits, at its next range while it runs. Raises InvalidTransition."""
    with transaction.atomic():
        _locked(job)
        if job.status in (Status.QUEUED, Status.AWAITING_APPROVAL):
            _cancel_now(job, by=by, reason=reason)
        elif job.status == Status.RUNNING:
            # Its worker ends it; the history should tell on whose word.
            if ImportJob.objects.filter(pk=job.pk, cancel_requested=False).update(cancel_requested=True):
                record_event(job, "import.cancel_requested", by=by, **_why(reason))
        elif job.status != Status.CANCELED:
            raise InvalidTransition(
                f"This import is {job.status}; only one that is not finished can be canceled."
            )
    job.refresh_from_db()


def approve(job: ImportJob, *, by: Actor, reason: str = "") -> None:
    """Release a job that waits for a person. Raises InvalidTransition."""
    with transaction.atomic():
        _locked(job)
        if job.approved_at and job.status != Status.AWAITING_APPROVAL:
            return
        if job.status != Status.AWAITING_APPROVAL:
            raise InvalidTransition(
                f"This import is {job.status}; only one that is awaiting_approval can be approved."
            )
        reset(job, approved_at=Now())
        record_event(job, "import.approved", by=by, **_why(reason))


def kept(job: ImportJob) -> bool:
    """Whether a job's file is there, or can be fetched, to be read once more."""
    return bool(job.file) and (job.path.exists() or bool(job.options.get("remote")))


def retry(job: ImportJob, *, by: Actor) -> None:
    """Run a failed job once more, from the start of its file. Raises InvalidTransition."""
    with transaction.atomic():
        _locked(job)
        if job.status != Status.FAILED:
            allowed = f"only a {Status.FAILED} one can be retried"
            raise InvalidTransition(f"This import is {job.status}; {allowed}.")
        if not kept(job):
            raise InvalidTransition("The file of this import is no longer kept. Start a new import with it.")
        reset(job)
        record_event(job, "import.retried", by=by)


def reset(job: ImportJob, **changes: Any) -> None:
    """Queue a job again as if it had never run."""
    job.rejects.all().delete()
    changes.setdefault("report", {} if job.status == Status.FAILED else job.report)
    ImportJob.objects.filter(pk=job.pk).update(
        **dict.fromkeys(COUNTERS, 0),
        status=Status.QUEUED,
        rows_total=None,
        staged=None,
        bookmark=0,
        last_line=0,
        attempts=0,
        warnings=[],
        error=None,
        cancel_requested=False,
        started_at=None,
        finished_at=None,
        reported_at=None,
        **changes,
    )
    job.refresh_from_db()
    wake_after_commit(job.pk)
