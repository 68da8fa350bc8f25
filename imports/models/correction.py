from __future__ import annotations

from django.db import models

from imports.models.job import ImportJob


class Correction(models.Model):
    """The link between a job with corrected rows and the job whose rejects they are.

    There is no database constraint: jobs are deleted one by one, and each would keep the other.
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
