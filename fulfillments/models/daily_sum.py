"""Daily sums of suppliers' work. Scorecards read these sums instead of years of events."""

from __future__ import annotations

from django.db import models


class DailySum(models.Model):
    """The count of a supplier's `measure` on a day (UTC), for one retailer. Retailer 0 means all retailers.

    Rows of a measure of time also have the sum of the durations in `seconds`. Such a measure has one row for
    each `bucket` of durations (`fulfillments.scorecard.measures`).
    """

    supplier_id = models.BigIntegerField()
    retailer_id = models.BigIntegerField()
    day = models.DateField()
    measure = models.CharField(max_length=30)
    bucket = models.SmallIntegerField(default=0)
    count = models.BigIntegerField()
    seconds = models.BigIntegerField(default=0)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["supplier_id", "retailer_id", "day", "measure", "bucket"], name="daily_sum_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.count} {self.measure} of supplier {self.supplier_id} on {self.day}"


class SummedEvents(models.Model):
    """The number of the last event that the daily sums include. The table has one row."""

    number = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.number)
