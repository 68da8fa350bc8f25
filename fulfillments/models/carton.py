"""Cartons of replenishments and the numbers of their labels (ADR 109)."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class SsccCounter(models.Model):
    """The last used serial number of a GS1 company prefix. No serial number is used twice."""

    gs1_prefix = models.CharField(max_length=12, primary_key=True)
    last = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.gs1_prefix}: {self.last}"


class Carton(models.Model):
    """A carton of a fulfillment, with the serial shipping container code (SSCC) of its label."""

    fulfillment = models.ForeignKey(
        "fulfillments.Fulfillment", on_delete=models.CASCADE, related_name="cartons"
    )
    number = models.PositiveSmallIntegerField()
    sscc = models.CharField(max_length=18, unique=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [models.UniqueConstraint("fulfillment", "number", name="carton_once")]

    def __str__(self) -> str:
        return self.sscc
