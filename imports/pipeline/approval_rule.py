"""Whether a job waits for a person before anything of it lands (contract 12: the brake)."""

from __future__ import annotations

from django.db import transaction

from imports.models import ImportPolicy
from imports.pipeline.context import ImportContext
from imports.pipeline.importer import Importer


def waits_for_approval(context: ImportContext, importer: Importer) -> bool:
    """Whether the job now waits; a dry run only reports that it would."""
    job = context.job
    if job.approved_at or job.bookmark:
        return False
    with transaction.atomic():
        reasons = importer.approval_reasons(context, ImportPolicy.of(job.supplier_id))
        if reasons and job.dry_run:
            job.update_if_owner(report={**job.report, "would_wait": reasons})
        elif reasons:
            job.await_approval(reasons, importer.ground(context))
    return bool(reasons) and not job.dry_run
