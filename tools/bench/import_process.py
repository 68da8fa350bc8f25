"""A process that runs imports for the bench. It imports models only after it has set Django up."""

from __future__ import annotations

import os
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path

import django
from django.conf import settings


def set_up(database: str, uploads: Path, all_ready: Barrier) -> None:
    """Set Django up for a database and an upload folder, and wait until all processes are ready."""
    os.environ["DATABASE_URL"] = database
    django.setup()
    settings.UPLOADS_DIR = uploads
    all_ready.wait()


def run(job: int) -> tuple[float, float]:
    """Run an import, and return the times of its beginning and end."""
    # Import models only here, because `set_up` must run first.
    from imports.models import ImportJob, Status
    from imports.pipeline.job_runner import run_job

    began = time.time()
    run_job(job)
    status = ImportJob.objects.get(pk=job).status
    if status != Status.SUCCEEDED:
        raise RuntimeError(f"import {job}: {status}")
    return began, time.time()
