"""Operators' notes about waiting work: the assignee, a text, and the end of a snooze."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class OperatorNote(models.Model):
    """Operators' note about one record: assignee, text and end of the snooze. Partners never see it."""

    model = models.CharField(max_length=100, help_text="Such as orders.order.")
    record_id = models.BigIntegerField()
    assigned_to = models.CharField(max_length=150, blank=True, help_text="The name of a user.")
    text = models.CharField(max_length=1000, blank=True)
    snoozed_until = models.DateTimeField(null=True)
    by = models.CharField(max_length=200)
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint("model", "record_id", name="operator_note_once")]
        indexes = [
            models.Index(
                "model",
                "snoozed_until",
                condition=Q(snoozed_until__isnull=False),
                name="operator_note_snoozed",
            )
        ]

    def __str__(self) -> str:
        return self.text or f"{self.model} {self.record_id}"
