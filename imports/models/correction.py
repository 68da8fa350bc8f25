from __future__ import annotations

from django.db import models

from imports.models.job import ImportJob


class Correction(models.Model):
    """The link between a job with corrected rows and the original job, which rejected these rows.

    The foreign keys have no database constraint. Old jobs are deleted by SQL one by one, and a constraint
    would refuse to delete a linked job. The link is deleted after both jobs.
    """

    job = models.OneToOneField(
        ImportJob, on_delete=models.CASCADE, related_name="correction", db_constraint=False
    )
    original = models.ForeignKey(
        ImportJob, on_delete=models.CASCADE, related_name="corrections", db_constraint=False
    )
    rows = models.PositiveIntegerField(help_text="Number of corrected rows.")

    def __str__(self) -> str:
        return f"import {self.job_id} corrects import {self.original_id}"
