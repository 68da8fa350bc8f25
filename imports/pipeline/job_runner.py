"""Run a job: stage its file, check its rows, write them in ranges, and report. See docs/adr/0020.

Each range is one transaction. Its last statement updates the job's bookmark and counters. This statement
matches the job only while this worker holds the lease. Therefore a worker may be killed or paused at any
time: another worker continues after the last committed range.
"""

from __future__ import annotations

import logging

from django.db import DatabaseError, InterfaceError, connection, transaction
from psycopg.sql import SQL

from fastdb.leased import LeaseLost, new_owner
from imports import wake
from imports.models import ImportJob
from imports.pipeline import batches
from imports.pipeline.approval_rule import waits_for_approval
from imports.pipeline.context import ImportContext
from imports.pipeline.errors import Canceled, Unreadable, is_temporary
from imports.pipeline.importer import Importer, RangeImporter, importer_of
from imports.pipeline.job_report import merge_reports
from imports.pipeline.lease import claim, heartbeat
from imports.pipeline.preparation import prepare
from imports.pipeline.row_importer import RowImporter
from imports.pipeline.statistics import refresh_statistics
from imports.pipeline.workbook_parts import Check
from imports.services import supersede_older
from imports.sql import execute
from sftp_ingest.errors import StorageAway

logger = logging.getLogger(__name__)

# The number of workers that may die while they process the same range. After that the job fails, because its
# file is probably the cause.
MOST_ATTEMPTS = 5


def run_job(job_id: int) -> bool:
    """Run a job to its end if no worker holds it. Return False if the job cannot run now."""
    owner = new_owner()
    waiting = ImportJob.objects.filter(pk=job_id).first()
    if waiting is not None and waiting.lacks_file:
        wake.wake_fetcher(job_id)
        return False
    if waiting is None:
        return False
    with waiting.request_carried_on():
        job = claim(job_id, owner)
    if job is None:
        return False
    try:
        with job.request_carried_on(), heartbeat(job.pk, owner) as check:
            _to_the_end(job, check)
    except LeaseLost:
        logger.warning("import %s: another worker has the job now", job_id)
    except StorageAway:
        # The lease expires, and the sweep gives the job to a worker again.
        logger.exception("import %s: the storage of its file does not answer", job_id)
    except (DatabaseError, InterfaceError) as error:
        if not is_temporary(error):
            raise
        # The lease expires, and the sweep gives the job to a worker again.
        logger.exception("import %s: the database does not answer, or a lock was held too long", job_id)
        if not connection.in_atomic_block:
            connection.close()
    return True


def _to_the_end(job: ImportJob, check: Check) -> None:
    try:
        _require_attempts_left(job)
        importer = importer_of(job.kind)
        context = prepare(job, importer, check)
        if not waits_for_approval(context, importer):
            _merge(context, importer)
            _finish(context, importer)
    except Canceled:
        job.stop()
    except Unreadable as error:
        job.fail(error.code, error.message)
    except StorageAway:
        if job.attempts < MOST_ATTEMPTS:
            raise
        job.fail("storage_away", "The storage of the file does not answer. Retry the import later.")
    except LeaseLost:
        raise
    except Exception as error:
        if is_temporary(error):
            raise
        logger.exception("import %s failed", job.pk)
        job.fail(
            "internal_error", "An error in the service, which was logged. Retry the import, or report its id."
        )


def _require_attempts_left(job: ImportJob) -> None:
    """Raise Unreadable if too many workers died at this range, because the file is probably the cause."""
    if job.attempts > MOST_ATTEMPTS:
        at = f"after line {job.bookmark}" if job.bookmark else "before its first row was imported"
        message = f"{MOST_ATTEMPTS} workers failed {at}. Ask the operator to look at this import."
        raise Unreadable("gave_up", message)


def _merge(context: ImportContext, importer: Importer) -> None:
    if isinstance(importer, RowImporter):
        importer.carry_out_all(context)
    else:
        assert isinstance(importer, RangeImporter)  # Importer has only two subclasses
        _land_ranges(context, importer)


def _land_ranges(context: ImportContext, importer: RangeImporter) -> None:
    job = context.job
    while job.bookmark < job.last_line:
        job.refresh_from_db(fields=["cancel_requested"])
        if job.cancel_requested:
            raise Canceled
        refresh_statistics(importer.tables)
        with transaction.atomic():
            counts = batches.land_range(context, importer, job.bookmark, job.bookmark + batches.STEP)
            job.update_if_owner(attempts=0, bookmark=job.bookmark + batches.STEP, **counts)
        if counts["created"] or counts["updated"]:
            importer.after_commit()


def _finish(context: ImportContext, importer: Importer) -> None:
    job = context.job
    with transaction.atomic():
        execute(SQL("SET LOCAL jit = off; SET LOCAL work_mem = '64MB'"))
        report: dict[str, object] = (
            importer.forecast_finish(context) if job.dry_run else importer.finish(context)
        )
        job.update_if_owner(report=merge_reports(job.report, report))
        # A corrected error report has only some rows of a file, so it supersedes no older file. The same is
        # true for a file without an imported row.
        imported = job.created + job.updated + job.unchanged
        replaces = bool(imported) and not (job.dry_run or context.mapped.own)
        ground = importer.ground(context) if replaces else []
        job.succeed()
        if replaces:
            supersede_older(job, ground, importer.waiting_ground)
        if not job.dry_run:
            transaction.on_commit(importer.after_commit)
