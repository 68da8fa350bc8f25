"""What operators do: chosen, looked at, confirmed, and carried out row by row."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Count, Q
from django.db.models.functions import Now


class Result(models.TextChoices):
    """What became of one row."""

    DONE = "done", "done"
    UNCHANGED = "unchanged", "was so already"
    REFUSED = "refused", "could not be done"


class OperatorAction(models.Model):
    """One thing that an operator wants to do to one record or to many, and how far it is.

    Its rows are chosen once: what is confirmed is what is done, whatever the list shows meanwhile.
    """

    model = models.CharField(max_length=100, help_text="Such as orders.order.")
    action = models.CharField(max_length=50)
    label = models.CharField(max_length=100)
    actor = models.CharField(max_length=200)
    request_id = models.CharField(max_length=100, blank=True)
    chosen_from = models.CharField(
        max_length=2000, blank=True, help_text="The list's filter, where all of it."
    )
    total = models.PositiveIntegerField(default=0)
    answers = models.JSONField(default=dict)
    reason = models.CharField(max_length=500, blank=True)
    form_id = models.UUIDField(null=True, help_text="Of the form that it was asked by; it is done once only.")
    undoes = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="undone_by")
    created_at = models.DateTimeField(db_default=Now())
    looked_at = models.DateTimeField(null=True, help_text="When it was known of each row whether it can be.")
    confirmed_at = models.DateTimeField(null=True)
    stopped_at = models.DateTimeField(
        null=True, help_text="When somebody asked for what is left not to be done."
    )
    finished_at = models.DateTimeField(null=True)
    leased_until = models.DateTimeField(null=True, help_text="Until when a worker has it.")

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index("id", condition=Q(finished_at=None), name="operator_action_open"),
            models.Index("actor", "id", name="operator_action_of_person"),
            # Who did what, newest first.
            models.Index(
                "created_at", "id", condition=Q(confirmed_at__isnull=False), name="operator_action_newest"
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["form_id"], condition=Q(form_id__isnull=False), name="operator_action_form_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.label}, {self.total} of {self.model}"

    @property
    def moving(self) -> bool:
        """Whether a worker looks or acts, so that the page shows more in a moment."""
        return self.finished_at is None and (self.looked_at is None or self.confirmed_at is not None)

    @property
    def awaits_confirmation(self) -> bool:
        return self.looked_at is not None and self.confirmed_at is None and self.finished_at is None

    def counts(self) -> dict[str, int]:
        """How many rows can be done, cannot, and what became of those that were tried. One query."""
        can = Q(why_not="")
        counted: dict[str, int] = self.rows.aggregate(
            looked=Count("id", filter=Q(why_not__isnull=False)),
            possible=Count("id", filter=can),
            left_out=Count("id", filter=Q(why_not__isnull=False) & ~can),
            **{result.value: Count("id", filter=Q(result=result)) for result in Result},
        )
        tried = sum(counted[result.value] for result in Result)
        return {**counted, "tried": tried, "left": counted["possible"] - tried}

    def why_not(self) -> list[dict[str, Any]]:
        """The reasons why rows are left out, the most frequent first."""
        left_out = self.rows.exclude(why_not=None).exclude(why_not="").values("why_not").order_by()
        found: Any = left_out.annotate(rows=Count("id")).order_by("-rows", "why_not")[:20]
        return list(found)


class OperatorActionRow(models.Model):
    """One record of an action: whether it can be done to it, what it would do, and what came of it."""

    action = models.ForeignKey(OperatorAction, on_delete=models.CASCADE, related_name="rows")
    record_id = models.BigIntegerField()
    name = models.CharField(max_length=300, blank=True)
    why_not = models.TextField(
        null=True, help_text="Empty where it can be done; null until it was looked at."
    )
    effect = models.TextField(blank=True)
    result = models.CharField(max_length=10, blank=True, choices=Result.choices)
    message = models.TextField(blank=True)

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index("action", "id", condition=Q(why_not=None), name="operator_action_unseen"),
            models.Index("action", "id", condition=Q(why_not="", result=""), name="operator_action_to_do"),
            models.Index("record_id", name="operator_action_record"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(result__in=["", *Result.values]), name="operator_action_result"
            )
        ]

    def __str__(self) -> str:
        return self.name or str(self.record_id)
