"""Suspensions: stops of new trade."""

from __future__ import annotations

from datetime import date
from typing import Self

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from accounts.models.partnership import Partnership
from accounts.models.party import Retailer, Supplier

SUBJECTS = ("supplier", "retailer", "partnership")


class SuspensionQuerySet(models.QuerySet["Suspension"]):
    def in_force(self) -> Self:
        return self.filter(ended_at=None)

    def over_on(self, today: date) -> Self:
        """Return the suspensions in force that end on or before this day."""
        return self.in_force().filter(until__lte=today)

    def about(self, subject: Supplier | Retailer | Partnership) -> Self:
        return self.filter(**{subject._meta.model_name or "": subject})


class Suspension(models.Model):
    """A stop of new trade for a supplier, a retailer or a partnership. Open work continues.

    Triggers update `Partnership.is_trading`, which routing and the pull read. The end of a suspension thus
    changes the row of the partnership, so polling retailers see the end (docs/adr/0030).
    """

    supplier = models.ForeignKey(Supplier, on_delete=models.PROTECT, null=True, related_name="suspensions")
    retailer = models.ForeignKey(Retailer, on_delete=models.PROTECT, null=True, related_name="suspensions")
    partnership = models.ForeignKey(
        Partnership, on_delete=models.PROTECT, null=True, related_name="suspensions"
    )
    reason = models.CharField(max_length=500, help_text="For operators only. Partners do not see it.")
    shown_reason = models.CharField(
        max_length=300, blank=True, db_default="", help_text="Members of the party read it in their portal."
    )
    until = models.DateField(null=True, help_text="The first day of trade after the suspension, UTC.")
    started_at = models.DateTimeField(db_default=Now())
    started_by = models.CharField(max_length=200)
    ended_at = models.DateTimeField(null=True)
    ended_by = models.CharField(max_length=200, blank=True)

    objects = SuspensionQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(supplier__isnull=False, retailer=None, partnership=None)
                | Q(supplier=None, retailer__isnull=False, partnership=None)
                | Q(supplier=None, retailer=None, partnership__isnull=False),
                name="suspension_of_one",
            ),
            *(
                models.UniqueConstraint(
                    F(subject), condition=Q(ended_at=None), name=f"suspension_once_of_{subject}"
                )
                for subject in SUBJECTS
            ),
        ]

    def __str__(self) -> str:
        return f"{self.subject}, {f'until {self.until}' if self.until else 'until further notice'}"

    @property
    def subject(self) -> Supplier | Retailer | Partnership:
        subject = self.supplier or self.retailer or self.partnership
        assert subject is not None  # the constraint allows no row without a subject
        return subject
