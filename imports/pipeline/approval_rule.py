"""Decide whether a job waits for a person before any row lands (contract 12)."""

from __future__ import annotations

from django.db import connection, transaction
from psycopg.sql import SQL, Literal

from imports.models import ImportJob, ImportPolicy
from imports.pipeline.context import ImportContext
from imports.pipeline.importer import Importer

FIRST_ROWS = 5
LONGEST_CELL = 60


def waits_for_approval(context: ImportContext, importer: Importer) -> bool:
    """Apply the approval rule and return whether the job now waits. A dry run only reports the reasons.

    A job that a person has canceled stops instead.
    """
    job = context.job
    if job.approved_at or job.bookmark:
        return False
    with transaction.atomic():
        reasons = importer.approval_reasons(context, ImportPolicy.of(job.supplier_id))
        if reasons and job.dry_run:
            job.update_if_owner(report={**job.report, "would_wait": reasons})
        elif reasons:
            outlook = {**importer.outlook(context), "first_rows": first_rows(context)}
            ground = importer.ground(context)
            if _is_canceled(job):
                job.stop()
            else:
                job.await_approval(reasons, ground, outlook)
    return bool(reasons) and not job.dry_run


def _is_canceled(job: ImportJob) -> bool:
    """Lock the job, and return whether a person has asked to cancel it."""
    locked = ImportJob.objects.order_by("pk").select_for_update().filter(pk=job.pk)
    return locked.values_list("cancel_requested", flat=True).get()


def first_rows(context: ImportContext) -> list[list[str]]:
    """Return the first records of the file, with cells cut to the length that a page shows."""
    cells = SQL(", ").join(
        SQL("left({}, {})").format(column, Literal(LONGEST_CELL)) for column in context.staging.columns
    )
    with connection.cursor() as cursor:
        rows = SQL("SELECT {} FROM {} ORDER BY line LIMIT {}")
        cursor.execute(rows.format(cells, context.staging.table, Literal(FIRST_ROWS)))
        return [[cell or "" for cell in row[context.mapped.own :]] for row in cursor.fetchall()]
