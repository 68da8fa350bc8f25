"""Operators' actions on records: chosen, checked, confirmed, and then done row by row."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now
from django.urls import reverse

from fastdb.leased import LeasedWork


class Result(models.TextChoices):
    DONE = "done", "done"
    UNCHANGED = "unchanged", "already done"
    REFUSED = "refused", "could not be done"


IS_BULK = Q(total__gt=1, confirmed_at__isnull=False) & ~Q(request_id="")
"""The condition for confirmed actions on several records. Their events have the action's request id."""


class OperatorAction(LeasedWork):
    """An operator's action on one or many records, with its progress.

    The rows are stored when the operator chooses them. The action is done to exactly these rows, even if the
    list changes before the confirmation.
    """

    model = models.CharField(max_length=100, help_text="Such as orders.order.")
    action = models.CharField(max_length=50)
    label = models.CharField(max_length=100)
    actor = models.CharField(max_length=200)
    request_id = models.CharField(max_length=100, blank=True)
    chosen_from = models.CharField(
        max_length=2000, blank=True, help_text="The list's filter, if the whole list was chosen."
    )
    total = models.PositiveIntegerField(default=0)
    answers = models.JSONField(default=dict)
    reason = models.CharField(max_length=500, blank=True)
    form_id = models.UUIDField(null=True, help_text="The id of the sent form. A form is done only once.")
    undoes = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="undone_by")
    created_at = models.DateTimeField(db_default=Now())
    looked_at = models.DateTimeField(null=True, help_text="When every row had been checked.")
    requested_at = models.DateTimeField(
        null=True, help_text="When its chooser asked a second operator to approve it."
    )
    confirmed_at = models.DateTimeField(null=True)
    starts_at = models.DateTimeField(
        null=True,
        help_text="Until when a confirmed action waits, so that it can be stopped before its first row.",
    )
    approved_by = models.CharField(
        max_length=200, blank=True, db_default="", help_text="The second operator, if one was needed."
    )
    stopped_at = models.DateTimeField(null=True, help_text="When an operator stopped the remaining rows.")
    stopped_by = models.CharField(max_length=200, blank=True, db_default="")
    finished_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True, editable=False, db_column="leased_until")

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index("id", condition=Q(finished_at=None), name="operator_action_open"),
            models.Index("actor", "id", name="operator_action_of_person"),
            # The audit log uses this index to leave out the events of bulk actions.
            models.Index("request_id", condition=IS_BULK, name="operator_action_bulk"),
            # The list of all actions, newest first, uses this index.
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

    @classmethod
    def to_do(cls) -> Q:
        """Return the condition that finds the actions for workers.

        A worker checks the rows of a new action, and does a confirmed action as soon as it may start.
        """
        may_start = Q(starts_at=None) | Q(starts_at__lte=Now())
        return Q(finished_at=None) & (Q(looked_at=None) | Q(confirmed_at__isnull=False) & may_start)

    @property
    def moving(self) -> bool:
        """Return whether the rows are being checked or processed. The page then reloads itself."""
        return self.finished_at is None and (self.looked_at is None or self.confirmed_at is not None)

    @property
    def awaits_confirmation(self) -> bool:
        """Whether the operator who chose the action still has to confirm it."""
        return self.looked_at is not None and self.requested_at is None and self._unconfirmed

    @property
    def awaits_approval(self) -> bool:
        """Whether a second operator has to approve or refuse the action."""
        return self.requested_at is not None and self._unconfirmed

    @property
    def _unconfirmed(self) -> bool:
        return self.confirmed_at is None and self.finished_at is None

    @property
    def url(self) -> str:
        """Return the URL of the page of an action on many records."""
        return reverse(f"admin:{self.model.replace('.', '_')}_bulk", args=[self.pk])

    def counts(self) -> dict[str, int]:
        """Count the checked, possible and excluded rows, and the rows of each result, in one query."""
        can = Q(why_not="")
        counted: dict[str, int] = self.rows.aggregate(
            looked=Count("id", filter=Q(why_not__isnull=False)),
            possible=Count("id", filter=can),
            left_out=Count("id", filter=Q(why_not__isnull=False) & ~can),
            **{result.value: Count("id", filter=Q(result=result)) for result in Result},
        )
        tried = sum(counted[result.value] for result in Result)
        return {**counted, "tried": tried, "left": counted["possible"] - tried}

    def changed_since(self, undone_by: str) -> QuerySet[OperatorActionRow]:
        """Return the done rows of later actions of this kind, or of the kind that undoes this kind.

        Compare the times of confirmation: an action that waited for an approval has a lower id than actions
        that were confirmed earlier.
        """
        if self.confirmed_at is None:
            return OperatorActionRow.objects.none()
        later = OperatorAction.objects.filter(
            model=self.model, action__in=[self.action, undone_by], confirmed_at__gt=self.confirmed_at
        )
        return OperatorActionRow.objects.filter(action__in=later, result=Result.DONE)

    def why_not(self) -> list[dict[str, object]]:
        """Return the reasons why rows are left out, the most frequent first."""
        left_out = self.rows.exclude(why_not=None).exclude(why_not="").values("why_not").order_by()
        reasons: Any = left_out.annotate(rows=Count("id")).order_by("-rows", "why_not")[:20]
        return list(reasons)


class OperatorActionRow(models.Model):
    """One record of an action: the reason why it is left out, or its expected effect, and its result."""

    action = models.ForeignKey(OperatorAction, on_delete=models.CASCADE, related_name="rows")
    record_id = models.BigIntegerField()
    name = models.CharField(max_length=300, blank=True)
    why_not = models.TextField(null=True, help_text="Empty: it can be done. Null: not checked yet.")
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
