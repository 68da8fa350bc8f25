"""The performance that operators expect of suppliers."""

from __future__ import annotations

from django.core.validators import MaxValueValidator
from django.db import models

from accounts.models import Partnership


class WithinHours(models.IntegerChoices):
    """The hours that a target can have. Each value is also the upper bound of a bucket of the daily sums."""

    ONE_DAY = 24, "1 day"
    TWO_DAYS = 48, "2 days"
    THREE_DAYS = 72, "3 days"
    ONE_WEEK = 168, "7 days"
    TWO_WEEKS = 336, "14 days"


class PerformanceTarget(models.Model):
    """The targets of one partnership, or of all partnerships without targets of their own."""

    partnership = models.ForeignKey(
        Partnership,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="targets",
        help_text="Empty: all partnerships without targets of their own.",
    )
    ship_within_hours = models.PositiveSmallIntegerField(
        "ship within",
        choices=WithinHours.choices,
        default=WithinHours.THREE_DAYS,
        db_default=WithinHours.THREE_DAYS,
        help_text="A fulfillment shipped within this time of its arrival is on time.",
    )
    on_time_percent = models.PositiveSmallIntegerField(
        "on time, at least (%)", default=95, db_default=95, validators=[MaxValueValidator(100)]
    )
    most_refused_percent = models.PositiveSmallIntegerField(
        "refused, at most (%)", default=5, db_default=5, validators=[MaxValueValidator(100)]
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["partnership"],
                nulls_distinct=False,
                name="performance_target_once",
                violation_error_message="These targets exist already. Change them instead.",
            )
        ]

    def __str__(self) -> str:
        return f"targets of {self.partnership}" if self.partnership_id else "targets of all partnerships"

    @classmethod
    def common(cls) -> PerformanceTarget:
        """Return the targets for partnerships without own targets: the stored row, else the defaults."""
        return cls.objects.filter(partnership=None).first() or cls()
