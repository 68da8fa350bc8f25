"""The sweep: wake workers for waiting and abandoned jobs, start jobs for new uploads, and tidy up."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.core.cache import cache
from django.db import connection, transaction
from django.db.models import Case, When
from django.db.models.functions import Now
from django.utils import timezone
from psycopg.sql import SQL, Identifier

from accounts.actors import Actor
from accounts.models import Supplier
from api.errors import ApiError
from imports import job_files, publishing, wake
from imports.drafts import chunks
from imports.drafts import services as drafts
from imports.models import AutoImport, ImportJob, Kind, Status
from imports.pipeline.importer import importer_of
from imports.saved_mappings import with_mapping
from imports.services import refuse_import, start_import
from imports.sql import execute
from sftp_ingest.area.paths import kind_of
from sftp_ingest.models import Upload

logger = logging.getLogger(__name__)

AUTO = Actor.system("auto-import")
UPLOADS_AT_ONCE = 100
REPORTS_AT_ONCE = 20
JOBS_AT_ONCE = 200
EMPTY_WAITS = timedelta(minutes=1)
KEPT = timedelta(days=7)


def sweep_all() -> None:
    take_uploads()
    wake_waiting()
    publish_reports()
    if _is_due("imports:tidied", 60):
        tidy()


def _is_due(name: str, seconds: int) -> bool:
    """Whether a task that need not run at every tick is due again."""
    try:
        return bool(cache.add(name, True, seconds))
    except Exception:  # noqa: BLE001 - without Redis the task runs more often, which is harmless
        return True


def wake_waiting() -> int:
    """Wake a worker for the first unfinished job of each supplier and kind that has no worker."""
    waits = Case(When(status=Status.RUNNING, then=0), default=1)
    first = (
        ImportJob.objects.unfinished()
        .order_by("supplier_id", "kind", waits, "pk")
        .distinct("supplier_id", "kind")
        .values("pk")
    )
    free = ImportJob.objects.free().filter(pk__in=first)
    jobs = list(free.order_by("pk"))
    for job in jobs:
        (wake.wake_fetcher if job.lacks_file else wake.wake)(job.pk)
    return len(jobs)


def take_uploads() -> int:
    """Start jobs for uploads that suppliers import automatically; return their number."""
    started = 0
    with transaction.atomic():
        fresh = Upload.objects.filter(swept_at=None).select_for_update(skip_locked=True)
        # Wait with empty files: many clients create an empty file and open it again to write.
        fresh = fresh.exclude(size=0, uploaded_at__gt=timezone.now() - EMPTY_WAITS)
        uploads = list(fresh.select_related("supplier").order_by("pk")[:UPLOADS_AT_ONCE])
        saved = {
            (each.supplier_id, each.kind): each
            for each in AutoImport.objects.filter(
                enabled=True, supplier_id__in={upload.supplier_id for upload in uploads}
            )
        }
        for upload in uploads:
            automatic = _automatic(upload, saved)
            if automatic is not None and not _is_replaced(upload, uploads):
                started += _start(upload, automatic)
        Upload.objects.filter(pk__in=[upload.pk for upload in uploads]).update(swept_at=Now())
    return started


def _automatic(upload: Upload, saved: dict[tuple[int, str], AutoImport]) -> AutoImport | None:
    """Return the automatic import of an upload; files of shipments are always imported."""
    kind = kind_of(upload.path) or ""
    if kind == Kind.FULFILLMENTS:
        return AutoImport(supplier_id=upload.supplier_id, kind=kind)
    return saved.get((upload.supplier_id, kind))


def _is_replaced(upload: Upload, uploads: list[Upload]) -> bool:
    """Whether a newer version of the file exists, which is imported instead.

    The newer version may have been swept long before the empty file, which waits.
    """
    if upload.size == 0 and upload.replaced:
        return True
    return any(
        each.pk > upload.pk and (each.supplier_id, each.path) == (upload.supplier_id, upload.path)
        for each in uploads
    )


def _start(upload: Upload, automatic: AutoImport) -> bool:
    try:
        options = importer_of(automatic.kind).check(upload.supplier, automatic.options)
        options = with_mapping(upload.supplier, options, automatic.kind)
        blob = job_files.keep_version(upload.supplier, upload.path, "path")
    except ApiError as error:
        logger.warning("upload %s is not imported: %s", upload.pk, error.message)
        refuse_import(
            upload.supplier,
            automatic.kind,
            source=upload.path,
            code=error.code,
            message=f"The automatic import could not be started. {error.message}",
            by=AUTO,
        )
        return False
    start_import(
        upload.supplier,
        automatic.kind,
        source=upload.path,
        blob=blob,
        options=options,
        as_of=upload.uploaded_at,
        by=AUTO,
    )
    return True


def publish_reports() -> int:
    """Publish the results of uploads in the suppliers' areas; return the number of jobs that were handled."""
    resting = ImportJob.objects.unreported().select_related("supplier").order_by("pk")[:REPORTS_AT_ONCE]
    due = [job for job in resting if _is_due(f"imports:report:{job.pk}", 60)]
    for job in due:
        publishing.publish(job)
    return len(due)


def tidy() -> None:
    """Remove staging tables and files that no job needs any more."""
    _drop_tables()
    drafts.forget_old()
    chunks.forget_old()
    for supplier in Supplier.objects.all():
        publishing.remove_old(supplier)
    ended = ImportJob.objects.filter(status=Status.FAILED, finished_at__lt=timezone.now() - KEPT)
    ended = ended.exclude(file="", blob=None)
    for number in ended.values_list("pk", flat=True)[:JOBS_AT_ONCE]:
        with transaction.atomic():
            # A person may have retried the job meanwhile.
            if job := ended.select_for_update(of=("self",)).filter(pk=number).first():
                job.release_content()


def _drop_tables() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
                AND relname ~ '^imports_staging_[0-9]+(_lookup|_differing|_repeated)?$'
                AND NOT EXISTS (SELECT FROM imports_importjob j WHERE j.status IN ('queued', 'running')
                    AND j.id = substring(relname FROM '[0-9]+')::bigint)
            """
        )
        for (name,) in cursor.fetchall():
            execute(SQL("DROP TABLE IF EXISTS {}").format(Identifier(name)))
