"""The progress of an import job: its counters, and its position in the file."""

from __future__ import annotations

from django.db import models

COUNTERS = ("rows_done", "created", "updated", "unchanged", "rejected", "duplicates")


class JobProgress(models.Model):
    """The part of an import job that counts its rows."""

    rows_total = models.BigIntegerField(null=True)
    rows_done = models.BigIntegerField(default=0)
    created = models.BigIntegerField(default=0)
    updated = models.BigIntegerField(default=0)
    unchanged = models.BigIntegerField(default=0)
    rejected = models.BigIntegerField(default=0)
    duplicates = models.BigIntegerField(default=0)
    bookmark = models.BigIntegerField(default=0, help_text="The last line of the file that has landed.")
    header = models.JSONField(default=list, editable=False, help_text="The file's columns.")
    delimiter = models.CharField(max_length=1, default=",", editable=False)
    staged = models.BigIntegerField(
        null=True, editable=False, help_text="Number of rows in the staging table."
    )
    last_line = models.BigIntegerField(default=0, editable=False)

    class Meta:
        abstract = True

    def counts(self) -> dict[str, int]:
        """Return the number of rows with each result."""
        return {name: getattr(self, name) for name in COUNTERS if name != "rows_done"}
