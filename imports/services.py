"""Start imports, supersede older imports, and change settings. Other status changes are in `ImportJob`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any

from django.db import models, transaction
from django.db.models import Func, Model, Q, Value
from django.db.models.functions import Least

from accounts.actors import Actor
from accounts.models import Supplier
from events.changes import change_recorded, differences, record_created
from imports.models import AutoImport, ImportJob, ImportPolicy, Status
from imports.models.kind import area_of
from sftp_ingest.models import Blob

DATABASE_CLOCK = Func(function="clock_timestamp", output_field=models.DateTimeField())

# Fields of a policy that its event leaves out.
NOT_SETTINGS = ("id", "supplier")


def start_import(
    supplier: Supplier,
    kind: str,
    *,
    source: str,
    blob: Blob | None,
    options: dict[str, object],
    dry_run: bool = False,
    as_of: datetime | None = None,
    by: Actor,
) -> ImportJob:
    """Create a job and wake a worker after the commit. Without a blob, the file is fetched first.

    `as_of` is the time of the file's content. A time in the future is replaced by the present time. The time
    does not change while the job waits.
    """
    with transaction.atomic():
        job = ImportJob.objects.create(
            supplier=supplier,
            kind=kind,
            source=source,
            blob=blob,
            options=options,
            dry_run=dry_run,
            as_of=Least(Value(as_of, models.DateTimeField()), DATABASE_CLOCK),
            created_by=by.name,
            request_id=by.request_id,
        )
        job.record("import.queued", by=by)
        job.wake_after_commit()
    job.refresh_from_db()
    return job


def refuse_import(supplier: Supplier, kind: str, *, source: str, code: str, message: str, by: Actor) -> None:
    """Store a failed job for an import that could not start. No client waits, so the job shows the error."""
    with transaction.atomic():
        job = ImportJob.objects.create(supplier=supplier, kind=kind, source=source, created_by=by.name)
        job.refuse(code, message, by=by)


def supersede_older(
    job: ImportJob, ground: Collection[int], ground_of: Callable[[ImportJob], Collection[int]]
) -> None:
    """Supersede older jobs of this kind that wait for approval, if `ground` has all their warehouses.

    A job that was approved while this job ran is superseded, too.
    """
    older = ImportJob.objects.of_a_kind_with(job).filter(pk__lt=job.pk)
    approved = Q(status=Status.QUEUED, approved_at__isnull=False)
    waiting = older.filter(Q(status=Status.AWAITING_APPROVAL) | approved)
    for old in waiting.order_by("pk").select_for_update():
        if set(ground_of(old)) <= set(ground):
            old.supersede(job)


def save_policy(supplier: Supplier, changes: Mapping[str, object], *, by: Actor) -> ImportPolicy:
    """Change a supplier's approval rule, and record the old and the new values."""
    with transaction.atomic():
        policy, created = ImportPolicy.objects.get_or_create(supplier=supplier, defaults=changes)
        if created:
            record_created(policy, "import_policy", by=by, **policy_event(policy))
        else:
            _assign(policy, changes)
            change_recorded(policy, changes, "import_policy", by=by, **policy_event(policy))
    return policy


def policy_event(policy: ImportPolicy) -> dict[str, Any]:
    """Return the fields of an event about a policy; a new policy is compared with the default."""
    names = (field.name for field in ImportPolicy._meta.local_concrete_fields)
    values = {name: getattr(policy, name) for name in names if name not in NOT_SETTINGS}
    changed = differences(ImportPolicy(), values)
    # The endpoint of the policy needs the inventory scopes, so its events belong to the same area.
    return {"area": "inventory", "supplier": policy.supplier, "data": {"changed": changed}}


def save_auto_import(
    supplier: Supplier, kind: str, changes: Mapping[str, object], *, by: Actor
) -> AutoImport:
    """Change the automatic import of a kind, and record the old and the new values."""
    with transaction.atomic():
        automatic, created = AutoImport.objects.get_or_create(supplier=supplier, kind=kind, defaults=changes)
        if created:
            record_created(automatic, "auto_import", by=by, **auto_import_event(automatic))
        else:
            _assign(automatic, changes)
            change_recorded(automatic, changes, "auto_import", by=by, **auto_import_event(automatic))
    return automatic


def auto_import_event(automatic: AutoImport) -> dict[str, Any]:
    """Return the fields of an event about an automatic import.

    New settings are compared with a disabled automatic import without options.
    """
    values = {"enabled": automatic.enabled, "options": automatic.options}
    data = {"kind": automatic.kind, "changed": differences(AutoImport(enabled=False), values)}
    return {"area": area_of(automatic.kind), "supplier": automatic.supplier, "data": data}


def _assign(row: Model, changes: Mapping[str, object]) -> None:
    for name, value in changes.items():
        setattr(row, name, value)
