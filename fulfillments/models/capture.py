from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class Capture(models.Model):
    """The captures of a fulfillment by its supplier.

    The captures have their own table, so that a capture does not lock the row of the fulfillment.
    """

    fulfillment = models.OneToOneField(
        "fulfillments.Fulfillment", on_delete=models.CASCADE, related_name="capture", primary_key=True
    )
    captured_at = models.DateTimeField(db_default=Now(), help_text="The first capture.")
    outdated = models.BooleanField(
        default=False,
        db_default=False,
        help_text="The address was corrected since: the supplier captures the fulfillment again.",
    )
    captured_again_at = models.DateTimeField(
        null=True, help_text="The first capture after the last correction of the address."
    )

    def __str__(self) -> str:
        return f"{self.fulfillment_id} at {self.captured_at}"
