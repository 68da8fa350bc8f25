"""Deliveries of events to webhooks."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.db.models import Q

from events.models.event import Event
from events.models.webhook import Webhook
from events.states import DeliveryStatus


class Delivery(models.Model):
    """One event for one webhook. A delivery waits for an attempt or for earlier deliveries of its subject."""

    LIFETIME = timedelta(hours=72)

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    # The foreign key refers to `Event.number`, which the feed and the API call the id.
    event = models.ForeignKey(
        Event, on_delete=models.PROTECT, to_field="number", related_name="+", db_index=False
    )
    subject = models.CharField(
        max_length=30,
        blank=True,
        help_text="Such as order:7. Deliveries of one subject keep their order.",
    )
    status = models.CharField(
        max_length=10, choices=DeliveryStatus.choices, default=DeliveryStatus.WAITING, editable=False
    )
    attempts = models.PositiveIntegerField(default=0)
    replays = models.PositiveIntegerField(
        default=0,
        db_default=0,
        editable=False,
        help_text="The number of replays. An answer to an earlier request does not end a replay.",
    )
    last_status = models.PositiveSmallIntegerField(null=True, help_text="The receiver's last answer.")
    last_error = models.CharField(max_length=300, blank=True)
    attempted_at = models.DateTimeField(null=True)
    next_attempt_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(help_text="When the service gives it up.")

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint("webhook", "event", name="delivery_once"),
            models.CheckConstraint(
                condition=Q(status__in=DeliveryStatus.values), name="delivery_status_is_known"
            ),
            models.CheckConstraint(
                condition=Q(status="waiting", next_attempt_at__isnull=False)
                | (~Q(status="waiting") & Q(next_attempt_at=None)),
                name="delivery_waits_for_a_moment",
            ),
        ]
        indexes = [
            models.Index("webhook", "next_attempt_at", condition=Q(status="waiting"), name="delivery_due"),
            models.Index(
                "webhook",
                "subject",
                "event",
                condition=Q(status="waiting") & ~Q(subject=""),
                name="delivery_of_subject",
            ),
            models.Index("webhook", "event", condition=Q(status="dead"), name="delivery_dead"),
            models.Index("attempted_at", condition=~Q(status="waiting"), name="delivery_ended"),
            # Before an event is deleted, the retention rule and the foreign key look up its deliveries.
            models.Index("event", name="delivery_of_event"),
        ]

    def __str__(self) -> str:
        return f"{self.event_id} to {self.webhook}"
