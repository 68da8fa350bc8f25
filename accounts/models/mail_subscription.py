"""The mails that a member wants from the portal."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.models.member import Member


class MailFrequency(models.TextChoices):
    """How often a member wants mails about a topic."""

    AT_ONCE = "at_once", "At once"
    HOURLY = "hourly", "Every hour"
    DAILY = "daily", "Every day"


class MailSubscription(models.Model):
    """The topics about which a member wants mails at one frequency, and the last event in these mails.

    A worker updates `after` before it sends a mail, and only if no other worker has updated it. No mail is
    therefore sent twice.
    """

    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="mail_subscriptions")
    frequency = models.CharField(max_length=10, choices=MailFrequency.choices)
    topics = ArrayField(models.CharField(max_length=30))
    after = models.BigIntegerField(help_text="The number of the last event that mails have covered.")
    checked_at = models.DateTimeField(help_text="The end of the time that mails have covered.")
    last_error = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint("member", "frequency", name="mail_subscription_once")]
        indexes = [models.Index("checked_at", name="mail_subscription_checked")]

    def __str__(self) -> str:
        return f"{self.frequency} mails to {self.member}"
