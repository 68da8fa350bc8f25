"""What suppliers did, summed up by day, so that nobody reads years of history to see how they are doing."""

from __future__ import annotations

from django.db import models


class DailySum(models.Model):
    """So many of a `measure` of a supplier on a day (UTC), for one retailer or (retailer 0) for all.

    Of what takes time also the seconds of all of them, and the `bucket` of durations that they fall into
    (`fulfillments.scorecard.measures`).
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
    """The bookmark of the sums: the number of the last event that is in them. There is one row."""

    number = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.number)
