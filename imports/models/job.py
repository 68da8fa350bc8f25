"""Import jobs. A job's row is stored before its work begins, and stays correct after a crash (contract 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from django.contrib.postgres.indexes import HashIndex
from django.db import models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from accounts.actors import Actor
from accounts.models import Supplier
from api.errors import InvalidTransition
from api.inside_search import trigrams
from api.prefix_search import file_name, folded
from api.request_id import carried_on
from events.recording import record
from fastdb.leased import FREE, LeasedWork, LeaseLost
from imports.models.job_content import LEFT_OUT, JobContent
from imports.models.job_log import log_outcome
from imports.models.job_progress import COUNTERS, JobProgress
from imports.models.job_slots import has_slot
from imports.models.kind import area_of, choices
from imports.staging_table import StagingTable
from imports.states import (
    APPROVE,
    AWAIT_APPROVAL,
    AWAITING_APPROVAL,
    CANCEL,
    DONE_WITH_FILE,
    FAIL,
    FAILED,
    REFUSE,
    REQUEST_CANCEL,
    RETRY,
    START,
    STOP,
    SUCCEED,
    SUPERSEDE,
    TAKE_OVER,
    UNFINISHED,
    JobMove,
    Status,
)
from imports.wake import wake_after_commit

WORKER = Actor.system("imports")


class ImportJobQuerySet(models.QuerySet["ImportJob"]):
    def for_supplier(self, supplier: Supplier) -> Self:
        return self.filter(supplier=supplier)

    def of_a_kind_with(self, job: ImportJob) -> Self:
        """Return the jobs of the same supplier and kind. These jobs run one after the other."""
        return self.filter(supplier_id=job.supplier_id, kind=job.kind)

    def unreported(self) -> Self:
        """Return the jobs that ended or wait for approval, and that no report has described yet."""
        return self.filter(reported_at=None).exclude(status__in=UNFINISHED)

    def unfinished(self) -> Self:
        """Return the jobs that run or wait for a worker."""
        return self.filter(status__in=UNFINISHED)

    def free(self) -> Self:
        """Return the jobs that wait for a worker, and the running jobs whose lease has ended."""
        return self.filter(ImportJob.to_do(), FREE)


@dataclass
class JobChange:
    """One status change: the new status, the values of the job's other fields, and data of the event."""

    repeated: bool
    target: Status
    changes: dict[str, object] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)


class ImportJob(LeasedWork, JobProgress, JobContent):
    """The import of one file.

    In a job that succeeded, `created + updated + unchanged + rejected + duplicates = rows_total`. Only
    `_move` assigns the status; the worker's other writes go through `update_if_owner`.
    """

    supplier = models.ForeignKey(Supplier, on_delete=models.CASCADE, related_name="import_jobs")
    kind = models.CharField(max_length=20, choices=choices)
    status = models.CharField(max_length=30, choices=Status.choices, default=Status.QUEUED)
    source = models.CharField(max_length=1000, help_text="The requested path or URL, or `data`.")
    dry_run = models.BooleanField(default=False)
    as_of = models.DateTimeField(
        db_default=models.Func(function="clock_timestamp", output_field=models.DateTimeField()),
        editable=False,
        help_text="The moment of the file's content: given by the request, else the end of its upload,"
        " else the creation of the job.",
    )
    approved_at = models.DateTimeField(null=True, editable=False)

    warnings = models.JSONField(default=list)
    ignored_columns = models.JSONField(default=list)
    report = models.JSONField(default=dict, help_text="Findings of a dry run or of the approval rule.")
    error = models.JSONField(null=True, help_text='The cause of a failure: {"code", "message"}')

    attempts = models.PositiveIntegerField(default=0, editable=False)
    cancel_requested = models.BooleanField(default=False, editable=False)
    created_by = models.CharField(max_length=200, blank=True)
    request_id = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    reported_at = models.DateTimeField(
        null=True, editable=False, help_text="The time when the supplier was informed."
    )

    objects = ImportJobQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index("supplier", "kind", "id", name="import_of_supplier"),
            models.Index("supplier", "id", name="import_by_supplier"),
            models.Index(
                "supplier", "id", condition=Q(status__in=[FAILED, AWAITING_APPROVAL]), name="import_to_check"
            ),
            models.Index("id", condition=Q(status__in=[*UNFINISHED]), name="import_unfinished"),
            models.Index(
                "id", condition=Q(reported_at=None) & ~Q(status__in=[*UNFINISHED]), name="import_unreported"
            ),
            # Operators search a million jobs by status, by dry run and by a file's whole path.
            models.Index("status", "id", name="import_in_status"),
            models.Index("id", condition=Q(dry_run=True), name="import_dry_run"),
            # The quota reads this index. The index is partial, because few jobs still keep a file.
            models.Index("supplier", condition=Q(blob__isnull=False), name="import_keeps_file"),
            HashIndex("source", name="import_source"),
            models.Index(folded(file_name("source")), name="import_file_folded"),
            trigrams(file_name("source"), "import_file_trigrams"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=Status.values), name="import_status"),
            models.UniqueConstraint(
                *(F("supplier"), F("kind")),
                condition=Q(status=Status.RUNNING),
                name="import_one_running_of_a_kind",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} import {self.pk}"

    @property
    def area(self) -> str:
        """Return the area of the scopes that cover the job, such as `catalog`."""
        return area_of(self.kind)

    @property
    def lacks_file(self) -> bool:
        """Return whether the job waits for its file to be fetched from a remote host."""
        return self.status == Status.QUEUED and bool(self.options.get("remote")) and not self.has_content

    def wake_after_commit(self) -> None:
        """Wake a worker for the job after the commit, or a fetcher if its file is missing."""
        wake_after_commit(self.pk, fetch=self.lacks_file)

    def earlier(self) -> ImportJobQuerySet:
        """Return the unfinished jobs of the supplier and kind that must end before this job starts."""
        same = ImportJob.objects.unfinished().of_a_kind_with(self)
        return same.filter(pk__lt=self.pk) | same.filter(status=Status.RUNNING).exclude(pk=self.pk)

    # --- Status changes by a worker ---------------------------------------------------------------

    @classmethod
    def to_do(cls) -> Q:
        return Q(status__in=UNFINISHED)

    def may_start(self) -> bool:
        """Return whether all earlier jobs of the kind have ended and the supplier may run one more job.

        A job that has begun goes on first, even if a person starts an earlier job again meanwhile.
        """
        has_begun, others = self.status == Status.RUNNING, ImportJob.objects.exclude(pk=self.pk)
        return (has_begun or not self.earlier().exists()) and has_slot(self.supplier_id, others)

    def take(self, owner: str) -> None:
        """Start the queued job with this owner, or take over the running job for this owner."""
        with self._move(START if self.status == Status.QUEUED else TAKE_OVER, by=WORKER) as move:
            move.changes = {"owner": owner, "lease_until": Now() + self.LEASE, "attempts": F("attempts") + 1}
            if self.started_at is None:
                move.changes["started_at"] = Now()

    def update_if_owner(self, **changes: Any) -> None:
        """Update the job as its worker: add counters to the stored counters, and replace other fields.

        Raises LeaseLost if this worker no longer owns the job; the error rolls back the transaction.
        """
        added = {name: F(name) + changes.pop(name) for name in COUNTERS if name in changes}
        held = self.held().filter(status=Status.RUNNING)
        # Always set the owner: an update without changes would match no row.
        if not held.update(**{"owner": self.owner, **added, **changes}):
            raise LeaseLost
        if added or changes:
            self.refresh_from_db(fields=[*added, *changes])

    def await_approval(self, reasons: list[str], ground: list[int], outlook: dict[str, object]) -> None:
        """Let the job wait without blocking other jobs. After the approval, the file is staged again.

        `ground`: the ids of the file's warehouses; a later file supersedes this job if it covers all of them.
        `outlook`: the changes that the file would make, for the person who decides.
        """
        with self._move(AWAIT_APPROVAL, by=WORKER) as move:
            report = {**self.report, "reasons": reasons, "outlook": outlook} | (
                {"warehouse_ids": ground} if ground else {}
            )
            move.changes = {"report": report, "attempts": 0}

    def succeed(self) -> None:
        with self._move(SUCCEED, by=WORKER) as move:
            move.target = Status.SUCCEEDED_WITH_ERRORS if self.rejected else Status.SUCCEEDED

    def fail(self, code: str, message: str) -> None:
        """End the job as failed. Rows that were already written stay."""
        with self._move(FAIL, by=WORKER) as move:
            move.changes = {"error": {"code": code, "message": message}}

    def stop(self) -> None:
        """End the running job, because a person asked to cancel it."""
        with self._move(STOP, by=WORKER):
            pass

    # --- Status changes by others -----------------------------------------------------------------

    def refuse(self, code: str, message: str, *, by: Actor) -> None:
        """End the job before it starts, because it cannot run."""
        with self._move(REFUSE, by=by) as move:
            move.changes = {"error": {"code": code, "message": message}}

    def supersede(self, later: ImportJob) -> None:
        """End a job that waits for approval, because a later file has been imported."""
        with self._move(SUPERSEDE, by=WORKER) as move:
            error = {"code": "superseded", "message": f"Import {later.pk} came later and has landed."}
            move.changes = {"error": error, "report": {**self.report, "superseded_by": later.pk}}

    def cancel(self, *, by: Actor, reason: str = "") -> None:
        """Cancel the job: at once while it waits, within seconds while it runs. Raises InvalidTransition."""
        with transaction.atomic():
            self._lock()
            running = self.status == Status.RUNNING
            if running and self.cancel_requested:
                return
            with self._move(REQUEST_CANCEL if running else CANCEL, by=by) as move:
                move.changes = {"cancel_requested": True} if running else {"error": None}
                move.data = {"reason": reason} if reason else {}

    def approve(self, *, by: Actor, reason: str = "", left_out: Mapping[int, str] | None = None) -> None:
        """Let a job that waits for approval run. Raises InvalidTransition.

        `left_out`: names, by id, of warehouses whose rows the job rejects and whose stock does not change.
        """
        with transaction.atomic():
            self._lock()
            if self.approved_at and self.status not in (AWAITING_APPROVAL, FAILED, Status.CANCELED):
                return
            with self._move(APPROVE, by=by) as move:
                options = {"options": {**self.options, LEFT_OUT: [*left_out]}} if left_out else {}
                move.changes = {**self._from_the_start(), **options, "approved_at": Now()}
                data = {"reason": reason, "left_out": [*(left_out or {}).values()]}
                move.data = {name: value for name, value in data.items() if value}

    def retry(self, *, by: Actor) -> None:
        """Run a failed job again from the start of its file. Raises InvalidTransition."""
        with self._move(RETRY, by=by) as move:
            if not self.has_file:
                message = "The file of this import is no longer stored. Start a new import."
                raise InvalidTransition(message)
            move.changes = {**self._from_the_start(), "report": {}}

    def _from_the_start(self) -> dict[str, object]:
        """Delete the job's rejects, and return the field values of a job that never ran."""
        self.rejects.all().delete()
        empty = dict.fromkeys(("rows_total", "staged", "error", "started_at", "finished_at", "reported_at"))
        zero = dict.fromkeys((*COUNTERS, "bookmark", "last_line", "attempts"), 0)
        return {**empty, **zero, "warnings": [], "cancel_requested": False}

    # --- Steps of every status change -------------------------------------------------------------

    @contextmanager
    def _move(self, move: JobMove, *, by: Actor) -> Iterator[JobChange]:
        """Lock and read the job. Check `move`, then store the status, the event and the caller's changes.

        Raises InvalidTransition. Raises LeaseLost if `move` is fenced and another worker owns the job.
        """
        with transaction.atomic():
            self._lock(fenced=move.fenced)
            change = JobChange(repeated=self.status == move.repeated_in, target=move.target)
            if not change.repeated:
                move.check(self.status, by.kind)
            yield change
            if change.repeated:
                return
            assert change.target in move.targets, f"{move.name} cannot end in {change.target}"
            if change.target not in UNFINISHED:
                change.changes |= {"owner": "", "lease_until": None}
                if change.target != Status.AWAITING_APPROVAL:
                    change.changes["finished_at"] = Now()
            ImportJob.objects.filter(pk=self.pk).update(status=change.target, **change.changes)
            self.refresh_from_db()
            if change.target not in UNFINISHED:
                transaction.on_commit(partial(log_outcome, self))
                change.data |= self.counts() | ({"error": self.error} if self.error else {})
                self._come_to_rest()
            elif change.target == Status.QUEUED:
                self.wake_after_commit()
            if move.event:
                self.record(move.event, by=by, **change.data)

    def _lock(self, *, fenced: bool = False) -> None:
        """Lock and read this row again. With `fenced`, raises LeaseLost if another worker owns the job."""
        rows = self.held() if fenced else ImportJob.objects.all()
        try:
            self.refresh_from_db(from_queryset=rows.select_for_update())
        except ImportJob.DoesNotExist:
            if not fenced:
                raise
            raise LeaseLost from None

    def record(self, type: str, *, by: Actor, **data: object) -> None:  # noqa: A002 - the field's name in the API
        """Record an event of this job."""
        about = {"kind": self.kind, "status": self.status, "source": self.source, "dry_run": self.dry_run}
        record(
            type, by=by, area=self.area, supplier_id=self.supplier_id, import_id=self.pk, data=about | data
        )

    def request_carried_on(self) -> AbstractContextManager[None]:
        """Return a context in which events and log lines have the id of the request that started the job."""
        return carried_on(self.request_id, f"supplier:{self.supplier_id}")

    def _come_to_rest(self) -> None:
        """Drop the staging table, release an unneeded file, and wake workers for the supplier's next jobs."""
        StagingTable(self.pk).drop()
        if self.status in DONE_WITH_FILE:
            self.release_content()
        waiting = ImportJob.objects.filter(supplier_id=self.supplier_id, status=Status.QUEUED)
        for upcoming in waiting.order_by("kind", "pk").distinct("kind"):
            upcoming.wake_after_commit()
