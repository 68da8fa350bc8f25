"""The sweep, a periodic task: wake workers for free jobs, start jobs for new uploads, and tidy up."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.core.cache import cache
from django.db import connection, transaction
from django.db.models import Case, Exists, OuterRef, When
from django.db.models.functions import Now
from django.utils import timezone
from psycopg.sql import SQL, Identifier

from accounts.actors import Actor
from accounts.models import Supplier
from api.errors import ApiError
from imports import job_files, publishing, wake
from imports.drafts import chunks
from imports.drafts import services as drafts
from imports.drafts.first_rows import wake_waiting_readers
from imports.kinds import all_kinds, kind_of
from imports.models import AutoImport, ImportJob, Status
from imports.services import refuse_import, start_import
from imports.sql import execute
from imports.states import UNFINISHED
from sftp_ingest.area import contents
from sftp_ingest.area.paths import IMPORT_SUFFIXES, import_kind_of
from sftp_ingest.models import Upload

logger = logging.getLogger(__name__)

AUTO = Actor.system("auto-import")
UPLOADS_AT_ONCE = 100
REPORTS_AT_ONCE = 20
JOBS_AT_ONCE = 200
EMPTY_WAITS = timedelta(minutes=1)
KEPT = timedelta(days=7)
# An upload that no job has read is reported after an hour. Until then, its client may start the import by a
# request. Uploads older than a day are not reported any more.
UNREAD_AFTER, UNREAD_FOR = timedelta(hours=1), timedelta(days=1)


def sweep_all() -> None:
    take_uploads()
    wake_waiting()
    wake_waiting_readers()
    publish_reports()
    if _is_due("imports:tidied", 60):
        tidy()


def _is_due(name: str, seconds: int) -> bool:
    """Return whether a task is due again. A task is due once in this many seconds, not in every sweep."""
    try:
        return bool(cache.add(name, True, seconds))
    except Exception:  # noqa: BLE001 - without Redis the task runs more often, which is harmless
        return True


def wake_waiting() -> int:
    """Wake a worker for the first unfinished job of each supplier and kind, unless a worker holds this job.

    Return the number of woken workers.
    """
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
    """Start jobs for uploads that suppliers import automatically, and return the number of jobs.

    Each upload becomes a job, even if the file was replaced, renamed or removed since. The exception is an
    empty upload that was replaced.
    """
    started = 0
    with transaction.atomic():
        fresh = Upload.objects.filter(swept_at=None).select_for_update(skip_locked=True, of=("self",))
        # Delay empty files: many clients first create an empty file, and then open it again to write.
        fresh = fresh.exclude(size=0, uploaded_at__gt=timezone.now() - EMPTY_WAITS)
        uploads = list(fresh.select_related("supplier", "blob").order_by("pk")[:UPLOADS_AT_ONCE])
        saved = {
            (each.supplier_id, each.kind): each
            for each in AutoImport.objects.filter(
                enabled=True, supplier_id__in={upload.supplier_id for upload in uploads}
            )
        }
        for upload in uploads:
            automatic = _automatic(upload, saved)
            if automatic is not None and not (upload.size == 0 and upload.replaced):
                started += _start(upload, automatic)
        Upload.objects.filter(pk__in=[upload.pk for upload in uploads]).update(swept_at=Now(), blob=None)
        contents.release([upload.blob_id for upload in uploads if upload.blob_id is not None])
    return started


def _automatic(upload: Upload, saved: dict[tuple[int, str], AutoImport]) -> AutoImport | None:
    """Return the automatic import of an upload, or None. Some kinds import every file without settings."""
    kind = import_kind_of(upload.path)
    if kind is None:
        return None
    if kind_of(kind).imports_every_file:
        return AutoImport(supplier_id=upload.supplier_id, kind=kind)
    return saved.get((upload.supplier_id, kind))


def _start(upload: Upload, automatic: AutoImport) -> bool:
    try:
        options = kind_of(automatic.kind).importer.check(upload.supplier, automatic.options)
        options = kind_of(automatic.kind).with_mapping(upload.supplier, options)
        # The supplier may have removed the file since. Only an upload of an earlier version has no blob.
        blob = upload.blob or job_files.keep_version(upload.supplier, upload.path, "path")
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
        as_of=blob.completed_at,  # not the upload's time: a rename uploads older content
        by=AUTO,
    )
    return True


def report_unread() -> int:
    """Report uploads in import folders that no job has imported, and return their number.

    Uploads that were renamed, removed or replaced since are not reported. The report is a refused job. The
    supplier finds its result in `reports/`, and operators find it on the desk.
    """
    now = timezone.now()
    uploaded = (now - UNREAD_FOR, now - UNREAD_AFTER)
    due = Upload.objects.in_place().filter(uploaded_at__range=uploaded, swept_at__lte=now)
    kinds = {kind.folder: kind.name for kind in all_kinds()}
    due = due.filter(path__regex=rf"^({'|'.join(kinds)})/")
    jobs = ImportJob.objects.filter(supplier=OuterRef("supplier"), source=OuterRef("path"))
    unread = due.exclude(Exists(jobs.filter(created_at__gte=OuterRef("uploaded_at"))))
    found = list(unread.select_related("supplier").order_by("pk")[:UPLOADS_AT_ONCE])
    for upload in {(each.supplier_id, each.path): each for each in found}.values():
        kind, advice = kinds[upload.path.partition("/")[0]], _advice(upload)
        refuse_import(upload.supplier, kind, source=upload.path, code="not_read", message=advice, by=AUTO)
    return len(found)


def _advice(upload: Upload) -> str:
    folder = upload.path.partition("/")[0]
    if import_kind_of(upload.path) is None:
        endings = ", ".join(IMPORT_SUFFIXES)
        return f"No import reads this file: its name must end in {endings}. Rename it, and upload it again."
    return (
        f"No import has read this file. Switch on the automatic import by PUT …/autoImports/{folder} or in "
        "the portal, and upload the file again; or start an import with its name."
    )


def publish_reports() -> int:
    """Publish the results of uploads in the suppliers' areas, and return the number of handled jobs."""
    resting = ImportJob.objects.unreported().select_related("supplier").order_by("pk")[:REPORTS_AT_ONCE]
    due = [job for job in resting if _is_due(f"imports:report:{job.pk}", 60)]
    for job in due:
        publishing.publish(job)
    return len(due)


def tidy() -> None:
    """Report unread uploads, and remove staging tables, drafts, reports and files that nothing needs."""
    _drop_tables()
    report_unread()
    drafts.forget_old()
    chunks.forget_old()
    for supplier in Supplier.objects.all():
        publishing.remove_old(supplier)
    ended = ImportJob.objects.filter(status=Status.FAILED, finished_at__lt=timezone.now() - KEPT)
    ended = ended.exclude(file="", blob=None)
    for number in ended.values_list("pk", flat=True)[:JOBS_AT_ONCE]:
        with transaction.atomic():
            # Read the job again under a lock, because a person may have retried it since the first query.
            if job := ended.select_for_update(of=("self",)).filter(pk=number).first():
                job.release_content()


def _drop_tables() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
                AND relname ~ '^imports_staging_[0-9]+(_lookup|_differing|_repeated)?$'
                AND NOT EXISTS (SELECT FROM imports_importjob j WHERE j.status = ANY(%s)
                    AND j.id = substring(relname FROM '[0-9]+')::bigint)
            """,
            [[*UNFINISHED]],
        )
        for (name,) in cursor.fetchall():
            execute(SQL("DROP TABLE IF EXISTS {}").format(Identifier(name)))
