from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class CarriedOutRow(models.Model):
    """A row of a tracking file that was carried out. The same row in a later file changes nothing.

    The rows are kept as long as their fulfillment, because suppliers upload old files again after months.
    """

    fulfillment = models.ForeignKey(
        "fulfillments.Fulfillment",
        on_delete=models.CASCADE,
        related_name="carried_out_rows",
        db_index=False,  # not needed: the index of the constraint begins with this column
    )
    digest = models.BinaryField(
        max_length=16, help_text="The beginning of the SHA-256 of the action and all other cells."
    )
    carried_out_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint("fulfillment", "digest", name="carried_out_row_once")]

    def __str__(self) -> str:
        return f"a row about fulfillment {self.fulfillment_id}"
