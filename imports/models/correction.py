from __future__ import annotations

from django.db import models

from imports.models.job import ImportJob


class Correction(models.Model):
    """That a job imports rejected rows of another one, corrected by an operator.

    Jobs are forgotten one by one: a constraint would keep each for the other.
    """

    job = models.OneToOneField(
        ImportJob, on_delete=models.CASCADE, related_name="correction", db_constraint=False
    )
    original = models.ForeignKey(
        ImportJob, on_delete=models.CASCADE, related_name="corrections", db_constraint=False
    )
    rows = models.PositiveIntegerField(help_text="How many rows were corrected.")

    def __str__(self) -> str:
        return f"import {self.job_id} corrects import {self.original_id}"
