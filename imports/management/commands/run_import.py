"""Run one import in this process (docs/running.md), without a worker."""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError, CommandParser

from imports.models import ImportJob
from imports.pipeline.job_runner import run_job


class Command(BaseCommand):
    help = "Run one import in this process and show its result."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job_id", type=int)

    def handle(self, *args: object, job_id: int, **options: object) -> None:
        job = ImportJob.objects.filter(pk=job_id).first()
        if job is None:
            raise CommandError(f"There is no import {job_id}.")
        if job.lacks_file:
            raise CommandError(f"Import {job_id} waits until a fetcher has its file from {job.source}.")
        if not run_job(job_id):
            raise CommandError(
                f"Import {job_id} is {job.status}. It has ended, runs elsewhere, or waits for an earlier"
                " import."
            )
        job.refresh_from_db()
        counts = ("rows_total", "created", "updated", "unchanged", "rejected", "duplicates")
        counted = ", ".join(f"{name} {getattr(job, name)}" for name in counts)
        self.stdout.write(f"{job}: {job.status}; {counted}")
        if job.error:
            self.stdout.write(f"{job.error['code']}: {job.error['message']}")
